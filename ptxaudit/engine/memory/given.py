"""Memory whose contents the launch specifies: the results of loads from it, and when they are reliable.

    params = [{file = "index.npy"}, …]      ld.global.u32 r, [index + 4·tid]   ->   r = the array's words

The bytes are the contents when the kernel starts. They are used for a load that the code declares to be of read-only
memory (`ld.global.nc`, LDG.CONSTANT), and for other loads from a buffer that no write of the kernel can reach
(`written`), or from bytes that none of them reaches when it is executed (`exec.stores`): not for those that are
volatile or have a scope, by which code waits for what the host or another kernel writes meanwhile (PTX ISA, "Memory
Consistency Model").
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
from msgspec import field

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import DTYPES, EVERYWHERE, NOWHERE, POINTER_BYTES, Value, either, words_at
from ptxaudit.engine.memory.extents import Intervals
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason

SPACES = ("global", "generic")


class Given(Record):
    """Buffers that the launch specifies.

    buffers: (address, bytes as uint8), sorted. trusted: for each, whether nothing in the kernel may write it.
    awaited: instructions that load what others may write meanwhile.
    writers: of the others: the stores and atomic operations that may write them, each with the positions of these
        buffers; None: unseen code may.
    stored: the bytes that the launch writes, if it was executed to find out: the others are reliable, whatever
        `trusted` says.
    writes: whether these rely on the objects to which pointers of stores point.
    taken: positions of buffers of which a load took the specified contents. refused: instructions with a load of a
        buffer that may be written.
    pointers: the addresses of buffers that the code may not see as numbers, by the keys of the unknowns that it sees.
    """

    buffers: tuple[tuple[int, np.ndarray], ...]
    trusted: tuple[bool, ...]
    promised: frozenset[int]  # instructions whose loads are declared read-only
    variables: dict[str, int]  # address of each variable of the module that is one of the buffers
    awaited: frozenset[int] = frozenset()
    writers: Mapping[tuple[int, Op], frozenset[int]] | None = None
    stored: Intervals | None = None
    writes: bool = False
    taken: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    pointers: Mapping[tuple[Hashable, ...], int] = field(default_factory=dict)

    def sentences(self) -> tuple[str, ...]:
        """The assumptions of the answers, for the report."""
        return (ASSUMED,) if self.writes and self.taken else ()

    def load(self, address: Value, bits: int, index: int) -> Value | None:
        """The result of a load, lane by lane; None if it reads no specified buffer in any lane."""
        address = self.located(address)
        if address.terms or address.valid is not None or index in self.awaited:
            return None
        places = address.base.astype(np.int64)
        out = np.zeros(places.shape, DTYPES[bits])
        found = np.zeros(places.shape, bool)
        changed = False
        for at, ((start, data), trusted) in enumerate(zip(self.buffers, self.trusted)):
            inside = (places >= start) & (places + bits // 8 <= start + len(data))
            if not inside.any():
                continue
            if not trusted and index not in self.promised:
                kept = inside & ~self._perhaps_stored(places, bits // 8)
                if not np.array_equal(kept, inside):
                    changed = True
                    self.refused.add(index)
                if not kept.any():
                    continue
                inside = kept
            self.taken.update([] if index in self.promised else [at])
            word = words_at(data, np.where(inside, places - start, 0), bits)
            out, found = np.where(inside, word, out), found | inside
        if not found.any():
            return Value(out, poison=EVERYWHERE, why=Reason(self._changed, index)) if changed else None
        poison = ~found if address.poison is None else ~found | address.poison
        poison = poison if poison.any() else None
        why = Reason(self._changed if changed else Kind.LOADED_OUTSIDE, index)
        return Value(out, poison=poison, why=None if poison is None else why)

    @property
    def _changed(self) -> Kind:
        """Why the contents of a buffer that is not trusted are unknown: only before its stores are executed would
        it help to specify more pointers.
        """
        return Kind.LOADED_WHERE_WRITTEN if self.stored is None else Kind.LOADED_AS_WRITTEN

    def _perhaps_stored(self, places: np.ndarray, size: int) -> np.ndarray:
        """Whether a store may reach `size` bytes at each place in a buffer that is not trusted."""
        return EVERYWHERE if self.stored is None else self.stored.touched(places, size)

    def ends(self, pointer: int) -> tuple[int, int]:
        """The first byte of the buffer to which a pointer points, and the first after it."""
        return next((start, start + len(data)) for start, data in self.buffers if start <= pointer <= start + len(data))

    def is_real(self, low: int, high: int) -> bool:
        """The bytes belong to a buffer whose address is what the code sees, or no buffer is at an invented address."""
        if not self.pointers:
            return True
        invented = set(self.pointers.values())
        return any(start not in invented and start <= low and high <= start + len(d) for start, d in self.buffers)

    def located(self, address: Value) -> Value:
        """An address that is a pointer to a buffer and a number, as a number; unchanged if it is in no lane.

        It identifies a location, whose contents do not depend on where the buffer lies. As a number it means nothing,
        and no number of the code leads there: lanes in which one is equal by chance are unknown.
        """
        if not self.pointers or address.bits != POINTER_BYTES * 8:
            return address
        if not address.terms:
            return _unknown_in(address, self._assigned(address.base))
        place, count, other = address.base, np.zeros((1, 1), np.uint64), NOWHERE
        for unknown, factor in address.terms:
            begin = self.pointers.get(unknown.key)
            if begin is None:
                other = other | (factor != 0)
            else:
                place, count, other = place + factor * np.uint64(begin), count + factor, other | (factor > 1)
        other = other | (count != 1)
        number = Value(place, (), address.valid, address.poison, address.why)
        return address if throughout(other) else _unknown_in(number, other)

    def _assigned(self, places: np.ndarray) -> np.ndarray:
        """Where a number lies in a buffer whose address the code does not see."""
        out = NOWHERE
        for start, data in self.buffers:
            if start in self.pointers.values():
                out = out | (places >= np.uint64(start)) & (places < np.uint64(start + len(data)))
        return out


def _unknown_in(number: Value, lanes: np.ndarray) -> Value:
    """The number, unknown in these lanes."""
    if not anywhere(lanes):
        return number
    return Value(number.base, (), number.valid, either(number.poison, lanes), number.why)


ASSUMED = "what is written through a specified pointer, or to a variable, stays within the buffer that it points to"
