"""Memory as a dictionary of bytes, with junk in unwritten places."""

from __future__ import annotations

import hashlib


def junk(*key) -> int:
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "little")


class Bytes:
    """Memory as a dictionary; unwritten words are a hash of the address, and small as 32-bit numbers."""

    def __init__(self, name):
        self.cells: dict[int, int] = {}
        self.barriers: dict = {}  # of shared memory: address -> `barriers.Barrier`
        self._begun = hashlib.blake2b(f"({name!r}, ".encode(), digest_size=8)  # of `junk(name, address)`

    def load(self, address: int, size: int) -> int:
        cells, places = self.cells, range(address, address + size)
        try:
            return int.from_bytes([cells[a] for a in places], "little")
        except KeyError:
            return int.from_bytes([cells[a] if a in cells else self._unwritten(a) for a in places], "little")

    def _unwritten(self, address: int) -> int:
        """The junk byte, which is stored from now on."""
        byte = 0
        if not address % 4:
            hashed = self._begun.copy()
            hashed.update(b"%d)" % address)
            byte = hashed.digest()[0] & 7
        self.cells[address] = byte
        return byte

    def store(self, address: int, size: int, value: int) -> bool:
        """Returns whether the contents change."""
        data = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        cells, places = self.cells, range(address, address + size)
        before = [cells.get(a) for a in places]
        cells.update(zip(places, data))
        return before != list(data)

    def put(self, address: int, data: bytes) -> None:
        for i, byte in enumerate(data):
            self.cells[address + i] = byte
