"""Decodes PTX opcodes: `ld.volatile.shared.v4.u8`, `atom.shared::cta.add.f32`, `cp.async.ca.shared.global 8`.

Shapes are those of the PTX ISA (https://docs.nvidia.com/cuda/parallel-thread-execution/); the resulting access names
the machine instruction. A modifier that is not in the tables is an error, never ignored: it might be a width.
"""

from __future__ import annotations

import re

from ptxaudit.hardware.machine_model import MATRIX_ROW_BYTES, MATRIX_ROWS
from ptxaudit.hardware.unscored import UNSCORED, listed, unknown
from ptxaudit.ir.access import Access

_TYPE = re.compile(r"([busf])(8|16|32|64|128)$")
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_WIDEST = 16
_SPACES = {"shared", "shared::cta", "shared::cluster"}
_OTHER_SPACES = {"global", "local", "param", "const", "param::entry", "param::func"}
_ORDER = {"weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "mmio"}
_SCOPE = {"cta", "cluster", "gpu", "sys"}
_CACHE = {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified"}
_HINT = re.compile(r"(L1|L2|level)::\w+$")  # eviction, prefetch and cache-policy hints

# SASS of generic accesses: eviction and prefetch before the size, strength after it (from ptxas 13.5;
# tests/hardware/test_opcodes.py)
_EVICTION = {
    "cs": ".EF",
    "lu": ".LU",
    "L1::evict_first": ".EF",
    "L1::evict_last": ".EL",
    "L1::no_allocate": ".NA",
    "L1::evict_unchanged": ".EU",
    **{f"L2::{n}B": f".LTC{n}B" for n in (64, 128, 256)},
}
_STRENGTH = {"volatile": "SYS", "cv": "SYS", "wt": "SYS", "cg": "GPU", "ca": "SM", "wb": "SM"}
_SCOPED = {"cta": "SM", "cluster": "GPU", "gpu": "GPU", "sys": "SYS"}
_SASS_SIZE = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}


def classify(opcode: str, name: str, rest: list[str], operand: int | None, as_written: bool) -> Access:
    """name: the opcode's first word, rest: the others. Raises InputError."""
    if name.startswith(NOT_SHARED):
        raise unknown(opcode, "it does not access shared memory")
    for prefix, word in LISTED:
        if name == prefix or name.startswith(prefix + "."):
            return listed(opcode, name, "ptx", word)
    head, *modifiers = name.split(".")
    if name.startswith("cp.async."):
        return _copy(opcode, modifiers[1:], rest)
    if head in ("atom", "red"):
        if rest:
            operand = _integer(rest[0]) if len(rest) == 1 else None
            if operand is None:
                raise unknown(
                    opcode, "the operand after an atomic is the constant that it adds", f"write {name}, or {name} 1"
                )
        return _atomic(opcode, head, modifiers, operand, as_written)
    if rest:
        raise unknown(opcode, "operands after the opcode", f"write {name}")
    if head in ("ld", "st"):
        return _load_store(opcode, head, modifiers)
    if head in ("ldmatrix", "stmatrix"):
        return _matrix(opcode, head, modifiers)
    if head in ("wmma",):
        return _wmma(opcode, modifiers)
    if name == name.lower() and name.upper().split(".")[0] in _SASS_HEADS:
        raise unknown(opcode, "SASS opcodes are upper case", f"write {name.upper()}")
    raise unknown(
        opcode, "this is not a shared-memory instruction", "an opcode is PTX (ld.shared.v4.b32) or SASS (LDS.128)"
    )


_SASS_HEADS = {"LDS", "STS", "ATOMS", "LDSM", "STSM", "LDGSTS"}

# first words -> the report's word, for opcodes that are only listed
LISTED = (
    ("cp.async.bulk", "bulk copy"),
    ("cp.reduce.async.bulk", "bulk copy"),
    ("st.bulk", "bulk store"),
    ("cp.async.mbarrier.arrive", "mbarrier"),
    ("mbarrier", "mbarrier"),
    ("st.async", "async store"),
    ("red.async", "async store"),
    ("wgmma.mma_async", "wgmma"),
    ("tcgen05", "tcgen05"),
    ("multimem", "multimem"),
    ("tensormap.replace", "other"),
    ("clusterlaunchcontrol.try_cancel", "other"),
)


NOT_SHARED = (
    "cp.async.commit_group",
    "cp.async.wait_",
    "cp.async.bulk.prefetch",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group",
    "mbarrier.pending_count",
    "tcgen05.ld",
    "tcgen05.st",
    "tcgen05.wait",
    "tcgen05.fence",
    "tcgen05.dealloc",
    "tcgen05.relinquish",
)


def _integer(text: str) -> int | None:
    """A constant as PTX writes it, 0x10, 020 (octal) or 16; None for any other text."""
    if not (match := re.fullmatch(r"(-?)(?:0x([0-9a-fA-F]+)|0([0-7]+)|(0|[1-9][0-9]{0,19}))", text)):
        return None
    sign, hexadecimal, octal, decimal = match.groups()
    value = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    return -value if sign else value


def _space(opcode: str, modifiers: list[str]) -> tuple[str, list[str]]:
    """("shared" | "shared::cta" | "shared::cluster" | "generic", the modifiers without it)."""
    others = [m for m in modifiers if m in _OTHER_SPACES]
    if others:
        raise unknown(
            opcode, f"it accesses .{others[0]}, not shared memory", "shared accesses have .shared, or no state space"
        )
    spaces = [m for m in modifiers if m in _SPACES]
    if len(spaces) > 1:
        raise unknown(opcode, "it names two spaces")
    return (spaces or ["generic"])[0], [m for m in modifiers if m not in _SPACES]


def _bits(opcode: str, modifiers: list[str]) -> tuple[str, int]:
    """(letter, bytes) of the type, the last modifier."""
    found = _TYPE.match(modifiers[-1]) if modifiers else None
    if found is None:
        raise unknown(opcode, "it does not end in a type", "types are b8 to b128, u8 to u64, s8 to s64, f32, f64")
    letter, bits = found[1], int(found[2])
    if (letter == "f" and bits not in (32, 64)) or (bits == 128 and letter != "b"):
        raise unknown(
            opcode,
            f"type .{modifiers[-1]} cannot be loaded or stored",
            "types are b8 to b128, u8 to u64, s8 to s64, f32, f64",
        )
    return letter, bits // 8


def _remote(opcode: str, access: str) -> Access:
    return Access(opcode, "ptx", access, unscored=UNSCORED["remote"])


def _load_store(opcode: str, head: str, modifiers: list[str]) -> Access:
    access = "load" if head == "ld" else "store"
    space, rest = _space(opcode, modifiers)
    letter, element = _bits(opcode, rest)
    vectors = [_VECTORS[m] for m in rest[:-1] if m in _VECTORS]
    strange = [m for m in rest[:-1] if m not in _VECTORS and m not in _ORDER | _SCOPE | _CACHE and not _HINT.match(m)]
    if strange or len(vectors) > 1:
        raise unknown(opcode, f"modifier .{(strange or rest)[0]} is not supported here")
    elements = vectors[0] if vectors else 1
    width = elements * element
    if width > _WIDEST or elements > 4:
        raise unknown(
            opcode,
            f"a vector of {elements} x {8 * element} bits does not exist for shared memory",
            "at most 4 elements and 128 bits together; wider vectors are for .global only",
        )
    if space == "shared::cluster":
        return _remote(opcode, access)
    size = _SASS_SIZE[width].replace("U", letter.upper()) if letter == "s" and elements == 1 else _SASS_SIZE[width]
    if space == "generic":
        operation = "generic load" if head == "ld" else "store"
        return Access(opcode, "ptx", access, operation, width, _generic_sass(head, size, rest), generic=True)
    return Access(opcode, "ptx", access, access, width, ("LDS" if head == "ld" else "STS") + size)


def _generic_sass(head: str, size: str, modifiers: list[str]) -> str:
    """ld.volatile.v2.u32 -> LD.E.64.STRONG.SYS, ld.cs.u32 -> LD.E.EF"""
    before = "".join(_EVICTION[m] for m in modifiers if m in _EVICTION)
    strong = [_STRENGTH[m] for m in modifiers if m in _STRENGTH] + [_SCOPED[m] for m in modifiers if m in _SCOPED]
    after = "" if not strong else ".MMIO.SYS" if "mmio" in modifiers else f".STRONG.{strong[0]}"
    return f"{head.upper()}.E{before}{size}{after}"


# --- atomics --------------------------------------------------------------------------------

# (operation, type) -> (row, bytes per lane, machine instruction); `loop` rows have no single instruction. From ptxas
# 13.5; tests/hardware/test_opcodes.py compiles each and compares.
_NATIVE_32 = {"add": "ADD", "min": "MIN", "max": "MAX", "and": "AND", "or": "OR", "xor": "XOR"}
ATOMICS: dict[tuple[str, str], tuple[str, int, str]] = {
    **{(op, "u32"): ("atomic", 4, f"ATOMS.{_NATIVE_32[op]}") for op in ("add", "min", "max")},
    **{(op, "s32"): ("atomic", 4, f"ATOMS.{_NATIVE_32[op]}.S32") for op in ("add", "min", "max")},
    **{(op, "b32"): ("atomic", 4, f"ATOMS.{_NATIVE_32[op]}") for op in ("and", "or", "xor")},
    ("inc", "u32"): ("atomic", 4, "ATOMS.INC"),
    ("dec", "u32"): ("atomic", 4, "ATOMS.DEC"),
    ("exch", "b32"): ("atomic", 4, "ATOMS.EXCH"),
    ("exch", "b64"): ("atomic", 8, "ATOMS.EXCH.64"),
    ("exch", "b128"): ("atomic", 16, "ATOMS.EXCH.128"),
    ("cas", "b32"): ("cas", 4, "ATOMS.CAS"),
    ("cas", "b64"): ("cas", 8, "ATOMS.CAS.64"),
    ("cas", "b128"): ("cas", 16, "ATOMS.CAS.128"),
    ("cas", "b16"): ("loop", 2, ""),
    ("add", "f32"): ("loop", 4, ""),
    **{("add", t): ("loop", 8, "") for t in ("u64", "f64")},
    **{("add", t): ("loop", 2, "") for t in ("f16", "bf16")},
    **{("add", t): ("loop", 4, "") for t in ("f16x2", "bf16x2")},
    **{(op, t): ("loop", 8, "") for op in ("min", "max") for t in ("u64", "s64")},
    **{(op, "b64"): ("loop", 8, "") for op in ("and", "or", "xor")},
}
_OPERATIONS = {operation for operation, _ in ATOMICS}
# the constant for which ptxas may generate ATOMS.POPC.INC
_COUNTING = {"add": 1, "inc": 0xFFFF_FFFF}
_COMBINED = set(_NATIVE_32)


def _atomic(opcode: str, head: str, modifiers: list[str], operand: int | None, as_written: bool) -> Access:
    space, rest = _space(opcode, modifiers)
    if any(m in _VECTORS for m in rest):
        raise unknown(opcode, "vector atomics exist for .global only")
    operations = [m for m in rest if m in _OPERATIONS]
    strange = [m for m in rest[:-1] if m not in _OPERATIONS | _ORDER | _SCOPE | {"noftz"} and not _HINT.match(m)]
    if len(operations) != 1 or strange:
        raise unknown(
            opcode,
            f"modifier .{strange[0]} is not supported here" if strange else "it must name one operation",
            f"operations are {', '.join(sorted(_OPERATIONS))}",
        )
    operation, type_ = operations[0], rest[-1]
    row = ATOMICS.get((operation, type_))
    if row is None or (head == "red" and operation in ("exch", "cas")):
        raise unknown(
            opcode,
            f"{head}.{operation} of type .{type_} does not exist",
            f"{operation} takes {', '.join(t for o, t in ATOMICS if o == operation)}",
        )
    if space == "shared::cluster":
        return _remote(opcode, "atomic")
    kind, width, sass = row
    counts = (
        kind == "atomic"
        and operation in _COUNTING
        and (operand is None or operand & 0xFFFF_FFFF == _COUNTING[operation])
    )
    plain = ""
    if space == "generic":
        scope = next((_SCOPED[m] for m in rest if m in _SCOPED), "GPU")
        sass = sass and f"{sass.replace('ATOMS', 'ATOM.E')}.STRONG.{scope}"
    elif kind == "loop":
        plain = ".".join([head, "shared", operation, *(m for m in rest if m == "noftz"), type_])
    return Access(
        opcode,
        "ptx",
        "atomic",
        kind,
        width,
        sass,
        generic=space == "generic",
        loop=plain,
        may_count=counts and not as_written,
        may_combine=kind == "atomic" and operation in _COMBINED and not as_written,
    )


# --- matrices and copies --------------------------------------------------------------------

_SHAPES = {  # (shape, type) -> (row of the table, address lanes per matrix)
    ("ldmatrix", "m8n8", "b16"): ("ldmatrix", MATRIX_ROWS),
    ("stmatrix", "m8n8", "b16"): ("stmatrix", MATRIX_ROWS),
    ("stmatrix", "m16n8", "b8"): ("matrix", MATRIX_ROWS),
    ("ldmatrix", "m16n16", "b8"): ("matrix", 2 * MATRIX_ROWS),
    **{
        ("ldmatrix", shape, f"b8x16.{packed}"): ("matrix", lanes)
        for shape, lanes in (("m8n16", MATRIX_ROWS), ("m16n16", 2 * MATRIX_ROWS))
        for packed in ("b6x16_p32", "b4x16_p64")
    },
}


def _matrix(opcode: str, head: str, modifiers: list[str]) -> Access:
    """ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"""
    space, rest = _space(opcode, modifiers)
    shapes = [m for m in rest if re.fullmatch(r"m\d+n\d+", m)]
    counts = [m for m in rest if m in ("x1", "x2", "x4")]
    types = [m for m in rest if re.fullmatch(r"b\d+(x\d+)?(_p\d+)?", m)]
    strange = [m for m in rest if m not in {"sync", "aligned", "trans", *shapes, *counts, *types}]
    if strange or len(shapes) != 1 or len(counts) != 1:
        raise unknown(
            opcode,
            f"modifier .{strange[0]} is not supported here"
            if strange
            else "it must give a shape and a number of matrices",
            f"{head}.sync.aligned.m8n8.x4.shared.b16",
        )
    row = _SHAPES.get((head, shapes[0], ".".join(types)))
    x = int(counts[0][1:])
    if row is None or row[1] * x > 4 * MATRIX_ROWS:
        raise unknown(opcode, f"{head} of shape .{shapes[0]}.{counts[0]} and type .{'.'.join(types)} does not exist")
    if space == "shared::cluster":
        return _remote(opcode, head)
    trans = "trans" in rest
    sass = ""
    if row[0] == head:
        sass = f"{'LDSM' if head == 'ldmatrix' else 'STSM'}.16.{'MT88' if trans else 'M88'}{'' if x == 1 else f'.{x}'}"
    return Access(opcode, "ptx", head, row[0], MATRIX_ROW_BYTES, sass, row[1] * x, x, trans, generic=space == "generic")


def _copy(opcode: str, modifiers: list[str], rest: list[str]) -> Access:
    """cp.async.ca.shared.global.L2::128B 16"""
    spaces = [m for m in modifiers if m in _SPACES]
    kinds = [m for m in modifiers if m in ("ca", "cg")]
    hints = [m for m in modifiers if _HINT.match(m)]
    strange = [m for m in modifiers if m not in {"global", *spaces, *kinds, *hints}]
    if strange or len(kinds) != 1 or len(spaces) != 1 or "shared::cluster" in spaces:
        raise unknown(
            opcode,
            f"modifier .{strange[0]} is not supported here" if strange else "it does not access shared memory per lane",
            "cp.async.ca.shared.global 4, 8 or 16; cp.async.cg.shared.global 16",
        )
    bypass = kinds[0] == "cg"
    sizes = rest or (["16"] if bypass else [])
    if len(sizes) != 1 or sizes[0] not in (("16",) if bypass else ("4", "8", "16")):
        raise unknown(
            opcode,
            "it must give the number of bytes copied per lane"
            if not rest
            else f"a copy of {' '.join(rest)} bytes does not exist",
            "cp.async.ca.shared.global 4, 8 or 16; cp.async.cg.shared.global 16",
        )
    width = int(sizes[0])
    prefetch = [f".LTC{h[4:]}" for h in hints if h.startswith("L2::") and h.endswith("B")]
    sass = "LDGSTS.E" + (".BYPASS" if bypass else "") + "".join(prefetch) + _SASS_SIZE[width]
    return Access(opcode, "ptx", "cp.async", "cp.async.bypass" if bypass else "cp.async", width, sass, bypass=bypass)


def _wmma(opcode: str, modifiers: list[str]) -> Access:
    if modifiers[:1] not in (["load"], ["store"]) or any(m in _OTHER_SPACES for m in modifiers):
        raise unknown(opcode, "it does not access shared memory")
    return Access(opcode, "ptx", "wmma", unscored=UNSCORED["wmma"])
