"""Finds cubins and PTX inside other data, as in the compilation caches of Python libraries.

    pieces(view)  ->  [Piece("cubin", 40, 9_512)]        a CuPy cache entry: a digest, then the cubin
    unpacked(b"\\x28\\xb5\\x2f\\xfd…")                     a JAX cache entry: compressed as a whole

CuPy writes a digest (and since version 14 the mangled names) before the cubin, Numba pickles its compiled code, and
JAX serialises XLA's executable and compresses it. Nothing is unpickled or executed: the data are searched for the
start of a cubin, whose ELF header tells where it ends.
"""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import UNPACKED
from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.elf import table_end

ZSTD_MAGIC, ZLIB_START = b"\x28\xb5\x2f\xfd", b"\x78"

_CUBIN = re.compile(rb"\x7fELF\x02\x01.{12}\xbe\x00", re.DOTALL)  # 64-bit, little-endian, machine 190 (EM_CUDA)
_PTX = re.compile(rb"\.version[ \t]{1,99}\d{1,9}\.\d{1,9}\s{1,99}\.target[ \t]{1,99}(\w{1,99})")
_TEXT = re.compile(rb"[\t\n\r -~]*+")
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_BYTES = 8  # SHT_NOBITS
_LONGEST_CUBIN = 1 << 31
MOST_WINDOW = 1 << 27  # bytes that zstd may look back, as its command-line program allows


class Piece(Record):
    """kind: "cubin" | "ptx". start, end: bytes in the data. arch: of PTX ("sm_90"), "" for a cubin."""

    kind: str
    start: int
    end: int
    arch: str = ""


def pieces(data: memoryview | mmap.mmap) -> list[Piece]:
    """All cubins and PTX modules in the data, in order."""
    out = list(_cubins(data))
    inside = [(piece.start, piece.end) for piece in out]
    ends = [end for _, end in inside]
    for piece in _ptx(data):
        at = bisect_right(ends, piece.start)
        if at == len(inside) or piece.start < inside[at][0]:  # else PTX that a cubin carries for debuggers
            out.append(piece)
    return sorted(out, key=lambda piece: piece.start)


def _ptx(data: memoryview | mmap.mmap) -> Iterator[Piece]:
    """Modules from their first directive to the last brace of the text that follows."""
    at = 0
    while head := _PTX.search(data, at):
        text = _TEXT.match(data, head.end())
        assert text is not None  # it matches the empty text, too
        brace = bytes(text[0]).rfind(b"}")
        if brace >= 0:
            yield Piece("ptx", head.start(), head.end() + brace + 1, head[1].decode())
        at = text.end()


def _cubins(data: memoryview | mmap.mmap) -> Iterator[Piece]:
    at = 0
    while match := _CUBIN.search(data, at):
        start = match.start()
        size = _elf_size(data, start)
        at = start + (size or 1)
        if size:
            yield Piece("cubin", start, start + size)


def _elf_size(data: memoryview | mmap.mmap, start: int) -> int | None:
    """The size in bytes of the ELF file that begins there; None if its tables end after the data."""
    try:
        _, _, _, _, programs, sections, _, _, program_size, program_count, section_size, section_count, _ = (
            _HEADER.unpack_from(data, start)
        )
        size = max(programs + program_size * program_count, sections + section_size * section_count)
        for number in range(section_count):
            _, kind, _, _, offset, length, _, _, _, _ = _SECTION.unpack_from(
                data, start + sections + number * section_size
            )
            if kind != _NO_BYTES:
                size = max(size, offset + length)
    except struct.error:
        return None
    end = start + size
    if end == len(data) + 1 == start + table_end(bytes(data[start : start + 64])):  # from CuPy: see `with_last_byte`
        end = len(data)
    return end - start if 0 < size < _LONGEST_CUBIN and end <= len(data) else None


def unpacked(data: bytes, file: str) -> bytes | None:
    """The content of a compressed file; None if it is not compressed. Raises InputError if it cannot be unpacked."""
    if data[:4] == ZSTD_MAGIC:
        return _zstd(data, file)
    if data[:1] == ZLIB_START:
        try:
            out = zlib.decompressobj().decompress(data, UNPACKED.most + 1)
        except zlib.error:
            return None
        UNPACKED.check(len(out), "it decompresses to too much data", file)
        return out
    return None


def _zstd(data: bytes, file: str) -> bytes:
    try:
        from compression import zstd  # Python 3.14

        unpack: Callable[[bytes], bytes] = lambda packed: zstd.ZstdDecompressor().decompress(packed, UNPACKED.most + 1)
        failures: tuple[type[Exception], ...] = (zstd.ZstdError, MemoryError)
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise InputError("this file is compressed (zstd)", "run `pip install zstandard`", file) from None
        unpack = lambda packed: (
            zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW).stream_reader(packed).read(UNPACKED.most + 1)
        )
        failures = (zstandard.ZstdError, MemoryError)
    try:
        out = unpack(data)
    except failures as error:
        raise InputError(f"damaged: it cannot be unpacked ({error})", "rebuild it, or copy it again", file) from error
    UNPACKED.check(len(out), "it decompresses to too much data", file)
    return out
