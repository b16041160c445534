"""Reads the attribute lists of a cubin's `.nv.info` sections: parameters, launch bounds, jumps.

    04 17 0c 00  00000000 0001 0008 0021f000      ->  Parameter(ordinal=1, offset=8, size=8)
    04 05 0c 00  00000100 00000001 00000001       ->  max_threads=(256, 1, 1)

An attribute is a format byte, a number, and two bytes of value (formats 1 to 3) or the size of the value that follows
(format 4). The numbers are those for which `nvdisasm` prints `EIATTR_…` names; all others are skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from msgspec import field

from ptxaudit.base.records import Record

_SIZED = 4  # EIFMT_SVAL: two bytes of size, then the value
_WORD = 4  # bytes of the words that values consist of

# Bits 8 to 11 of a parameter's flags: 4 for `.ptr` parameters in older releases, 5 for pointers since sm_100, else 0.
_POINTER_KINDS = (4, 5)

_MAX_THREADS = 0x05
_PARAM_CBANK = 0x0A
_REQNTID = 0x10
_KPARAM_INFO = 0x17
_CBANK_PARAM_SIZE = 0x19
_INDIRECT_BRANCH_TARGETS = 0x34
_CTA_PER_CLUSTER = 0x3D
_KPARAM_INFO_V2 = 0x45

kernel_only = frozenset({_PARAM_CBANK, _CBANK_PARAM_SIZE, _KPARAM_INFO, _KPARAM_INFO_V2})
"""Attributes that only kernels have."""


class ParameterPlace(Record):
    """The place of one kernel parameter: its position, and its byte offset and size in the buffer.

    pointer: True if the file says so (Triton's do, and ptxas's since sm_100), else None.
    """

    ordinal: int
    offset: int
    size: int
    pointer: bool | None = None


class KernelInfo(Record):
    """The attributes of one function, from `.nv.info.<function>`.

    param_base: byte offset of the parameter buffer in constant bank 0, None if not stated.
    branches: targets of each indirect branch, by its byte offset in the function.
    """

    parameters: tuple[ParameterPlace, ...] = ()
    param_base: int | None = None
    reqntid: tuple[int, int, int] | None = None
    max_threads: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None
    branches: dict[int, tuple[int, ...]] = field(default_factory=dict)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, value bytes) of each attribute; a truncated last one ends the list."""
    at = 0
    while at + _WORD <= len(data):
        form, number, short = struct.unpack_from("<BBH", data, at)
        at += _WORD
        if form == _SIZED:
            yield number, data[at : at + short]
            at += -(-short // _WORD) * _WORD
        else:
            yield number, short.to_bytes(2, "little")


def _words(value: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(value) // _WORD}I", value[: len(value) // _WORD * _WORD])


def _three(value: bytes) -> tuple[int, int, int] | None:
    words = _words(value)
    if len(words) < 3 or not all(words[:3]):
        return None
    return words[0], words[1], words[2]


def _parameter(value: bytes) -> ParameterPlace:
    _, ordinal, offset, flags = struct.unpack("<IHHI", value[:12])
    return ParameterPlace(ordinal, offset, flags >> 18, True if flags >> 8 & 0xF in _POINTER_KINDS else None)


def _parameter_v2(value: bytes) -> ParameterPlace:
    _, ordinal, offset, size, flags = struct.unpack("<IHHHH", value[:12])
    return ParameterPlace(ordinal, offset, size, True if flags >> 8 & 0xF in _POINTER_KINDS else None)


def _branches(value: bytes) -> dict[int, tuple[int, ...]]:
    """Records of (branch offset, two shorts, count, count target offsets)."""
    words, at, out = _words(value), 0, {}
    while at + 3 <= len(words):
        place, _, count = words[at : at + 3]
        out[place] = words[at + 3 : at + 3 + count]
        at += 3 + count
    return out


def read_info(data: bytes) -> KernelInfo:
    """The attributes of one function's `.nv.info` section."""
    found: dict[str, Any] = {"parameters": [], "branches": {}}
    for number, value in attributes(data):
        if number == _KPARAM_INFO and len(value) >= 12:
            found["parameters"].append(_parameter(value))
        elif number == _KPARAM_INFO_V2 and len(value) >= 12:
            found["parameters"].append(_parameter_v2(value))
        elif number == _PARAM_CBANK and len(value) >= 8:
            found["param_base"] = int.from_bytes(value[4:6], "little")
        elif number == _REQNTID:
            found["reqntid"] = _three(value)
        elif number == _MAX_THREADS:
            found["max_threads"] = _three(value)
        elif number == _CTA_PER_CLUSTER:
            found["cluster"] = _three(value)
        elif number == _INDIRECT_BRANCH_TARGETS:
            found["branches"] |= _branches(value)
    parameters = tuple(sorted(found.pop("parameters"), key=lambda p: p.ordinal))
    return KernelInfo(parameters=parameters, **found)
