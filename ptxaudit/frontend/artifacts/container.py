"""Finds the device code in a file: cubins, PTX, fat binaries, host objects, programs, libraries, archives.

    images("libkernels.so")  ->  [Image("libkernels.so#1", kind="cubin", arch="sm_80", …), Image(…, kind="ptx", …), …]
    for image, data in read_images(chosen): …      data: bytes, or an InputError if the image is damaged

Listing reads only headers, and the file is mapped, so that a library of hundreds of megabytes costs only what is
extracted. A fat binary is a header and a chain of entries, each with a header that describes it. Uncompressed entries
are taken directly; the vendor's extractor decompresses the others, a batch per process. (It is not used on whole
files, because it gives up on all images of a file if it rejects one.)
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ptxaudit.base import files, limits, temporary, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.cubin import ELF_MAGIC, UNREADABLE, architecture
from ptxaudit.frontend.artifacts.elf import opened
from ptxaudit.frontend.artifacts.embedded import ZLIB_START, ZSTD_MAGIC, pieces, unpacked
from ptxaudit.frontend.compile import toolchains

FATBIN_MAGIC = bytes.fromhex("50ed55ba")
ARCHIVE_MAGIC = b"!<arch>\n"
_HEADER = struct.Struct("<4sHHQ")  # magic, version, size of the header, bytes that follow
_ENTRY = struct.Struct("<HHIQI")  # kind, version, header bytes, payload bytes, compressed bytes
_ARCH_AT, _NAME_AT, _FLAGS_AT, _ENTRY_HEADER = 28, 32, 40, 64
_NAME_BYTES = 8  # offset and length of an entry's source name
_KINDS = {1: "ptx", 2: "cubin"}
_COMPRESSED = 0x2000 | 0x8000  # LZ4; zstd
_SECTIONS = (".nv_fatbin", "__nv_relfatbin")  # linked device code; relocatable device code
_MEMBER = struct.Struct("16s12s6s6s8s10s2s")  # an archive member's header
_ELF_HEADER = struct.Struct("<40xQ10xHH2x")  # offset of the section headers, bytes of one, their number
_MACHINE_AT, _EM_AMDGPU = 18, 224  # in an ELF header; as in the ELF machine registry
_HEAP_BYTES = 8 << 20  # compressed bytes that one process decompresses
_WINDOW, _MOST_WINDOWS = 1 << 20, 32  # bytes searched at a time, and number of windows kept in memory


class Image(Record):
    """One piece of device code.

    name: file, member of an archive, and number.
    kind: "cubin" | "ptx" | "damaged".
    arch: "sm_90".
    damage: why the data there, or after it, cannot be read.
    """

    name: str
    kind: str
    arch: str
    _payload: memoryview
    _entry: memoryview | None = None  # with its header, if compressed
    damage: InputError | None = None

    @property
    def size(self) -> int:
        """Bytes in the file, compressed or not."""
        return len(self._payload)

    @property
    def compressed(self) -> bool:
        return self._entry is not None


class NoDeviceCode(InputError):
    """A file without device code, as far as it can be read."""


def images(file: str, data: bytes | mmap.mmap | None = None) -> list[Image]:
    """All device code of a file, in file order, including damaged places.

    data: the content, if it is not a file on disk. Raises InputError if there is none, or nothing but damage.
    """
    view = memoryview(data) if data is not None else _mapped(file)
    if architecture(bytes(view[:64])) is not None:
        return [Image(file, "cubin", f"sm_{architecture(bytes(view[:64]))}", view)]
    found: list[Image] = []
    if bytes(view[:4]) not in (FATBIN_MAGIC, ELF_MAGIC, ARCHIVE_MAGIC[:4]):
        found = _embedded(view, file)
        if found:
            return found
    try:
        for member, part in _members(view, file):
            name = f"{file}:{member}" if member else file
            for region in _regions(part):
                found.extend(_entries(part, region, name, len(found)))
            _check_whole(part, name)
    except InputError as error:
        found.append(_damaged(error))
    if all(image.damage for image in found):
        raise next((image.damage for image in found), None) or _nothing(view, file)
    return found


def _nothing(view: memoryview, file: str) -> NoDeviceCode:
    """The error for a file without device code, with the reason."""
    if bytes(view[:4]) == ELF_MAGIC and int.from_bytes(view[_MACHINE_AT : _MACHINE_AT + 2], "little") == _EM_AMDGPU:
        return NoDeviceCode("this is code for a GPU of AMD", "ptxaudit reads NVIDIA's PTX and machine code", file)
    return NoDeviceCode(
        "no device code in this file", "name a cubin, a fat binary, or an executable or library that embeds one", file
    )


def _damaged(error: InputError) -> Image:
    """A placeholder for what cannot be read."""
    return Image(error.file or "", "damaged", "", memoryview(b""), damage=error)


def _check_whole(view: memoryview, file: str) -> None:
    """Raises InputError for a truncated object, program or library: the missing part may have held device code."""
    if bytes(view[:5]) != ELF_MAGIC + b"\2" or len(view) < _ELF_HEADER.size:
        return
    at, size, count = _ELF_HEADER.unpack_from(view)
    if at + size * count > len(view):
        raise InputError("truncated: its tables extend beyond the end of the file", "copy it again", file)


def _embedded(view: memoryview, file: str) -> list[Image]:
    """The images in an entry of a compilation cache."""
    inner = unpacked(bytes(view), file) if bytes(view[:4]) == ZSTD_MAGIC or bytes(view[:1]) == ZLIB_START else None
    view = memoryview(inner) if inner else view
    out = []
    for number, piece in enumerate(pieces(view), 1):
        payload = view[piece.start : piece.end]
        arch = piece.arch or f"sm_{architecture(bytes(payload[:64]))}"
        out.append(Image(f"{file}#{number}", piece.kind, arch, payload))
    return out


def _mapped(file: str) -> memoryview:
    try:
        with files.opened(file, regular=True) as handle:
            if os.fstat(handle.fileno()).st_size == 0:
                raise InputError("an empty file", "rebuild it, or copy it again", file)
            return memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "", file) from error


def _members(view: memoryview, file: str) -> Iterator[tuple[str, memoryview]]:
    """(name, content) of an archive's members; the file itself if it is not an archive."""
    if bytes(view[: len(ARCHIVE_MAGIC)]) != ARCHIVE_MAGIC:
        yield "", view
        return
    at, long_names = len(ARCHIVE_MAGIC), b""
    while at + _MEMBER.size <= len(view):
        raw, _, _, _, _, size, end = _MEMBER.unpack_from(view, at)
        if end != b"`\n" or not size.strip().isdigit():
            raise InputError(f"damaged archive: no member at byte {at}", "build it again", file)
        begin, length = at + _MEMBER.size, int(size)
        name = raw.decode("utf-8", "replace").rstrip()
        if name == "//":
            long_names = bytes(view[begin : begin + length])
        elif name[:1] == "/" and name[1:].isdigit():
            start = int(name[1:])
            name = long_names[start : long_names.find(b"/\n", start)].decode("utf-8", "replace")
        if name not in ("/", "//", "/SYM64/"):
            yield name.rstrip("/"), view[begin : begin + length]
        if begin + length > len(view):
            raise InputError(
                f"truncated archive: the member at byte {at} extends beyond the end of the file", "copy it again", file
            )
        at = begin + length + length % 2


class _Region(NamedTuple):
    """Bytes of a file in which fat binaries may lie.

    kept: the region is meant for them, so a broken one is damage; elsewhere, in tables and code, a broken one is a
    chance occurrence of the magic number.
    """

    start: int
    end: int
    kept: bool = True


def _regions(view: memoryview) -> list[_Region]:
    """Where fat binaries may lie: their sections, then everything around these (cuFFT has its kernels in .ldata)."""
    if bytes(view[:4]) == ELF_MAGIC:
        try:
            return _around_sections(view)
        except (InputError, *UNREADABLE):
            pass  # a damaged or unusual ELF file: search all of it
    return [_Region(0, len(view))]


def _around_sections(view: memoryview) -> list[_Region]:
    """For an ELF file: the first section with fat binaries, and everything outside such sections."""
    elf = opened(_whole_map(view) or bytes(view), "")
    sections = [elf.get_section_by_name(name) for name in _SECTIONS]
    places = [(one["sh_offset"], one["sh_offset"] + one["sh_size"]) for one in sections if one and one["sh_size"]]
    if not places:
        return [_Region(0, len(view))]
    found = [_Region(*places[0])]
    at = 0
    for start, end in (*sorted(places), (len(view), len(view))):
        if at < start:
            found.append(_Region(at, start, kept=False))
        at = max(at, end)
    return found


def _entries(view: memoryview, region: _Region, name: str, before: int) -> Iterator[Image]:
    """The images of all fat binaries in a region. One with a broken chain of entries is damaged from there on."""
    number = before
    spare = (
        region.end - region.start
    ) // _ENTRY_HEADER  # limits the entries visited in chains that turn out broken to those of one pass
    at = _find(view, region.start, region.end)
    while at >= 0:
        _, version, header, size = _HEADER.unpack_from(view, at) if at + _HEADER.size <= len(view) else (0, 0, 0, 0)
        chance = version != 1 or header < _HEADER.size
        if not chance and not region.kept:
            chance, walked = _broken(view, at + header, at + header + size)
            spare -= walked if chance else 0
        if spare < 0:
            yield _damaged(
                InputError(f"too many broken fat binaries before byte {at:#x}: the rest is not searched", "", name)
            )
            return
        if chance:
            at = _find(view, at + 1, region.end)  # a chance occurrence in code that handles fat binaries
            continue
        place, last = at + header, at + header + size
        try:
            while place < last:
                image, place = _entry(view, place, min(last, len(view)), f"{name}#{number + 1}", name)
                if image is not None:
                    number += 1
                    yield image
        except InputError as error:
            number += 1
            yield _damaged(error)
            last = place + 1
        at = _find(view, last, region.end)


def _broken(view: memoryview, place: int, last: int) -> tuple[bool, int]:
    """(whether a chain of entries does not end where its header says, the number of entries visited)."""
    walked = 0
    if not place < last <= len(view):
        return True, walked
    try:
        while place < last:
            walked += 1
            _, place = _entry(view, place, last, "", "")
    except InputError:
        return True, walked
    return place != last, walked


def _find(view: memoryview, start: int, end: int) -> int:
    """The offset of the next fat binary, or -1. Searches window by window, without copying the whole."""
    for number, window in enumerate(range(start, end, _WINDOW), 1):
        if number % _MOST_WINDOWS == 0:
            _forget(view)
        at = bytes(view[window : min(end, window + _WINDOW + len(FATBIN_MAGIC) - 1)]).find(FATBIN_MAGIC)
        if at >= 0:
            return window + at
    return -1


def _whole_map(view: memoryview) -> mmap.mmap | None:
    """The mapped file, which can be searched and read without a copy; None if the view is not a whole mapped file."""
    return view.obj if isinstance(view.obj, mmap.mmap) and len(view) == len(view.obj) else None


def _entry(view: memoryview, place: int, last: int, name: str, file: str) -> tuple[Image | None, int]:
    """(the image, or None for other kinds of entries; the offset of the next entry)."""
    if place + _ENTRY_HEADER > last:
        raise InputError(
            f"damaged fat binary: an entry at byte {place:#x} is cut off", "rebuild it, or copy it again", file
        )
    kind, _, header, size, _ = _ENTRY.unpack_from(view, place)
    following = place + header + size
    if header < _ENTRY_HEADER or following > last:
        raise InputError(
            f"damaged fat binary: the entry at byte {place:#x} ends after its file does",
            "rebuild it, or copy it again",
            file,
        )
    if kind not in _KINDS:
        return None, following
    arch = struct.unpack_from("<I", view, place + _ARCH_AT)[0]
    flags = struct.unpack_from("<Q", view, place + _FLAGS_AT)[0]
    entry = view[place:following] if flags & _COMPRESSED else None
    return Image(name, _KINDS[kind], f"sm_{arch}", view[place + header : following], entry), following


# --- contents -------------------------------------------------------------------------------


def read_images(chosen: Sequence[Image]) -> Iterator[tuple[Image, bytes | InputError]]:
    """(image, content) in order; an InputError in place of content that cannot be decompressed."""
    heap: list[Image] = []
    for image in chosen:
        heap.append(image)
        if sum(len(i._payload) for i in heap) > _HEAP_BYTES:
            yield from _read_heap(heap)
            _forget(heap[0]._payload)
            heap = []
    yield from _read_heap(heap)


def _forget(view: memoryview) -> None:
    """Releases the pages of a mapped file that were read, which would otherwise stay in memory."""
    whole = view.obj
    if isinstance(whole, mmap.mmap):
        whole.madvise(mmap.MADV_DONTNEED)


def _read_heap(heap: list[Image]) -> Iterator[tuple[Image, bytes | InputError]]:
    together = _unpack([image for image in heap if image.compressed])
    for image in heap:
        if image.damage is not None:
            yield image, image.damage
            continue
        if not image.compressed:
            payload = bytes(image._payload)
            yield image, payload.rstrip(b"\0") if image.kind == "ptx" else payload
            continue
        unpacked = (_unpack([image]) or {}) if together is None else together
        if image.name in unpacked:
            yield image, unpacked[image.name]
        else:
            yield (
                image,
                InputError(
                    "damaged fat binary: this image cannot be unpacked", "rebuild it, or copy it again", image.name
                ),
            )


def _nameless(entry: memoryview) -> bytes:
    """An entry without the name of its source: the extractor would name files by it, and names may collide."""
    return bytes(entry[:_NAME_AT]) + bytes(_NAME_BYTES) + bytes(entry[_NAME_AT + _NAME_BYTES :])


def _unpack(packed: list[Image]) -> dict[str, bytes | InputError] | None:
    """name -> content of compressed images; None if the extractor rejects them, or they are too large together."""
    if not packed:
        return {}
    tool = toolchains.get("cuobjdump").path
    body = b"".join(_nameless(image._entry) for image in packed if image._entry is not None)
    out: dict[str, bytes | InputError] = {}
    size = 0
    with temporary.folder() as folder:
        Path(folder, "heap.fatbin").write_bytes(_HEADER.pack(FATBIN_MAGIC, 1, _HEADER.size, len(body)) + body)
        for kind, option, suffix in (("cubin", "--extract-elf", "cubin"), ("ptx", "--extract-ptx", "ptx")):
            wanted = [image for image in packed if image.kind == kind]
            if not wanted:
                continue
            try:
                done = vendor.run([tool, option, "all", "heap.fatbin"], limits.TOOL_TIME, cwd=folder, temporary=folder)
            except OSError as error:
                raise InputError(f"the extractor cannot be run: {error}", toolchains.how_to_add("cuobjdump")) from error
            made = {int(path.name.split(".")[1]): path for path in Path(folder).glob(f"heap.*.{suffix}")}
            if done.status or sorted(made) != list(range(1, len(wanted) + 1)):
                return None
            size += sum(path.stat().st_size for path in made.values())
            if size > limits.UNPACKED.most:
                return (
                    None
                    if len(packed) > 1
                    else {packed[0].name: limits.UNPACKED.passed("it decompresses to too much data", packed[0].name)}
                )
            for number, image in enumerate(wanted, 1):
                out[image.name] = made[number].read_bytes()
    return out
