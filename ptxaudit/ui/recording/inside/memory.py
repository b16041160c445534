"""Reads device memory before a launch through the driver: arrays up to a size, as .npy files.

    contents([Extent(0x7f2c4a000000, 4096, "<i4")], most=65536, stream=0)   ->  ([(0x7f2c4a000000, b"\\x93NUMPY…")], "")

Overlapping extents are read as one, so that each byte is read once and has one value for all pointers to it. For a
pointer with an unknown extent, the whole allocation is read; if that is larger than what is kept (the pool of a
framework), the memory from the pointer on, up to the next pointer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

_SUCCESS = 0
_CAPTURE_NONE = 0
BYTES_TYPE = "|u1"


class Extent(NamedTuple):
    """A range of device memory. size: in bytes, None if unknown; type: of its elements, for NumPy, or "" for bytes."""

    address: int
    size: int | None = None
    type: str = ""


def contents(extents: Sequence[Extent], most: int, stream: int = 0) -> tuple[list[tuple[int, bytes]], str]:
    """([(address, .npy file)], why something could not be read, or ""). most: the size limit of one array, in bytes."""
    driver = _driver()
    if driver is None:
        return [], "the data behind pointers is not kept: there is no CUDA driver"
    known = [extent for one in extents if (extent := _extent(driver, one, extents, most)) is not None and extent.size]
    wanted = [extent for extent in _joined(known) if extent.size is not None and extent.size <= most]
    if not wanted:
        return [], ""
    if driver.is_capturing(stream):
        return [], "the data behind pointers is not kept for launches captured into a graph"
    if not driver.wait(stream):
        return [], "the data behind pointers is not kept: the stream of a launch failed"
    found = [(extent, driver.read(extent)) for extent in wanted]
    return [(extent.address, npy(data, extent.type)) for extent, data in found if data is not None], ""


def _extent(driver: Driver, one: Extent, others: Sequence[Extent], most: int) -> Extent | None:
    """The memory behind a pointer; None if there is none."""
    whole = driver.whole(one)
    if whole is None or one.size is not None or whole.size is None or whole.size <= most:
        return whole
    ends = [whole.address + whole.size, one.address + most, *(o.address for o in others if o.address > one.address)]
    return Extent(one.address, min(ends) - one.address)


def _joined(extents: Sequence[Extent]) -> list[Extent]:
    """The extents with overlapping ones merged; merged extents that differ have bytes as elements."""
    out: list[Extent] = []
    for extent in sorted(set(extents)):
        last = out[-1] if out else None
        if last is None or extent.address >= last.address + (last.size or 0):
            out.append(extent)
            continue
        end = max(last.address + (last.size or 0), extent.address + (extent.size or 0))
        out[-1] = Extent(last.address, end - last.address)
    return out


def npy(data: bytes, type: str = "") -> bytes:
    """A one-dimensional array in the format of numpy.save: version 1.0 of numpy/lib/format.py."""
    size = int(type[2:]) if type[:1] in "<|" and type[2:].isdigit() else 0
    if not size or len(data) % size:
        type, size = BYTES_TYPE, 1
    head = f"{{'descr': '{type}', 'fortran_order': False, 'shape': ({len(data) // size},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode("ascii") + data


class Driver:
    """The libcuda functions needed here."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def _call(self, name: str, *arguments: Any) -> bool:
        return bool(getattr(self._library, name)(*arguments) == _SUCCESS)

    def is_pointer(self, address: int) -> bool:
        """Whether the driver knows the address."""
        kind = ctypes.c_int()
        return self._call("cuPointerGetAttribute", ctypes.byref(kind), 2, ctypes.c_uint64(address))  # MEMORY_TYPE

    def whole(self, extent: Extent) -> Extent | None:
        """The extent with its size, or None if there is no allocation at its address."""
        if extent.size is not None or not extent.address:
            return extent if extent.address else None
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        address = ctypes.c_uint64(extent.address)
        if not self._call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), address):
            return None
        return Extent(base.value, size.value)

    def is_capturing(self, stream: int) -> bool:
        status = ctypes.c_int()
        done = self._call("cuStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
        return not done or status.value != _CAPTURE_NONE

    def wait(self, stream: int) -> bool:
        """Waits until all earlier work in the stream is done."""
        return self._call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def read(self, extent: Extent) -> bytes | None:
        size = extent.size or 0
        host = ctypes.create_string_buffer(size)
        done = self._call("cuMemcpyDtoH_v2", host, ctypes.c_uint64(extent.address), ctypes.c_size_t(size))
        return host.raw if done else None


_found: list[Driver | None] = []


def _driver() -> Driver | None:
    """The driver that the program uses, or None."""
    if not _found:
        try:
            _found.append(Driver(ctypes.CDLL("libcuda.so.1")))
        except OSError:
            _found.append(None)
    return _found[0]


def is_pointer(address: int) -> bool:
    """Whether a number is an address of memory that a kernel can access."""
    driver = _driver()
    return driver is not None and driver.is_pointer(address)
