"""Reads the tables of a cubin's ELF file: sections, symbols, relocations.

    elf = Elf(data)
    elf.sections[3]                  Section(".text.gemm", type=1, offset=0x1200, size=0x8f0, …)
    elf.by_name[".text.gemm"].data   its bytes

A general reader (pyelftools, which `container` uses for host files) takes as long to import as everything else that
reads a cubin. What damaged tables hold is not checked: it raises one of `UNREADABLE`.

https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property

from ..records import record

CLASS_64_LITTLE = b"\x7fELF\2\1"
RELOCATABLE = 1                     # ET_REL
FUNCTION, SECTION = 2, 3            # kinds of symbols: STT_FUNC, STT_SECTION
NO_BITS = 8                         # SHT_NOBITS
RESERVED = 0xFF00                   # from here on the number of a symbol's section means something else
_EXTENDED = 0xFFFF                  # the number of the section with the names stands in the first section
_HEADER = struct.Struct("<16xHHIQQQI6H")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION, _WITH_ADDEND = struct.Struct("<QQ"), struct.Struct("<QQq")

# What reading damaged tables raises.
UNREADABLE = (struct.error, ValueError, LookupError, AttributeError, TypeError, ArithmeticError, AssertionError, MemoryError)


@record
class Section:
    """A section. entry_size: bytes of each entry of a table; link: number of another section that it needs."""

    name: str
    type: int
    offset: int
    size: int
    link: int
    entry_size: int
    file: bytes

    @property
    def data(self) -> bytes:
        return bytes(self.size) if self.type == NO_BITS else self.file[self.offset:self.offset + self.size]


class Elf:
    """The tables of a 64-bit, little-endian file. version: CUDA's before 13 is in tenths there."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(CLASS_64_LITTLE):
            raise ValueError("not a 64-bit little-endian ELF file")
        self.data = data
        (self.type, _, self.version, _, segments_at, sections_at, _,
         _, segment_size, segments, self._section_size, sections, self._names_in) = _HEADER.unpack_from(data)
        if sections_at and (not sections or self._names_in == _EXTENDED):        # more than fit in: the first section says
            _, _, _, _, _, size, link, *_ = self._header(sections_at)
            sections = sections or size
            self._names_in = link if self._names_in == _EXTENDED else self._names_in
        self._at, self._count = sections_at, sections
        self.tables_end = max(segments_at + segments * segment_size, sections_at + sections * self._section_size)

    def _header(self, at: int) -> tuple[int, ...]:
        return _SECTION.unpack_from(self.data, at)

    @cached_property
    def sections(self) -> list[Section]:
        headers = [self._header(self._at + number * self._section_size) for number in range(self._count)]
        names_at = headers[self._names_in][4] if headers else 0
        return [Section(text_at(self.data, names_at + name), type, offset, size, link, entry_size, self.data)
                for name, type, _, _, offset, size, link, _, _, entry_size in headers]

    @cached_property
    def by_name(self) -> dict[str, Section]:
        return {section.name: section for section in self.sections}

    def symbols(self) -> Iterator[tuple[str, int, int, int, int, int]]:
        """(name, kind, other, number of the section, value, size) of each symbol, in order."""
        table = self.by_name[".symtab"]
        strings = self.sections[table.link].data
        for at in range(table.offset, table.offset + table.size // table.entry_size * table.entry_size, table.entry_size):
            name_at, kind, other, section, value, size = _SYMBOL.unpack_from(self.data, at)
            yield text_at(strings, name_at), kind & 0xF, other, section, value, size

    def relocations(self, section: str) -> Iterator[tuple[int, int, int, int]]:
        """(offset, type, number of the symbol, addend) of each relocation of a section."""
        for prefix, entry in ((".rela", _WITH_ADDEND), (".rel", _RELOCATION)):
            table = self.by_name.get(prefix + section)
            for offset, info, *addend in entry.iter_unpack(table.data) if table else ():
                yield offset, info & 0xFFFFFFFF, info >> 32, addend[0] if addend else 0


def text_at(data: bytes, at: int) -> str:
    """The text that ends with the next zero."""
    return data[at:data.index(b"\0", at)].decode("utf-8", "replace")
