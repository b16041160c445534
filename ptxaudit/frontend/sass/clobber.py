"""The registers that an unmodelled instruction may write: its results become opaque, never stale.

    HMMA.16816.F32 R4, R8, R12, R4     ->  R4 R5 R6 R7 = HMMA.16816.F32(…)
    F2FP.F16.F32.PACK_AB R5, R3, R2    ->  R5 = …
    TEX.LL R4, R8, R12, 0x0, 2D        ->  R4–R7 and R8–R11 (two results)
    FOO R8, …                          ->  R8–R11: a vector of registers is aligned to its size

Too many registers only cost precision; too few would give wrong answers. The memory that such an instruction may
write becomes unknown, too (`WRITES`).
"""

from __future__ import annotations

import re

from ptxaudit.frontend.sass.builder import Builder, machine_register, register
from ptxaudit.frontend.sass.syntax import Memory, Register, Word
from ptxaudit.ir import nodes as ir

LAST_REGISTER = {"R": 254, "UR": 254, "P": 6, "UP": 6}
_LARGEST_VECTOR = 4

# One 32-bit result. They are unmodelled, or have unmodelled forms.
_SINGLE = frozenset(
    """
    F2FP HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HSETP2 FADD FMUL FFMA FMNMX FMNMX3 FSEL FSETP FSET FCHK FSWZADD MUFU I2FP UI2FP
    I2I I2IP IDP VABSDIFF VABSDIFF4 VIADD IADD UIADD VIADDMNMX VIMNMX VIMNMX3 IADD3 IMNMX IABS LEA LOP3 PRMT
    SGXT SHF SEL BMSK POPC FLO BREV MOV UMOV S2R S2UR R2UR USEL UIADD3 ULEA ULOP3 UPRMT USHF USGXT UFLO UPOPC UBREV
    UBMSK
    SHFL VOTE VOTEU MATCH REDUX CREDUX P2R UP2UR B2R ELECT VHMNMX UVIMNMX
    UFADD UFMUL UFFMA UFSEL UF2FP UTCATOMSWS UFMNMX UFSET UF2F UIABS UIMNMX UVIADD USHL USHR ULOP ULOP32I
    F2IP UF2IP UI2I UI2IP IDP4A SHL SHR LOP LOP32I MOV32I IADD32I IMUL IMUL32I ISCADD ISCADD32I
    FADD32I FMUL32I FFMA32I HADD2_32I HMUL2_32I HFMA2_32I
""".split()
)
# The results are predicates only; the registers that follow are sources.
_PREDICATES = frozenset("PSETP UPSETP ISETP FSETP DSETP HSETP2 UISETP UFSETP PLOP3 UPLOP3 FCHK QSPC".split())
_PAIR = frozenset("DADD DMUL DFMA DMNMX LEPC FADD2 FMUL2 FFMA2 UCLEA".split())
# One result or a pair, depending on a mark of the opcode.
_PAIR_IF = {
    **dict.fromkeys(("I2F", "UI2F", "FRND", "UFRND"), ("F64",)),
    "F2I": ("U64", "S64"),
    "UF2I": ("U64", "S64"),
    "IMAD": ("WIDE",),
    "UIMAD": ("WIDE",),
}
_PAIR_UNLESS_32 = frozenset({"CS2R", "CS2UR"})
_TEXTURE = frozenset("TEX TLD TLD4 TXD TMML TXQ TXA SULD SUATOM SUQ".split())
_OTHER_MEMORY = frozenset({"LDTM", "LDSM"})
# Results that are vectors of a length that the text does not show, followed by opcodes without results.
_VECTORS = frozenset("LDGMC PIXLD ALD IPA LDT R2T QMUL4 QFMA4 QADD4 UGETNEXTWORKID UR2UP OUT".split())
_NO_RESULT = frozenset(
    """
    STAS REDAS UBLKCP UBLKRED UTMALDG UTMASTG UTMAREDG UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA UTCCP UTCBAR UTCSHIFT
    UVIRTCOUNT R2B STT STTM
    SUST SURED ARRIVES UTMAPF UBLKPF AST
""".split()
)
_ALL_PREDICATES = {"PR": "P", "UPR": "UP"}
# The state spaces that such an instruction may write, at unknown locations or times.
WRITES = {
    "ST": "generic",
    "STG": "global",
    "STS": "shared",
    "STL": "local",
    "STSM": "shared",
    "LDGSTS": "shared",
    "ATOM": "generic",
    "ATOMG": "global",
    "ATOMS": "shared",
    "RED": "global",
    "REDG": "global",
    "SUST": "global",
    "SURED": "global",
    "SUATOM": "global",
    "UTMASTG": "global",
    "UTMAREDG": "global",
    "UTMALDG": "shared",
    "UBLKCP": "generic",
    "UBLKRED": "generic",
    "STAS": "shared",
    "REDAS": "shared",
    "SYNCS": "shared",
    "ARRIVES": "shared",
    "UGETNEXTWORKID": "shared",
}
# Accesses to global or local memory by their own address, including unsupported forms.
ACCESSES = {
    **dict.fromkeys(("LDG", "STG", "ATOMG", "RED", "REDG"), "global"),
    **dict.fromkeys(("LDL", "STL"), "local"),
}
_MATRIX = frozenset("HMMA IMMA QMMA OMMA BMMA DMMA".split())
_WARPGROUP = frozenset({"HGMMA", "IGMMA", "QGMMA", "BGMMA"})
_MEMORY_WORDS = {
    **dict.fromkeys(("64", "U64", "S64", "F32x2", "F16x4", "BF16x4"), 2),
    **dict.fromkeys(("128", "256", "F32x4", "F16x8", "BF16x8"), 4),
}
_LOADS = frozenset("LD LDG LDS LDL LDC LDCU ULDC ATOM ATOMG ATOMS LDSM ALD IPA SYNCS RED REDG".split())
_LISTED = frozenset().union(
    _SINGLE,
    _PREDICATES,
    _PAIR,
    _PAIR_IF,
    _PAIR_UNLESS_32,
    _TEXTURE,
    _OTHER_MEMORY,
    _MATRIX,
    _WARPGROUP,
    _LOADS,
    _VECTORS,
    _NO_RESULT,
    WRITES,
    ("F2F", "MOVM"),
)
# The results of BAR.RED for B2R.RESULT: the number of threads, and whether any or all of them. Each writes both.
BARRIER_ANSWER = ir.Reg("BAR.COUNT", 32), ir.Reg("BAR.TRUTH", 1)
_TENSOR_LOADS = {"16dp256bit": 4, "16dp128bit": 2}  # registers per repetition; other shapes take one


def is_listed(root: str) -> bool:
    """Whether it is known which registers an opcode writes."""
    return root in _LISTED


def clobber(b: Builder) -> None:
    """Replaces the operations by one that writes every register that the instruction may write, and one for memory."""
    b.ops.clear()
    written = tuple(dict.fromkeys(r for r in written_registers(b) if r is not None))
    if written and b.root in _TEXTURE | _OTHER_MEMORY and not any(r.bits == 1 for r in written):
        loaded(b, written)
    elif written or b.root in ACCESSES:
        b.emit("opaque", written, (), attrs=(b.opcode, b.refused), space=ACCESSES.get(b.root, ""))
    if b.root in WRITES and not _only_counts(b):
        b.emit("clobber", (), (), space=WRITES[b.root])


def _only_counts(b: Builder) -> bool:
    """Whether it writes nothing but a barrier object, whose contents have been unknown since SYNCS.EXCH made it.

    A program must not perform it on other memory (PTX ISA, "mbarrier object"). Before sm_90 a barrier object was made
    by STS from numbers, and counted by ATOMS.ARRIVE and ARRIVES.LDGSTSBAR without these modifiers.
    """
    if b.root == "SYNCS":
        return b.has("ARRIVE", "CCTL", "PHASECHK")
    return b.root == "ARRIVES" and b.has("TRANSCNT", "ARVCNT")


def loaded(b: Builder, written: tuple[ir.Reg, ...]) -> None:
    """Makes the registers hold data from an unmodelled memory: textures, tensor memory, rows of matrices."""
    b.emit("load", written, (ir.Unknown("a place that is not modelled", 64),), attrs=(32, False), space=b.root)


def written_registers(b: Builder) -> list[ir.Reg]:
    """All registers that the instruction may write, by the form of its operands."""
    out: list[ir.Reg] = []
    if b.root == "BAR":
        return [*BARRIER_ANSWER]
    if b.root in _NO_RESULT:
        return out
    seen_register = b.root in _PREDICATES
    for position, operand in enumerate(b.operands):
        if isinstance(operand, Word) and operand.text in _ALL_PREDICATES:
            kind = _ALL_PREDICATES[operand.text]
            return [*out, *(machine_register(kind, number) for number in range(LAST_REGISTER[kind] + 1))]
        if isinstance(operand, Memory) or not isinstance(operand, Register):
            if isinstance(operand, Memory) and b.root in _WARPGROUP:
                continue
            break
        if operand.is_predicate:
            if not operand.is_zero:
                out.append(register(operand))
            continue
        if seen_register and not _second_result(b, position):
            break
        seen_register = True
        out += _group(operand, _width(b, operand))
    return out


def _second_result(b: Builder, position: int) -> bool:
    """Textures and 256-bit loads have two destinations."""
    registers = sum(isinstance(o, Register) and not o.is_predicate for o in b.operands[:position])
    return registers == 1 and (b.root in _TEXTURE or b.root in _LOADS and b.has("256"))


def _group(operand: Register, count: int) -> list[ir.Reg]:
    if operand.is_zero:
        return []
    last = min(operand.number + count - 1, LAST_REGISTER[operand.kind])
    return [register(operand, k) for k in range(last - operand.number + 1)]


def _aligned(number: int) -> int:
    """The size of the largest vector of registers that can begin at a register."""
    return next(size for size in (_LARGEST_VECTOR, 2, 1) if number % size == 0)


def _of_halves(b: Builder) -> bool:
    """Whether a matrix product has 16-bit floats as sums, two per register."""
    return b.has("F16") and not b.has("F32")


def _product_registers(b: Builder) -> int:
    """The registers of a lane's part of a product: 2, 4 or 8 numbers (PTX ISA, "Matrix Fragments")."""
    if b.root == "DMMA":
        return 4 if b.has("884", "8x8x4") else 8
    if b.has("8816", "8832", "88128") or b.root != "IMMA" and _of_halves(b) and not b.has("884"):
        return 2
    return 4


def _width(b: Builder, operand: Register) -> int:
    root = b.root
    if root in _WARPGROUP:
        match = re.search(r"x(\d+)x", b.opcode)
        return int(match[1]) // (4 if _of_halves(b) else 2) if match else 128
    if root in _MATRIX:
        return _product_registers(b)
    if root == "MOVM" and b.has("MT88"):  # movmatrix: each lane holds two of the 64 elements
        return 1
    if root == "LDTM":
        times = next((int(mark[1:]) for mark in b.marks if re.fullmatch(r"x\d+", mark)), 1)
        return times * next((n for mark, n in _TENSOR_LOADS.items() if b.has(mark)), 1)
    if root in _LOADS:
        if root == "SYNCS":  # the state of a barrier object (PTX ISA, mbarrier.arrive)
            return 2
        if root in ("LDSM", "ALD", "IPA"):
            return _LARGEST_VECTOR if root == "LDSM" else _aligned(operand.number)
        return next((n for mark, n in _MEMORY_WORDS.items() if b.has(mark)), 1)
    if root == "F2F":
        return 2 if b.marks and next((m for m in b.marks if m[-2:] in ("16", "32", "64")), "F64") == "F64" else 1
    if root in _PAIR_IF:
        return 2 if b.has(*_PAIR_IF[root]) else 1
    if root in _PAIR_UNLESS_32:
        return 1 if b.has("32") else 2
    if root in _PAIR or root in _SINGLE and b.has("64", "U64", "S64"):
        return 2
    if root in _SINGLE:
        return 1
    return _aligned(operand.number)
