"""Reads the resource usage of a cubin's functions: registers, stack, barriers, and where registers were spilled.

    usage(b"\\x7fELF…")  ->  {"_Z4gemmPf": Usage(registers=40, stack=16, barriers=1, spilled=frozenset({0x210, 0x5f0}))}

The module-wide `.nv.info` has an attribute per function for registers (REGCOUNT, 0x2f) and for the stack frame
(MIN_STACK_SIZE, 0x12, including callees; FRAME_SIZE, 0x11, without): the number of its symbol, and the figure. The
low bytes of `sh_info` of the function's `.text.` section hold the symbol's number. Barriers are an attribute of the
function since CUDA 13 (NUM_BARRIERS, 0x4c), before that bits 20 to 26 of the section's flags. Since CUDA 12.6
ANNOTATIONS (0x55) of a function lists the instructions that spill and refill registers, if there are any.

Since CUDA 13 a note names the program that wrote the file: if that was ptxas, no annotation means no spill. (A linker
passes on the output of older assemblers.)

`cuobjdump --dump-resource-usage` prints the same figures as REG and STACK; `ptxas -v` prints the barriers and the
bytes of the listed instructions (tests/frontend/test_usage.py).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.nvinfo import attributes

_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_REGCOUNT, _FRAME, _STACK = 0x2F, 0x11, 0x12
_BARRIERS, _ANNOTATIONS = 0x4C, 0x55
_SPILL = 1  # the kind of an annotation; its record is the kind and an offset
_SYMBOL = 0xFFFFFF  # the bits of sh_info that hold the symbol's number
_BARRIER_FLAGS = 20, 0x7F  # in sh_flags: the first bit, and the mask
_TEXT, _INFO, _NOTE = ".text.", ".nv.info", ".note.nv.tkinfo"
_ASSEMBLER, _LINKER = b"\0ptxas\0", b"\0nvlink\0"
_NO_END = 0xFFFFFFFF  # the stack size of a recursive function


class Usage(Record):
    """The resource usage of one function.

    registers: per thread.
    stack: bytes per thread, including callees; None also if the function is recursive.
    barriers: per block.
    spilled: byte offsets of the instructions that spill and refill; None if the file does not list them.
    spill_bytes: bytes that these store and load, if the assembler printed them.
    """

    registers: int | None = None
    stack: int | None = None
    barriers: int | None = None
    spilled: frozenset[int] | None = None
    spill_bytes: tuple[int, int] | None = None


NOTHING_KNOWN = Usage()


def usage(cubin: bytes, complete: bool = False) -> dict[str, Usage]:
    """The usage of each function, by its mangled name; {} if it is not a cubin.

    complete: the file is the output of an assembler since CUDA 12.6, so that a function without listed spills has
    none. Files that name ptxas as their writer are complete, too.
    """
    try:
        return _usage(cubin, complete)
    except (struct.error, IndexError, ValueError):
        return {}


def _usage(cubin: bytes, complete: bool) -> dict[str, Usage]:
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [_SECTION.unpack_from(cubin, table + at * size) for at in range(count)]
    names_at = headers[names_index][4]
    symbols: dict[str, int] = {}
    flags: dict[str, int] = {}
    of_module: dict[int, dict[int, int]] = {_REGCOUNT: {}, _FRAME: {}, _STACK: {}}
    own: dict[str, dict[int, bytes]] = {}
    for name_at, _, its_flags, _, offset, length, _, info, _, _ in headers:
        name = cubin[names_at + name_at : cubin.index(b"\0", names_at + name_at)].decode()
        if name.startswith(_TEXT):
            symbols[name.removeprefix(_TEXT)] = info & _SYMBOL
            flags[name.removeprefix(_TEXT)] = its_flags
        elif name == _INFO:
            for number, value in attributes(cubin[offset : offset + length]):
                if number in of_module:
                    symbol, figure = struct.unpack_from("<II", value)
                    of_module[number][symbol] = figure
        elif name.startswith(_INFO + "."):
            own[name.removeprefix(_INFO + ".")] = _joined(cubin[offset : offset + length])
        elif name == _NOTE:
            note = cubin[offset : offset + length]
            complete = complete or _ASSEMBLER in note and _LINKER not in note
    return {
        name: Usage(
            of_module[_REGCOUNT].get(symbol),
            _known(of_module[_STACK].get(symbol, of_module[_FRAME].get(symbol))),
            _barriers(own.get(name, {}), flags[name]),
            _spilled(own.get(name, {}).get(_ANNOTATIONS, b"" if complete else None)),
        )
        for name, symbol in symbols.items()
    }


def _known(stack: int | None) -> int | None:
    return None if stack == _NO_END else stack


def _joined(section: bytes) -> dict[int, bytes]:
    """Number -> value. The parts of an attribute that occurs several times are joined: one holds up to 65,535 bytes."""
    found: dict[int, bytes] = {}
    for number, value in attributes(section):
        found[number] = found.get(number, b"") + value if number == _ANNOTATIONS else value
    return found


def _barriers(own: Mapping[int, bytes], flags: int) -> int:
    start, bits = _BARRIER_FLAGS
    return int.from_bytes(own[_BARRIERS], "little") if _BARRIERS in own else flags >> start & bits


def _spilled(annotations: bytes | None) -> frozenset[int] | None:
    """The offsets; None if nothing is stated, or if there are other annotations, whose records are longer."""
    if annotations is None or len(annotations) % 8:
        return None
    records = list(struct.iter_unpack("<II", annotations))
    return frozenset(offset for _, offset in records) if all(kind == _SPILL for kind, _ in records) else None
