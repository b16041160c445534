"""Memory as a dictionary of bytes, and junk for what nobody wrote."""

from __future__ import annotations

import hashlib


def junk(*key) -> int:
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "little")


class Bytes:
    """Memory as a dictionary; what was never written is a hash of the address, small as a 32-bit number."""

    def __init__(self, name):
        self.cells, self.name = {}, name

    def load(self, address: int, size: int) -> int:
        out = 0
        for i in range(size):
            a = address + i
            byte = self.cells.get(a)
            if byte is None:
                byte = junk(self.name, a) & 7 if a % 4 == 0 else 0
            out |= byte << 8 * i
        return out

    def store(self, address: int, size: int, value: int) -> None:
        for i in range(size):
            self.cells[address + i] = value >> 8 * i & 255

    def put(self, address: int, data: bytes) -> None:
        for i, byte in enumerate(data):
            self.cells[address + i] = byte
