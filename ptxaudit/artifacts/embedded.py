"""Finds cubins and PTX that lie inside other data, as the compilation caches of Python libraries keep them.

    pieces(view)  ->  [Piece("cubin", 40, 9_512)]        a CuPy cache entry: a digest, then the cubin
    unpacked(b"\\x28\\xb5\\x2f\\xfd…")                     a JAX cache entry: all of it is compressed

CuPy writes a digest (and from version 14 on the mangled names) before the cubin, Numba pickles
its compiled code, JAX serialises XLA's executable and compresses it. Nothing is unpickled or run:
the data are searched for what a cubin begins with, and its ELF header says where it ends.
"""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from collections.abc import Iterator

from ..errors import InputError
from ..records import record

ZSTD_MAGIC, ZLIB_START = b"\x28\xb5\x2f\xfd", b"\x78"
MOST_UNPACKED = 1 << 30             # bytes: a small file must not fill the memory

_CUBIN = re.compile(rb"\x7fELF\x02\x01.{12}\xbe\x00", re.DOTALL)        # 64 bit, little-endian, machine 190 (EM_CUDA)
_PTX = re.compile(rb"\.version[ \t]+\d+\.\d+\s+\.target[ \t]+\w+[\t\n\r -~]+\}")
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_BYTES = 8                       # SHT_NOBITS
_TARGET = re.compile(rb"\.target[ \t]+(\w+)")
_LONGEST_CUBIN = 1 << 31


@record
class Piece:
    """kind: "cubin" | "ptx"; bytes start to end of the data; arch: of PTX ("sm_90"), "" of a cubin."""

    kind: str
    start: int
    end: int
    arch: str = ""


def pieces(data: memoryview | mmap.mmap) -> list[Piece]:
    """All cubins and PTX modules in the data, in their order."""
    out = list(_cubins(data))
    inside = [(piece.start, piece.end) for piece in out]
    for match in _PTX.finditer(data):
        if not any(start <= match.start() < end for start, end in inside):        # PTX that a cubin carries for debuggers
            out.append(Piece("ptx", match.start(), match.end(), _TARGET.search(match[0])[1].decode()))
    return sorted(out, key=lambda piece: piece.start)


def _cubins(data: memoryview | mmap.mmap) -> Iterator[Piece]:
    at = 0
    while match := _CUBIN.search(data, at):
        start = match.start()
        size = _elf_size(data, start)
        at = start + (size or 1)
        if size:
            yield Piece("cubin", start, start + size)


def _elf_size(data: memoryview | mmap.mmap, start: int) -> int | None:
    """Bytes of the ELF file that begins there, None when its tables end after the data."""
    try:
        _, _, _, _, programs, sections, _, _, program_size, program_count, section_size, section_count, _ = _HEADER.unpack_from(data, start)
        size = max(programs + program_size * program_count, sections + section_size * section_count)
        for number in range(section_count):
            _, kind, _, _, offset, length, _, _, _, _ = _SECTION.unpack_from(data, start + sections + number * section_size)
            if kind != _NO_BYTES:
                size = max(size, offset + length)
    except struct.error:
        return None
    return size if 0 < size < _LONGEST_CUBIN and start + size <= len(data) else None


def unpacked(data: bytes, file: str) -> bytes | None:
    """What a compressed file holds, None when it is not one. Raises InputError when it cannot be unpacked here."""
    if data[:4] == ZSTD_MAGIC:
        return _zstd(data, file)
    if data[:1] == ZLIB_START:
        try:
            return zlib.decompressobj().decompress(data, MOST_UNPACKED)
        except zlib.error:
            return None
    return None


def _zstd(data: bytes, file: str) -> bytes:
    try:
        from compression import zstd         # Python 3.14
        unpack = zstd.decompress
        failures: tuple = (zstd.ZstdError,)
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise InputError("this file is compressed (zstd)", "run `pip install zstandard`", file) from None
        unpack = lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        failures = (zstandard.ZstdError,)
    try:
        return unpack(data)
    except failures as error:
        raise InputError(f"damaged: it cannot be unpacked ({error})", "build or copy it again", file) from error
