"""Lowers memory instructions, and determines which of them are shared-memory sites.

    LDS.128 R4, [R3.X4+UR4+0x100]      t1 = add(shl(R3, 2), UR4)
                                       R4, R5, R6, R7 = load shared(t1 + 256); site LDS.128 at t1 + 256
    LDC.64 R2, c[0x0][0x210]           R2, R3 = load param(0)
    LDGSTS.E.BYPASS.128 [R9], desc[UR16][R14.64], !P0      site at R9, source R14:R15, ignored where P0
    LD.E R5, desc[UR4][R2.64]          R5 = load generic(R2:R3); a site in case the address is shared

`@!PT LDS RZ, [RZ]`, which precedes each LDGSTS, never executes: `lower` drops it first.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Literal

from ptxaudit.frontend.sass.builder import (
    PAIR_BITS,
    WORD_BITS,
    ZERO32,
    Builder,
    NoMeaning,
    bare,
    constant_place,
    register,
)
from ptxaudit.frontend.sass.clobber import loaded
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import Memory, Number, Operand, Register
from ptxaudit.hardware.machine_model import MATRIX_ROWS
from ptxaudit.ir import nodes as ir

_ELEMENTS = {"U8": (8, False), "S8": (8, True), "U16": (16, False), "S16": (16, True)}
_COUNTS = {"64": 2, "128": 4, "256": 4}  # 32-bit elements, of each register operand
_SCALES = {"X4": 2, "X8": 3, "X16": 4}
WORD_BYTES = 4
QUAD = 4  # words
_ALWAYS = ir.Const(1, 1)


# --- addresses ------------------------------------------------------------------------------


def _memory(operand: Operand) -> Memory:
    """[address], or desc[UR4][address], where the first bracket specifies caching."""
    if not isinstance(operand, Memory) or (operand.name, len(operand.brackets)) not in (("", 1), ("desc", 2)):
        raise NoMeaning("an unsupported form of memory operand")
    return operand


def address(b: Builder, operand: Memory, wide: bool) -> tuple[ir.Operand, int]:
    """(base, byte offset) of a bracket; `wide`: 64-bit, as in global and generic accesses."""
    offset, parts = 0, []
    for term in operand.brackets[-1]:
        if isinstance(term, Number):
            offset += term.value
        elif isinstance(term, Register) and not (term.is_predicate or term.negated or term.absolute or term.inverted):
            if not term.is_zero:
                parts.append(_wide_term(b, term) if wide else _narrow_term(b, term))
        else:
            raise NoMeaning("an unsupported term of an address")
    bits = PAIR_BITS if wide else WORD_BITS
    if not parts:
        return ir.Const(offset & ((1 << bits) - 1), bits), 0
    total = parts[0]
    for part in parts[1:]:
        total = b.compute("add", total, part, bits=bits)
    return total, offset


def _narrow_term(b: Builder, term: Register) -> ir.Operand:
    value: ir.Operand = register(bare(term))
    for suffix in term.suffixes:
        if suffix not in _SCALES:
            raise NoMeaning(f"an address with .{suffix}")
        value = b.compute("shl", value, ir.Const(_SCALES[suffix]))
    return value


def _wide_term(b: Builder, term: Register) -> ir.Operand:
    if term.suffixes == ("U32",):
        return b.compute("zext", register(bare(term)), bits=PAIR_BITS)
    if term.suffixes not in ((), ("64",)):
        raise NoMeaning(f"an address with .{term.suffixes[0]}")
    return b.compute("cat", *b.both(bare(term)), bits=PAIR_BITS)


def _kept(b: Builder, base: ir.Operand, results: list[ir.Reg | None]) -> ir.Operand:
    """The base, copied to a temporary if the instruction overwrites it: a site's address is read last."""
    return b.compute("mov", base) if base in results else base


def _words(b: Builder, operand: Operand, count: int) -> list[ir.Operand]:
    """The registers with the data of a store."""
    return [ZERO32 if r is None else r for r in b.registers(operand, count)]


def _form(b: Builder) -> tuple[int, bool, int]:
    """(bits of an element in memory, signed, number of elements)."""
    for mark, (bits, signed) in _ELEMENTS.items():
        if b.has(mark):
            return bits, signed, 1
    return WORD_BITS, False, next((n for mark, n in _COUNTS.items() if b.has(mark)), 1)


# --- loads and stores -----------------------------------------------------------------------


Space = Literal["shared", "generic", "local", "global"]


def _load(space: Space, wide: bool) -> Callable[[Builder], None]:
    def lower(b: Builder) -> None:
        bits, signed, count = _form(b)
        place = b.operands[2 if b.has("256") else 1]
        base, offset = address(b, _memory(place), wide)
        results = _octet(b) if b.has("256") else b.registers(b.operand(0), count)
        if space == "shared" or space == "generic":
            base = _kept(b, base, results)
            b.site = ir.Site(b.opcode, base, offset, space, b.guard)
        attrs, constant, ordered = (bits, signed), b.has("CONSTANT"), b.has("STRONG") or b.has("MMIO")
        b.emit("load", tuple(results), (base,), WORD_BITS, attrs, space, offset, constant, ordered)

    return lower


def _octet(b: Builder) -> list[ir.Reg | None]:
    """The registers of the eight words of LDG.ENL2.256, whose operands are those of the upper four words, of the lower
    four, and a mask of the words that are wanted: these are in consecutive registers (compiled by CUDA 13.0 for sm_100
    from ld.global.v8 with `_` in place of words)."""
    upper, lower, mask = b.operand(0), b.operand(1), b.operands[3:]
    wanted = mask[0].value if mask and isinstance(mask[0], Number) else (1 << 2 * QUAD) - 1
    results: list[ir.Reg | None] = []
    for half, operand in enumerate((lower, upper)):
        bits = [wanted >> QUAD * half + word & 1 for word in range(QUAD)]
        registers = iter(b.registers(operand, sum(bits)))
        results += [next(registers) if bit else None for bit in bits]
    return results


def _store(space: Space, wide: bool) -> Callable[[Builder], None]:
    def lower(b: Builder) -> None:
        bits, _, count = _form(b)
        base, offset = address(b, _memory(b.operand(0)), wide)
        values = [value for o in b.operands[1:] for value in _words(b, o, count)]
        if space == "shared" or space == "generic":
            b.site = ir.Site(b.opcode, base, offset, space, b.guard)
        b.emit("store", (), (base, *values), WORD_BITS, (bits,), space=space, offset=offset)

    return lower


def load_constant(b: Builder) -> None:
    """LDC, ULDC, LDCU: from a constant bank; bank 0 holds the parameters."""
    operand = b.operand(1)
    if not isinstance(operand, Memory):
        raise NoMeaning("an unsupported form of constant operand")
    bits, signed, count = _form(b)
    results = b.registers(b.operand(0), count)
    if operand.name == "c":
        bank, index, offset = constant_place(operand)
        if bank == 0 and index is None and offset >= b.context.param_base:
            return b.emit(
                "load",
                tuple(results),
                (ir.Const(offset - b.context.param_base),),
                WORD_BITS,
                (bits, signed),
                space="param",
            )
    for result, value in zip(results, b.constants(operand, count, bits, signed)):
        if result is not None:
            b.emit("mov", (result,), (value,))


# --- atomics --------------------------------------------------------------------------------

_ATOMIC = {
    "ADD": "add",
    "EXCH": "exch",
    "CAS": "cas",
    "MIN": "min",
    "MAX": "max",
    "INC": "inc",
    "DEC": "dec",
    "AND": "and",
    "OR": "or",
    "XOR": "xor",
}


_OF_FLOATS = ("F16", "F32", "F64", "BF16")


def _atomic(space: Space, wide: bool, returns: bool) -> Callable[[Builder], None]:
    def lower(b: Builder) -> None:
        operands = list(b.operands)
        results: list[ir.Reg | None] = []
        words = (
            2
            if b.has("64", "U64", "S64", "F32x2", "F16x4", "BF16x4")
            else 4
            if b.has("128", "F32x4", "F16x8", "BF16x8")
            else 1
        )
        if returns:
            while operands and isinstance(operands[0], Register) and operands[0].is_predicate:
                results.append(b.destination(operands.pop(0)))
            if operands and isinstance(operands[0], Register):
                results += b.registers(operands.pop(0), words)
        if not operands:
            raise NoMeaning
        base, offset = address(b, _memory(operands[0]), wide)
        values = [
            value
            for o in operands[1:]
            if isinstance(o, Register) and not o.is_predicate
            for value in _words(b, o, words)
        ]
        if space == "shared" or space == "generic":
            base = _kept(b, base, results)
            b.site = ir.Site(b.opcode, base, offset, space, b.guard)
        kind = next((_ATOMIC[mark] for mark in b.marks if mark in _ATOMIC), b.opcode)
        if any(mark.startswith(_OF_FLOATS) for mark in b.marks):
            kind += ".f"
        elif kind in ("min", "max") and b.has("S32", "S64"):
            kind += ".s"
        elif b.has("POPC"):  # each lane adds one
            kind, values = "add", [ir.Const(1)]
        b.emit("atom", tuple(results) or (None,), (base, *values), WORD_BITS, (kind,), space=space, offset=offset)

    return lower


# --- matrices and asynchronous copies -------------------------------------------------------


def _matrices(b: Builder) -> int:
    """Registers of a matrix access: 1, or 2 or 4 for .2 and .4; twice that for matrices of 16 rows of 16 bytes."""
    count = int(b.marks[-1]) if b.marks[-1] in ("2", "4") else 1
    return 2 * count if any(mark.endswith("1616") for mark in b.marks) else count


def load_matrix(b: Builder) -> None:
    """LDSM: rows of 16 bytes from the addresses of 8, 16 or 32 lanes, distributed over the warp."""
    results = b.registers(b.operand(0), _matrices(b))
    base, offset = address(b, _memory(b.operand(1)), False)
    base = _kept(b, base, results)
    b.site = ir.Site(b.opcode, base, offset, "shared", b.guard)
    if not b.has("M88", "MT88"):
        return loaded(b, tuple(r for r in results if r is not None))
    where, attrs = (base, ir.Unknown("data of other lanes")), (WORD_BITS, False, *_rows(b, results))
    b.emit("load", tuple(results), where, attrs=attrs, space=ir.MATRICES, offset=offset)


def _rows(b: Builder, registers: Sized) -> tuple[int, bool]:
    """(how many lanes address rows, whether the matrices are transposed)."""
    return len(registers) * MATRIX_ROWS, b.has("MT88")


def store_matrix(b: Builder) -> None:
    base, offset = address(b, _memory(b.operand(0)), False)
    values = _words(b, b.operand(1), _matrices(b))
    b.site = ir.Site(b.opcode, base, offset, "shared", b.guard)
    attrs = _rows(b, values) if b.has("M88", "MT88") else ()
    b.emit(ir.STORE_MATRIX, (), (base, *values), attrs=attrs, space="shared", offset=offset)


def copy_async(b: Builder) -> None:
    """LDGSTS: each lane copies 4, 8 or 16 bytes; if the last predicate is false it writes zeros."""
    base, offset = address(b, _memory(b.operand(0)), False)
    source, source_offset = address(b, _memory(b.operand(1)), True)
    ignore = None
    for operand in b.operands[2:]:
        if not isinstance(operand, Register) or not operand.is_predicate:
            raise NoMeaning
        if not operand.is_zero:
            ignore = ir.Guard(register(operand), not operand.negated)
        elif operand.negated:
            ignore = ir.Guard(b.compute("mov", _ALWAYS, bits=1))
    b.site = ir.Site(b.opcode, base, offset, "shared", b.guard, source, source_offset, ignore)
    size = WORD_BYTES * _form(b)[2]
    b.emit(ir.COPY_ASYNC, (), (base, source), attrs=(size,), space="shared", offset=offset)


_UNSCORED = {
    "UBLKCP": "a bulk copy",
    "UBLKRED": "a bulk reduction",
    "UTMALDG": "a tensor copy",
    "UTMASTG": "a tensor copy",
    "UTMAREDG": "a tensor reduction",
    "SYNCS": "an operation on a barrier object",
    "ARRIVES": "an operation on a barrier object",
    "STAS": "an asynchronous store into another block's shared memory",
    "REDAS": "an asynchronous reduction in another block's shared memory",
    "HGMMA": "a warpgroup product reads shared memory through a descriptor",
    "IGMMA": "a warpgroup product reads shared memory through a descriptor",
    "QGMMA": "a warpgroup product reads shared memory through a descriptor",
    "BGMMA": "a warpgroup product reads shared memory through a descriptor",
    "UTCHMMA": "a tensor core product reads shared memory through a descriptor",
    "UTCIMMA": "a tensor core product reads shared memory through a descriptor",
    "UTCQMMA": "a tensor core product reads shared memory through a descriptor",
    "UTCOMMA": "a tensor core product reads shared memory through a descriptor",
    "UTCMXQMMA": "a tensor core product reads shared memory through a descriptor",
    "UTCCP": "a copy into tensor memory reads shared memory through a descriptor",
    "UTCBAR": "an operation on a barrier object",
}


def unscored_site(b: Builder) -> None:
    """Marks an access that is listed but not scored; `clobber` handles its writes."""
    reason = _UNSCORED.get(b.root)
    if reason is None:
        if b.root in _SITES:  # listed, although its address is unknown
            b.site = ir.Site(b.opcode, ir.Unknown(f"{b.opcode}: {b.refused}", WORD_BITS), 0, _SITES[b.root], b.guard)
        return
    if not any(isinstance(o, Memory) and (o.name in ("", "gdesc") or b.root.startswith("UTC")) for o in b.operands):
        return  # e.g. SYNCS.CCTL, HGMMA with both factors in registers
    if b.root in ("HGMMA", "IGMMA", "QGMMA", "BGMMA"):
        first: Literal["shared", "registers"] = "shared" if isinstance(b.operand(1), Memory) else "registers"
        if first == "registers":
            reason += " (its first factor comes from registers)"
        b.site = ir.Site(b.opcode, ir.Unknown("a matrix descriptor"), guard=b.guard, unscored=reason, first=first)
        return
    b.site = ir.Site(b.opcode, ir.Unknown("not followed"), guard=b.guard, unscored=reason)


def barrier_object(b: Builder) -> None:
    """SYNCS.EXCH initialises a barrier object (mbarrier.init): it stores 8 bytes whose meaning is the hardware's own.

    SYNCS.PHASECHK: whether its phase has ended. Lanes with the same operands get the same answer.
    """
    base, offset = address(b, _memory(b.operand(1)), False)
    if not b.has("EXCH"):
        place = b.compute("add", base, ir.Const(offset & ((1 << WORD_BITS) - 1)))
        b.emit("barrier.test", (b.destination(b.operand(0)),), (place, b.integer(b.operand(2))))
    elif b.operand(0).is_zero:
        b.emit("store", (), (base, *(_OF_BARRIER,) * 2), WORD_BITS, (WORD_BITS,), space="shared", offset=offset)
    else:
        raise NoMeaning
    unscored_site(b)


def allocate_columns(b: Builder) -> None:
    """UTCATOMSWS.FIND_AND_SET UP, UR, UR (tcgen05.alloc): whether columns of tensor memory were free, and which.

    The warp asks once, so all lanes get the same answer, which is unknown before the run.
    """
    answers = b.temporary(WORD_BITS), b.temporary(WORD_BITS)
    b.emit("load", answers, (ir.Const(0, PAIR_BITS),), attrs=(WORD_BITS, False), space=b.root)
    b.write_predicate(b.operand(0), b.compute("setp.ne", answers[0], ZERO32, result=1))
    b.write(b.operand(1), "mov", answers[1])


# --- address spaces -------------------------------------------------------------------------

_SPACES = {"S": "shared", "D": "shared::cluster", "L": "local", "G": "global", "C": "const"}


def query_space(b: Builder) -> None:
    """QSPC: whether a generic address lies in a state space."""
    space = next((_SPACES[mark] for mark in b.marks if mark in _SPACES), None)
    if space is None or not b.operand(1).is_zero:
        raise NoMeaning("a state-space query of a register")
    base, offset = address(b, _memory(b.operand(2)), True)
    if offset:
        base = b.compute("add", base, ir.Const(offset & ((1 << PAIR_BITS) - 1), PAIR_BITS), bits=PAIR_BITS)
    result = b.destination(b.operand(0))
    if result is not None:
        b.emit("isspacep", (result,), (base,), PAIR_BITS, (space,))


_OF_BARRIER = ir.Unknown("the contents of a barrier object")
_SIZE = "(U8|S8|U16|S16|32|64|128)?"
_CACHED = "(EF|EL|LU|EU|NA)?"  # eviction
_FETCHED = "(LTC64B|LTC128B|LTC256B)?"  # prefetch
_ORDERED = "(STRONG|WEAK|MMIO)? (CTA|SM|GPU|SYS|VC)? PRIVATE?"
_WIDE = f"E U? {_CACHED} {_FETCHED} {_SIZE} CONSTANT? {_ORDERED}"
_WRITTEN = f"E {_CACHED} {_FETCHED} {_SIZE} {_ORDERED}"
_WIDE_OCTET = f"E {_CACHED} {_FETCHED} ENL2 {_FETCHED} 256 CONSTANT? {_ORDERED}"
_WRITTEN_OCTET = f"E {_CACHED} {_FETCHED} ENL2 {_FETCHED} 256 {_ORDERED}"
_KINDS = f"({'|'.join(_ATOMIC)})"
_SHARED_ATOMIC = f"{_KINDS} (S32|U32)? (32|64|128)? / POPC INC 32? / CAST SPIN? (64|128)?"
_TYPES = "(F16|F16x2|F16x4|F16x8|F32|F32x2|F32x4|F64|BF16|BF16x2|BF16x4|BF16x8|S32|U32|S64|U64|32|64|128)? FTZ? RN?"
_FAR_ATOMIC = f"E {_CACHED} {_KINDS} {_TYPES} {_ORDERED}"
_SHAPES = (
    "16 (M88|MT88) (2|4)? / 8 MT1616 2? / (U4x16P64TO8|U6x16P32TO8) MT1616 2? / (U4x16P64TO8|U6x16P32TO8) M816 (2|4)?"
)
_FAR_REDUCTION = Row(
    _atomic("global", True, False), _FAR_ATOMIC, "P?MR{1,2}"
)  # RED before sm_90; generic ones are ATOM with RZ

# Accesses that are sites, with their state spaces.
_SITES: dict[str, ir.SiteSpace] = {
    "LDS": "shared",
    "STS": "shared",
    "ATOMS": "shared",
    "LDSM": "shared",
    "STSM": "shared",
    "LDGSTS": "shared",
    "LD": "generic",
    "ST": "generic",
    "ATOM": "generic",
}

LOWERINGS = {
    "LDS": Row(_load("shared", False), f"U? {_SIZE}", "RM"),
    "LDL": Row(_load("local", False), f"{_CACHED} {_SIZE}", "RM"),
    "LDG": Row(_load("global", True), f"{_WIDE} / {_WIDE_OCTET}", "RM|RRMN?"),
    "LD": Row(_load("generic", True), _WIDE, "RM"),
    "STS": Row(_store("shared", False), _SIZE, "MR"),
    "STL": Row(_store("local", False), f"{_CACHED} {_SIZE}", "MR"),
    "STG": Row(_store("global", True), f"{_WRITTEN} / {_WRITTEN_OCTET}", "MR|MRR"),
    "ST": Row(_store("generic", True), _WRITTEN, "MR"),
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), Row(load_constant, _SIZE, "RC")),
    "ATOMS": Row(_atomic("shared", False, True), _SHARED_ATOMIC, "P?R?MR{0,2}"),
    "ATOM": Row(_atomic("generic", True, True), _FAR_ATOMIC, "P?RMR{1,2}"),
    "ATOMG": Row(_atomic("global", True, True), _FAR_ATOMIC, "P?RMR{1,2}"),
    "RED": _FAR_REDUCTION,
    "REDG": _FAR_REDUCTION,
    "LDSM": Row(load_matrix, _SHAPES, "RM"),
    "STSM": Row(store_matrix, "16 (M88|MT88) (2|4)? / 8 MT168 (2|4)?", "MR"),
    "LDGSTS": Row(copy_async, f"E BYPASS? {_CACHED} {_FETCHED} (64|128)? ZFILL?", "M{2}P?"),
    "QSPC": Row(query_space, f"E? ({'|'.join(_SPACES)})", "PRM"),
    "SYNCS": Row(barrier_object, "PHASECHK TRANS64 TRYWAIT? / EXCH 64", "[PR]MR"),
    "UTCATOMSWS": Row(allocate_columns, "2CTA? FIND_AND_SET ALIGN?", "PR{2}"),
}
