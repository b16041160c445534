"""Decodes SASS opcodes: `LDS.64`, `ATOMS.CAST.SPIN`, `LDSM.16.MT88.4`, `LDGSTS.E.BYPASS.LTC128B.128`, `LD.E.U8`.

The spellings are those of nvdisasm 13.5 for sm_75 to sm_121. A modifier that is not in the tables is an error, never
ignored: it might be a width.
"""

from __future__ import annotations

from collections.abc import Callable

from ptxaudit.hardware.machine_model import MATRIX_ROW_BYTES, MATRIX_ROWS
from ptxaudit.hardware.unscored import listed, unknown
from ptxaudit.ir.access import Access

SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
_SHARED = {"U", "ZD"}  # Turing's spellings; no effect on the banks
_MEMORY = {  # ordering, scope, caching: no effect on the banks
    "E",
    "STRONG",
    "WEAK",
    "CTA",
    "SM",
    "GPU",
    "SYS",
    "VC",
    "CONSTANT",
    "MMIO",
    "PRIVATE",
    "EF",
    "EL",
    "LU",
    "EU",
    "NA",
    "LTC64B",
    "LTC128B",
    "LTC256B",
}
_ARITHMETIC = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"}
_FLOATS = ("F16", "F32", "F64", "BF16")

# first word -> the report's word, for opcodes that are only listed
LISTED = {
    **dict.fromkeys(("UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG"), "bulk copy"),
    **dict.fromkeys(("HGMMA", "QGMMA", "IGMMA", "BGMMA", "DGMMA"), "wgmma"),
    **dict.fromkeys(
        ("UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA", "UTCMXQMMA", "UTCCP", "UTCBAR", "UTCATOMSWS"), "tcgen05"
    ),
    **dict.fromkeys(("SYNCS", "ARRIVES"), "mbarrier"),
    **dict.fromkeys(("STAS", "REDAS"), "async store"),
}
NOT_SHARED = (
    "LDG",
    "STG",
    "ATOMG",
    "REDG",
    "RED",
    "LDL",
    "STL",
    "LDC",
    "LDCU",
    "ULDC",
    "LDTM",
    "STTM",
    "LDGDEPBAR",
    "TEX",
    "SULD",
    "SUST",
)


def classify(opcode: str, name: str, rest: list[str]) -> Access:
    """name: the opcode's first word, rest: the others. Raises InputError."""
    if rest:
        raise unknown(opcode, "operands after the opcode", f"write {name}")
    head, *modifiers = name.split(".")
    if head in LISTED:
        return listed(opcode, name, "sass", LISTED[head])
    row = _HEADS.get(head)
    if row is None:
        if head in NOT_SHARED:
            raise unknown(
                opcode, "it does not access shared memory", "shared accesses are LDS, STS, ATOMS, LDSM, STSM, LDGSTS, …"
            )
        raise unknown(
            opcode,
            "this is not a shared-memory instruction",
            "PTX opcodes are lower case: ld.shared.v4.b32",
        )
    return row(opcode, name, modifiers)


def _size(opcode: str, modifiers: list[str], others: set[str]) -> int:
    """Bytes per lane; every modifier must be a size or one of the others."""
    sizes = [SIZES[m] for m in modifiers if m in SIZES]
    strange = [m for m in modifiers if m not in SIZES and m not in others]
    if strange or len(sizes) > 1:
        raise unknown(opcode, f"modifier .{(strange or modifiers)[0]} is not supported here")
    return sizes[0] if sizes else 4


def _load(opcode: str, name: str, modifiers: list[str]) -> Access:
    return Access(opcode, "sass", "load", "load", _size(opcode, modifiers, _SHARED), name)


def _store(opcode: str, name: str, modifiers: list[str]) -> Access:
    return Access(opcode, "sass", "store", "store", _size(opcode, modifiers, set()), name)


def _generic_load(opcode: str, name: str, modifiers: list[str]) -> Access:
    return Access(
        opcode, "sass", "load", "generic load", _size(opcode, modifiers, _MEMORY | _SHARED), name, generic=True
    )


def _generic_store(opcode: str, name: str, modifiers: list[str]) -> Access:
    return Access(opcode, "sass", "store", "store", _size(opcode, modifiers, _MEMORY), name, generic=True)


def _atomic(opcode: str, name: str, modifiers: list[str]) -> Access:
    if modifiers[:1] == ["ARRIVE"]:
        return listed(opcode, name, "sass", "mbarrier")
    operation, width = _atomic_row(opcode, modifiers, {"S32", "U32"})
    return Access(opcode, "sass", "atomic", operation, width, name)


def _generic_atomic(opcode: str, name: str, modifiers: list[str]) -> Access:
    typed = [m for m in modifiers if m.startswith(_FLOATS)]
    plain = [m for m in modifiers if m not in _MEMORY]
    if typed or ("64" in plain and _ARITHMETIC & set(plain)):
        return Access(
            opcode,
            "sass",
            "atomic",
            generic=True,
            unscored=(
                "this generic atomic does not serve shared addresses: the code beside it tests for them and loops over"
                " LDS and ATOMS.CAST.SPIN"
            ),
        )
    operation, width = _atomic_row(opcode, plain, {"S32", "U32"})
    return Access(opcode, "sass", "atomic", operation, width, name, generic=True)


def _atomic_row(opcode: str, modifiers: list[str], types: set[str]) -> tuple[str, int]:
    """(operation, bytes per lane) from an atomic's modifiers."""
    for words, operation in (
        (["POPC", "INC"], "count"),
        (["CAST", "SPIN"], "cast"),
        (["CAS"], "cas"),
        (["EXCH"], "atomic"),
    ):
        if modifiers[: len(words)] == words:
            break
    else:
        if modifiers[:1] == ["CAST"]:
            raise unknown(opcode, "a compare-and-swap-then-spin that does not spin costs more, and was not measured")
        words, operation = modifiers[:1], "atomic"
        if not words or words[0] not in _ARITHMETIC:
            raise unknown(
                opcode,
                "this is not a shared-memory atomic",
                "shared atomics are ATOMS.ADD, .MIN, .MAX, .INC, .DEC, .AND, .OR, .XOR, .EXCH, .CAS, …",
            )
    width = _size(opcode, modifiers[len(words) :], types)
    if width < 4 or (operation == "count" and width != 4):
        raise unknown(opcode, "an atomic of this width does not exist")
    return operation, width


def _matrix(opcode: str, name: str, modifiers: list[str], operation: str) -> Access:
    """LDSM and STSM: element size or conversion, shape, matrices."""
    *shape, count = modifiers if modifiers and modifiers[-1] in ("2", "4") else [*modifiers, "1"]
    if len(shape) != 2:
        raise unknown(
            opcode, "a matrix access has an element size and a shape", "LDSM.16.M88.4, LDSM.16.MT88.2, STSM.16.M88"
        )
    x = int(count)
    trans = shape[1].startswith("MT")
    if shape in (["16", "M88"], ["16", "MT88"]):
        return Access(opcode, "sass", operation, operation, MATRIX_ROW_BYTES, name, MATRIX_ROWS * x, x, trans)
    rows = OTHER_SHAPES.get((operation, shape[0], shape[1]))
    if rows is None or rows * x > 4 * MATRIX_ROWS:
        raise unknown(opcode, f"matrix shape .{'.'.join(shape)} x{x} is not known")
    return Access(opcode, "sass", operation, "matrix", MATRIX_ROW_BYTES, name, rows * x, x, trans)


# (operation, elements, shape) -> address lanes per matrix, for shapes that were not measured
OTHER_SHAPES = {
    ("ldmatrix", "8", "MT1616"): 2 * MATRIX_ROWS,
    ("ldmatrix", "U4x16P64TO8", "MT1616"): 2 * MATRIX_ROWS,
    ("ldmatrix", "U6x16P32TO8", "MT1616"): 2 * MATRIX_ROWS,
    ("ldmatrix", "U4x16P64TO8", "M816"): MATRIX_ROWS,
    ("ldmatrix", "U6x16P32TO8", "M816"): MATRIX_ROWS,
    ("stmatrix", "8", "MT168"): MATRIX_ROWS,
}


def _copy(opcode: str, name: str, modifiers: list[str]) -> Access:
    width = _size(opcode, modifiers, _MEMORY | {"BYPASS", "ZFILL"})
    bypass = "BYPASS" in modifiers
    if width < 4 or (bypass and width != 16):
        raise unknown(opcode, "a copy of this width does not exist", "LDGSTS copies 4, 8 or 16 bytes, with BYPASS 16")
    return Access(
        opcode,
        "sass",
        "cp.async",
        "cp.async.bypass" if bypass else "cp.async",
        width,
        name,
        bypass=bypass,
        zero_fill="ZFILL" in modifiers,
    )


_HEADS: dict[str, Callable[[str, str, list[str]], Access]] = {
    "LDS": _load,
    "STS": _store,
    "ATOMS": _atomic,
    "LDGSTS": _copy,
    "LD": _generic_load,
    "ST": _generic_store,
    "ATOM": _generic_atomic,
    "LDSM": lambda opcode, name, modifiers: _matrix(opcode, name, modifiers, "ldmatrix"),
    "STSM": lambda opcode, name, modifiers: _matrix(opcode, name, modifiers, "stmatrix"),
}
