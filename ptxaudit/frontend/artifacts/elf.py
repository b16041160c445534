"""Checks untrusted ELF files before pyelftools, which trusts their tables, reads them.

elf = opened(data, "k.cubin")       InputError if a table ends after the file, a name is unterminated, or sections
                                    share too many bytes
content(section, "k.cubin")         its bytes, decompressed; InputError if they are too many
"""

from __future__ import annotations

import io
import mmap
import struct
import zlib
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section
from elftools.elf.structs import ELFStructs

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import MB, NAME, UNPACKED

HINT = "rebuild it, or copy it again"
_SECTIONS_AT = struct.Struct(
    "<40xQ10xHHH"
)  # in the header: offset of the section headers, bytes of one, their number, index of the names
_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_PACKED = struct.Struct("<IIQQ")  # Elf64_Chdr: kind, 0, decompressed bytes, alignment
_ZLIB = 1
_COMPRESSED = 0x800  # SHF_COMPRESSED
_WITHOUT_BYTES = (
    0,
    8,
    0x70000007,
    0x70000009,
    0x7000000A,
)  # no section, NOBITS, and global, local and shared variables of objects since CUDA 13
WITHOUT_BYTES = ("SHT_NULL", "SHT_NOBITS", *_WITHOUT_BYTES[2:])  # pyelftools' names for them
MOST_SHARED = 4  # sections per byte of the file, on average; Mercury's copies make it two
MOST_NAMES = 64 * MB  # bytes of all section names


_TABLES_AT = struct.Struct("<32xQQ6xHHHH2x")  # offsets of both header tables, size and number of their rows


def table_end(header: bytes) -> int:
    """The end of the later of an ELF file's two header tables, from its first 64 bytes. Raises struct.error."""
    programs, sections, program_size, program_count, section_size, section_count = _TABLES_AT.unpack_from(header)
    return int(max(programs + program_size * program_count, sections + section_size * section_count))


def with_last_byte(data: bytes) -> bytes:
    """Appends the last byte of a cubin whose last table lacks it: the high byte of a size or an alignment, hence 0.

    CuPy takes that byte for the terminator of a string (getCUBIN in cupy_backends/cuda/libs/nvrtc.pyx) and neither
    loads nor stores it.
    """
    try:
        return data + b"\0" if table_end(data[:64]) == len(data) + 1 else data
    except struct.error:
        return data


def opened(data: bytes | mmap.mmap, file: str) -> ELFFile:
    """The file, opened with pyelftools. Raises InputError for tables that would be too expensive to read."""
    headers = list(_headers(data, file))
    size = names = 0
    _, _, _, which = _SECTIONS_AT.unpack_from(data)
    _, _, _, _, names_at, names_size, *_ = headers[which] if which < len(headers) else (0,) * 6
    for name, kind, _, _, _begin, length, *_ in headers:
        if kind not in _WITHOUT_BYTES:
            size += length
        end = (
            data.find(b"\0", names_at + name, min(names_at + names_size, names_at + name + NAME.most))
            if name < names_size
            else -1
        )
        if end < 0:
            raise InputError("damaged cubin: the name of a section has no end, or is too long", HINT, file)
        names += end - names_at - name
    if size > MOST_SHARED * len(data):
        raise InputError("damaged cubin: its sections share the same bytes", HINT, file)
    if names > MOST_NAMES:
        raise InputError("damaged cubin: the names of its sections are too long", HINT, file)
    stream: Any = data if isinstance(data, mmap.mmap) else io.BytesIO(data)  # a map offers the needed methods of a file
    return _File(stream)


class _Structs(ELFStructs):
    """The layouts of an ELF file's tables, shared by all files of a kind.

    They are some thousand objects, which take longer to make than a small cubin takes to read.
    """

    def create_basic_structs(self) -> None:
        vars(self).update(_basic(self.little_endian, self.elfclass))

    def create_advanced_structs(self, *of: Any) -> None:
        vars(self).update(_advanced(self.little_endian, self.elfclass, *of))


@cache
def _basic(little_endian: bool, bits: int) -> dict[str, Any]:
    structs = ELFStructs(little_endian, bits)
    structs.create_basic_structs()
    return vars(structs)


@lru_cache(maxsize=16)  # bounded: a damaged file may contain any type and machine number
def _advanced(little_endian: bool, bits: int, *of: Any) -> dict[str, Any]:
    structs = ELFStructs(little_endian, bits)
    structs.create_basic_structs()
    structs.create_advanced_structs(*of)
    return vars(structs)


class _File(ELFFile):
    """An ELF file whose `structs` are shared."""

    @property
    def structs(self) -> ELFStructs:
        return self._structs

    @structs.setter
    def structs(self, made: ELFStructs) -> None:
        self._structs = _Structs(made.little_endian, made.elfclass)


def _headers(data: bytes | mmap.mmap, file: str) -> Iterator[tuple[int, ...]]:
    """The section headers. Raises InputError if the file does not contain them all."""
    begin, size, count, _ = _SECTIONS_AT.unpack_from(data)
    if size != _SECTION.size or not count:
        raise InputError("damaged cubin: it has no table of sections", HINT, file)
    if begin + size * count > len(data):
        raise InputError("truncated cubin: its tables extend beyond the end of the file", "copy it again", file)
    yield from _SECTION.iter_unpack(data[begin : begin + size * count])


def content(section: Section, file: str) -> bytes:
    """The bytes of a section, decompressed; empty if it has none in the file.

    Raises InputError if they cannot be decompressed.
    """
    if section["sh_type"] in WITHOUT_BYTES:
        return b""
    if not section["sh_flags"] & _COMPRESSED:
        return section.data()
    section.stream.seek(section["sh_offset"])
    packed = section.stream.read(section["sh_size"])
    try:
        kind, _, size, _ = _PACKED.unpack_from(packed)
        UNPACKED.check(size, f"section {section.name} decompresses to too much data", file)
        if kind != _ZLIB:
            raise InputError(f"section {section.name} is compressed in an unknown format", HINT, file)
        out = zlib.decompressobj().decompress(packed[_PACKED.size :], size + 1)
    except (struct.error, zlib.error) as error:
        raise InputError(f"damaged cubin: section {section.name} cannot be unpacked ({error})", HINT, file) from None
    if len(out) != size:
        raise InputError(f"damaged cubin: section {section.name} does not have the bytes that it says", HINT, file)
    return out
