"""Reads a cubin's line tables: where each instruction comes from in the source and in the PTX.

    table = source_lines(cubin)
    table.at("_Z4kernPf", 0x10)   Source("inl.cu", 2, inlined=(Frame("inl.cu", 6, "_Z4leafPfi"), Frame("inl.cu", 19,
                                  "_Z3midPfi")))
    ptx_lines(cubin).at("_Z4kernPf", 0x10)     Source("", 41): line 41 of ptx_text(cubin)

`-lineinfo` writes `.debug_line`, a DWARF line program (DWARF 4, section 6.2) with two extended opcodes of NVIDIA's
for inlining. 0x90 says that the following rows belong to a function (an offset in `.debug_str`) inlined at an earlier
row (a number, counted from 1 in its sequence; 0 = not inlined); 0x91 only names the function. `.nv_debug_line_sass`
is ptxas's own map from instructions to lines of the PTX, whose text is in `.nv_debug_ptx_txt`. (test_lines.py
compares this with `nvdisasm -gi` and `-gp`.)
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator

from elftools.elf.elffile import ELFFile
from msgspec import Struct, field

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.cubin import RELOCATIONS, SYMBOL, UNREADABLE, Cubin
from ptxaudit.frontend.artifacts.elf import content, opened
from ptxaudit.frontend.source_text import unescaped
from ptxaudit.ir.nodes import Frame, Source

SOURCE_SECTION, PTX_SECTION, PTX_TEXT = ".debug_line", ".nv_debug_line_sass", ".nv_debug_ptx_txt"
# DWARF's numbers: standard opcodes, then extended ones.
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _CONST_ADD_PC, _FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
_END_SEQUENCE, _SET_ADDRESS, _DEFINE_FILE = 1, 2, 3
_INLINED_CALL, _SET_FUNCTION_NAME = 0x90, 0x91
_MOST_BITS = 70  # of a LEB128 number, seven per byte
_ESCAPED_END = re.compile(r"\\[23][0-7]{2}$")
_DEEPEST = 64  # levels of inlining: limits loops in a damaged table


class _Row(Struct):
    """One row of the line matrix. context: the number of the row at which it was inlined, 0 = none."""

    address: int = 0
    file: int = 1
    line: int = 1
    context: int = 0
    function: int = 0

    def copy(self) -> _Row:
        return _Row(self.address, self.file, self.line, self.context, self.function)


class LineTable(Record):
    """function -> the byte offsets of its rows, ascending, and their positions."""

    places: dict[str, tuple[list[int], list[Source | None]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.places)

    def at(self, function: str, offset: int) -> Source | None:
        """The position of the instruction at a byte offset; None if the table has none."""
        offsets, sources = self.places.get(function, ([], []))
        row = bisect_right(offsets, offset) - 1
        return sources[row] if row >= 0 else None


def source_lines(cubin: Cubin) -> LineTable:
    """Positions in the CUDA (or Python, …) source; empty without `-lineinfo`."""
    return _table(cubin, SOURCE_SECTION)


def ptx_lines(cubin: Cubin) -> LineTable:
    """Positions in the PTX that ptxas assembled; the line numbers are those of `ptx_text`."""
    return _table(cubin, PTX_SECTION)


def ptx_text(cubin: Cubin) -> str:
    """The PTX that the cubin was assembled from, "" if the file does not contain it."""
    sections = [
        section for section in _elf(cubin).iter_sections() if section.name.startswith(PTX_TEXT)
    ]  # objects number them
    return (
        content(sections[0], cubin.file).replace(b"\0", b"\n").decode("utf-8", "replace") if len(sections) == 1 else ""
    )


def _elf(cubin: Cubin) -> ELFFile:
    return opened(cubin.elf, cubin.file)


def _table(cubin: Cubin, name: str) -> LineTable:
    try:
        elf = _elf(cubin)
        section = elf.get_section_by_name(name)
        if section is None:
            return LineTable()
        names = elf.get_section_by_name(".debug_str")
        owners = _owners(elf, name, cubin.file)
        return LineTable(
            _read(content(section, cubin.file), content(names, cubin.file) if names is not None else b"", owners)
        )
    except UNREADABLE as error:
        raise InputError(
            f"damaged line table in section {name}",
            "its source lines are not shown",
            cubin.file,
            detail=f"{type(error).__name__}: {error}",
        ) from error


def _owners(elf: ELFFile, name: str, file: str) -> dict[int, tuple[str, int]]:
    """position in the section -> (function, offset) of the address that a relocation puts there."""
    out = {}
    table = elf.get_section_by_name(".symtab")
    symbols = list(SYMBOL.iter_unpack(content(table, file))) if table is not None else []
    sections = [section.name for section in elf.iter_sections()]
    for prefix, form in RELOCATIONS:
        relocations = elf.get_section_by_name(prefix + name)
        for place, info, *addend in (
            form.iter_unpack(content(relocations, file)) if relocations is not None and symbols else ()
        ):
            _, _, _, section, value, _ = symbols[info >> 32]
            owner = sections[section] if section < len(sections) else ""
            out[place] = (owner.removeprefix(".text."), value + (addend[0] if addend else 0))
    return out


def _read(
    data: bytes, names: bytes, owners: dict[int, tuple[str, int]]
) -> dict[str, tuple[list[int], list[Source | None]]]:
    found: dict[str, dict[int, Source | None]] = {}
    at = 0
    while at + 4 <= len(data):
        unit = _Unit(data, at, names, owners)
        for function, rows in unit.sequences():
            places = found.setdefault(function, {})
            for row in rows:  # the last row of an address counts
                places[row.address] = unit.source(row, rows)
        at = unit.end
    return {
        function: (sorted(places), [places[o] for o in sorted(places)])
        for function, places in found.items()
        if function
    }


def _joined(folder: str, file: str) -> str:
    """A file's path. ptxas takes an escaped byte's backslash for the end of the folder: `c\\303`, `266lumn.cu`."""
    if file.startswith("/") or not folder:
        return file
    torn = file[:3].isdecimal() and _ESCAPED_END.search(folder)
    return f"{folder}\\{file}" if torn else f"{folder}/{file}"


class _Unit:
    """One line program: its header, and the rows that it generates."""

    def __init__(self, data: bytes, at: int, names: bytes, owners: dict[int, tuple[str, int]]):
        self.data, self.names, self.owners = data, names, owners
        length, version = struct.unpack_from("<IH", data, at)
        if not 2 <= version <= 4:
            raise ValueError(f"line program of version {version}")
        self.end = at + 4 + length
        header_length = struct.unpack_from("<I", data, at + 6)[0]
        self.program = at + 10 + header_length
        at += 10
        self.step = data[at]
        at += 2 if version == 4 else 1  # version 4 adds operations per instruction
        self.line_base, self.line_range, self.opcode_base = struct.unpack_from("<bBB", data, at + 1)
        self.lengths = data[at + 4 : at + 3 + self.opcode_base]
        at += 3 + self.opcode_base
        self.files = [""]
        self.folders = [""]
        while data[at]:
            text, at = self._text(at)
            self.folders.append(text)
        at += 1
        while data[at]:
            at = self._add_file(at)

    def _add_file(self, at: int) -> int:
        """Reads an entry of the table of files: name, number of the folder, time and length; returns its end."""
        text, at = self._text(at)
        folder, at = self._uleb(at)
        self.files.append(_joined(self.folders[folder], text))
        return self._uleb(self._uleb(at)[1])[1]

    def _text(self, at: int) -> tuple[str, int]:
        end = self.data.index(b"\0", at)
        return self.data[at:end].decode("utf-8", "replace"), end + 1

    def _uleb(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while shift < _MOST_BITS:
            byte = self.data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if not byte & 0x80:
                return value, at
        raise ValueError("a number of more than 64 bits")

    def _sleb(self, at: int) -> tuple[int, int]:
        value, end = self._uleb(at)
        bits = 7 * (end - at)
        return (value - (1 << bits) if self.data[end - 1] & 0x40 else value), end

    def sequences(self) -> Iterator[tuple[str, list[_Row]]]:
        """(function, rows in program order) of each sequence."""
        at, state, rows, function = self.program, _Row(), [], ""
        while at < self.end:
            opcode = self.data[at]
            at += 1
            if opcode >= self.opcode_base:
                steps, lines = divmod(opcode - self.opcode_base, self.line_range)
                state.address += steps * self.step
                state.line += self.line_base + lines
                rows.append(state.copy())
            elif opcode:
                at = self._standard(opcode, at, state)
                if opcode == _COPY:
                    rows.append(state.copy())
            else:
                size, begin = self._uleb(at)
                kind, at = self.data[begin], begin + size
                if kind == _END_SEQUENCE:
                    yield function, rows
                    state, rows, function = _Row(), [], ""
                elif kind == _SET_ADDRESS:
                    function, offset = self.owners.get(begin + 1, (function, 0))
                    state.address = offset + int.from_bytes(self.data[begin + 1 : at], "little")
                else:
                    self._extended(kind, begin + 1, state)
        if rows:
            yield function, rows

    def _extended(self, kind: int, at: int, state: _Row) -> None:
        if kind == _INLINED_CALL:
            state.context, at = self._uleb(at)
            state.function, at = self._uleb(at)
        elif kind == _SET_FUNCTION_NAME:
            state.function, at = self._uleb(at)
        elif kind == _DEFINE_FILE:
            self._add_file(at)

    def _standard(self, opcode: int, at: int, state: _Row) -> int:
        """Executes a standard opcode; returns the offset of the next one."""
        if opcode == _ADVANCE_PC:
            value, at = self._uleb(at)
            state.address += value * self.step
        elif opcode == _ADVANCE_LINE:
            value, at = self._sleb(at)
            state.line += value
        elif opcode == _SET_FILE:
            state.file, at = self._uleb(at)
        elif opcode == _CONST_ADD_PC:
            state.address += (255 - self.opcode_base) // self.line_range * self.step
        elif opcode == _FIXED_ADVANCE_PC:
            state.address += struct.unpack_from("<H", self.data, at)[0]
            at += 2
        else:
            for _ in range(self.lengths[opcode - 1]):
                _, at = self._uleb(at)
        return at

    # --- rows as positions ---

    def source(self, row: _Row, rows: list[_Row]) -> Source | None:
        """The position of a row with the positions at which it was inlined, innermost first."""
        frames: list[Frame] = []
        inner = row
        while inner.context and len(frames) < _DEEPEST and inner.context <= len(rows):
            outer = rows[inner.context - 1]
            frames.append(Frame(self._file(outer.file), outer.line, self._name(inner.function)))
            inner = outer
        return Source(self._file(row.file), row.line, inlined=tuple(frames)) if row.line > 0 else None

    def _file(self, number: int) -> str:
        return unescaped(self.files[number]) if 0 <= number < len(self.files) else ""

    def _name(self, offset: int) -> str:
        end = self.names.find(b"\0", offset)
        return self.names[offset:end].decode("utf-8", "replace") if end >= 0 else ""
