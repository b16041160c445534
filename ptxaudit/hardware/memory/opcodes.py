"""Decodes opcodes of global and local accesses.

    classify("ld.global.nc.v4.f32", "global")      Access(access="load", operation="global", width=16, sass="LDG.128")
    classify("LDL.LU.64", "local")                 Access(access="load", operation="local", width=8, sass="LDL.64")
    LDG.E.128.CONSTANT, REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU, …

The sectors of a request depend only on the width and on whether it bypasses the L1: order, scope and cache operators
change where data are kept, not which sectors are requested (measured, docs/hardware.md). An unknown modifier is an
error, never ignored: it might be a width.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ptxaudit.hardware.unscored import unknown
from ptxaudit.ir.access import Access

_SASS = {
    "LDG": ("load", "global"),
    "STG": ("store", "global"),
    "ATOMG": ("atomic", "global"),
    "RED": ("atomic", "global"),
    "REDG": ("atomic", "global"),
    "LD": ("load", ""),
    "ST": ("store", ""),
    "ATOM": ("atomic", ""),
    "LDL": ("load", "local"),
    "STL": ("store", "local"),
    "LDGSTS": ("cp.async", "global"),
}
_SIZES = {
    "U8": 1,
    "S8": 1,
    "U16": 2,
    "S16": 2,
    "32": 4,
    "64": 8,
    "128": 16,
    "256": 32,
    "U64": 8,
    "S64": 8,
    "U32": 4,
    "S32": 4,
}
_PLAIN = frozenset(
    """
    E U STRONG WEAK CTA SM GPU SYS VC CONSTANT MMIO PRIVATE EF EL LU EU NA LTC64B LTC128B LTC256B BYPASS ZFILL FTZ RN
    ENL2
    ADD MIN MAX INC DEC AND OR XOR EXCH CAS SAFEADD
""".split()
)
_FLOAT = re.compile(r"(B?F)(16|32|64)(?:x([248]))?$")
_CANONICAL = {"ATOMG": "ATOM", "ATOM": "ATOM", "RED": "RED", "REDG": "RED", "LD": "LDG", "ST": "STG"}

_PTX_TYPE = re.compile(r"(?:[busf]|bf|e\dm\d|e\dm\dx)(8|16|32|64|128)(?:x([248]))?$")
_PTX_HEADS = {"ld": "load", "ldu": "load", "st": "store", "atom": "atomic", "red": "atomic"}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_OF_PTX = {"ld": "LDG", "ldu": "LDG", "st": "STG", "atom": "ATOM", "red": "RED"}


@lru_cache(maxsize=4096)
def classify(opcode: str, space: str) -> Access:
    """The access of an opcode to global or local memory, cached. Raises InputError for an unknown opcode."""
    name, *rest = opcode.split()
    return _machine(opcode, name, space) if name[:1].isupper() else _virtual(opcode, name, rest, space)


def _machine(opcode: str, name: str, space: str) -> Access:
    head, *modifiers = name.split(".")
    row = _SASS.get(head)
    if row is None or row[1] not in ("", space):
        raise unknown(opcode, f"no instruction that accesses {space} memory has this name")
    sizes = [size for m in modifiers if (size := _size(m)) is not None]
    strange = [m for m in modifiers if m not in _PLAIN and _size(m) is None]
    if strange or len(sizes) > 1:
        raise unknown(opcode, f"modifier .{(strange or modifiers)[0]} is not supported here")
    width = sizes[0] if sizes else 4
    return _access(
        opcode,
        "sass",
        row[0],
        width,
        space,
        _CANONICAL.get(head, head),
        "BYPASS" in modifiers,
        not row[1],
        "ZFILL" in modifiers,
    )


def _size(modifier: str) -> int | None:
    if modifier in _SIZES:
        return _SIZES[modifier]
    found = _FLOAT.match(modifier)
    return int(found[2]) // 8 * int(found[3] or 1) if found else None


def _virtual(opcode: str, name: str, rest: list[str], space: str) -> Access:
    head, *modifiers = name.split(".")
    generic = not {"global", "local", "shared", "param", "const"} & {m.partition("::")[0] for m in modifiers}
    if head == "cp" and modifiers[:1] == ["async"] and rest and rest[0].isdigit():
        return _access(opcode, "ptx", "cp.async", int(rest[0]), space, "LDGSTS", "cg" in modifiers, False)
    found = _PTX_TYPE.match(modifiers[-1]) if modifiers and head in _PTX_HEADS else None
    if found is None:
        raise unknown(opcode, f"no instruction that accesses {space} memory has this name")
    count = next((_VECTORS[m] for m in modifiers if m in _VECTORS), 1)
    width = int(found[1]) // 8 * int(found[2] or 1) * count
    sass = _OF_PTX[head] if space == "global" else {"load": "LDL", "store": "STL"}.get(_PTX_HEADS[head], "")
    return _access(opcode, "ptx", _PTX_HEADS[head], width, space, sass, False, generic)


def _access(
    opcode: str,
    isa: Literal["ptx", "sass"],
    access: str,
    width: int,
    space: str,
    head: str,
    bypass: bool,
    generic: bool,
    zero_fill: bool = False,
) -> Access:
    operation = (
        "local"
        if space == "local"
        else "global bypass"
        if bypass
        else "global atomic"
        if access == "atomic"
        else "global"
    )
    if bypass:
        head += ".BYPASS"
    if space == "local":
        head = {"LDG": "LDL", "STG": "STL"}.get(head, head)
    return Access(
        opcode, isa, access, operation, width, f"{head}.{8 * width}", zero_fill=zero_fill, generic=generic, space=space
    )
