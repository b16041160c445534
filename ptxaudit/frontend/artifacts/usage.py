"""Reads what each function of a cubin takes: registers, stack, barriers, and where registers were spilled.

    usage(b"\\x7fELF…")  ->  {"_Z4gemmPf": Usage(registers=40, stack=16, barriers=1, spilled=frozenset({0x210, 0x5f0}))}

The module-wide `.nv.info` has an attribute a function for registers (REGCOUNT, 0x2f) and for the frame on the
stack (MIN_STACK_SIZE, 0x12, with what it calls; FRAME_SIZE, 0x11, without): its symbol's number, and the figure. The
symbol's number is in the low bytes of `sh_info` of the function's `.text.` section. Barriers are an attribute of
the function since CUDA 13 (NUM_BARRIERS, 0x4c), before that bits 20 to 26 of the section's flags. Since CUDA 12.6
ANNOTATIONS (0x55) of a function names the instructions that spill and refill registers, where there are any.

Since CUDA 13 a note says which program wrote the file: where that was ptxas, no annotation means no spill. (A linker
passes on what older assemblers made.)

`cuobjdump --dump-resource-usage` prints the same as REG and STACK, `ptxas -v` the barriers and the bytes of the
instructions that are named (tests/test_usage.py).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.nvinfo import attributes

_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_REGCOUNT, _FRAME, _STACK = 0x2F, 0x11, 0x12
_BARRIERS, _ANNOTATIONS = 0x4C, 0x55
_SPILL = 1  # the kind of an annotation; a record of it is the kind and an offset
_SYMBOL = 0xFFFFFF  # the bits of sh_info that number the symbol
_BARRIER_FLAGS = 20, 0x7F  # of sh_flags: where they start, and how many
_TEXT, _INFO, _NOTE = ".text.", ".nv.info", ".note.nv.tkinfo"
_ASSEMBLER, _LINKER = b"\0ptxas\0", b"\0nvlink\0"
_NO_END = 0xFFFFFFFF  # of the stack of a function that calls itself


class Usage(Record):
    """registers: of a thread; stack: bytes of a thread, with what the function calls, None also where it calls itself;
    barriers: of a block; spilled: byte offsets of the instructions that spill and refill, None where the file does not
    name them; spill_bytes: what these store and load, where the assembler said it."""

    registers: int | None = None
    stack: int | None = None
    barriers: int | None = None
    spilled: frozenset[int] | None = None
    spill_bytes: tuple[int, int] | None = None


NOTHING_KNOWN = Usage()


def usage(cubin: bytes, complete: bool = False) -> dict[str, Usage]:
    """What each function takes, by its mangled name; {} for what is no cubin.

    complete: the file is as an assembler since CUDA 12.6 made it, so that what names no spill has none; a file that
    says so is.
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
    """Number -> value, of an attribute that is there several times end to end: one holds 65,535 bytes."""
    found: dict[int, bytes] = {}
    for number, value in attributes(section):
        found[number] = found.get(number, b"") + value if number == _ANNOTATIONS else value
    return found


def _barriers(own: Mapping[int, bytes], flags: int) -> int:
    start, bits = _BARRIER_FLAGS
    return int.from_bytes(own[_BARRIERS], "little") if _BARRIERS in own else flags >> start & bits


def _spilled(annotations: bytes | None) -> frozenset[int] | None:
    """The offsets; None where nothing is said, or other annotations are among them, whose records are longer."""
    if annotations is None or len(annotations) % 8:
        return None
    records = list(struct.iter_unpack("<II", annotations))
    return frozenset(offset for _, offset in records) if all(kind == _SPILL for kind, _ in records) else None
