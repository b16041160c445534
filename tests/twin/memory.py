"""Memory as a dictionary of bytes, and junk for what nobody wrote."""

from __future__ import annotations

import hashlib


def junk(*key) -> int:
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "little")


class Bytes:
    """Memory as a dictionary; what was never written is a hash of the address, small as a 32-bit number."""

    def __init__(self, name):
        self.cells, self.unwritten = {}, {}
        self._begun = hashlib.blake2b(f"({name!r}, ".encode(), digest_size=8)  # of `junk(name, address)`

    def load(self, address: int, size: int) -> int:
        cells = self.cells
        try:
            return int.from_bytes([cells[a] for a in range(address, address + size)], "little")
        except KeyError:
            pass
        out = 0
        for a in range(address, address + size):
            byte = cells.get(a)
            if byte is None and not a % 4:
                if a not in self.unwritten:
                    hashed = self._begun.copy()
                    hashed.update(b"%d)" % a)
                    self.unwritten[a] = hashed.digest()[0] & 7
                byte = self.unwritten[a]
            out |= (byte or 0) << 8 * (a - address)
        return out

    def store(self, address: int, size: int, value: int) -> None:
        data = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        self.cells.update(zip(range(address, address + size), data))

    def put(self, address: int, data: bytes) -> None:
        for i, byte in enumerate(data):
            self.cells[address + i] = byte
