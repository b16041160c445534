"""Memory whose content the launch tells: what a load from it yields, and when that can be trusted.

    params = [{file = "index.npy"}, …]      ld.global.u32 r, [index + 4·tid]   ->   r = the array's words

The bytes are what memory holds when the kernel starts. They are taken for a load that the code promises to be of
read-only memory (`ld.global.nc`, LDG.CONSTANT), and for any load from a buffer into which nothing that the kernel
writes can go (`written`).
"""

from __future__ import annotations

import numpy as np
from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import DTYPES, EVERYWHERE, Value, words_at
from ptxaudit.ir.reasons import Kind, Reason

SPACES = ("global", "generic")


class Given(Record):
    """buffers: (address, bytes as uint8), sorted. trusted: for each, whether nothing in the kernel may write it.
    writes: something in it is written through a pointer; taken: buffers, by position, of which a load took what the
    launch tells."""

    buffers: tuple[tuple[int, np.ndarray], ...]
    trusted: tuple[bool, ...]
    promised: frozenset[int]  # instructions whose loads are promised to be of read-only memory
    variables: dict[str, int]  # address of each variable of the module that is one of the buffers
    writes: bool = False
    taken: set[int] = field(default_factory=set)

    def sentences(self) -> tuple[str, ...]:
        """What the answers rest on, for the report."""
        return (ASSUMED,) if self.writes and self.taken else ()

    def load(self, address: Value, bits: int, index: int) -> Value | None:
        """What a load yields, lane by lane; None where it is of no specified buffer in any lane."""
        if address.terms or address.valid is not None:
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
                changed = True
                continue
            self.taken.update([] if index in self.promised else [at])
            word = words_at(data, np.where(inside, places - start, 0), bits)
            out, found = np.where(inside, word, out), found | inside
        if not found.any():
            return Value(out, poison=EVERYWHERE, why=Reason(Kind.LOADED_WHERE_WRITTEN, index)) if changed else None
        poison = ~found if address.poison is None else ~found | address.poison
        poison = poison if poison.any() else None
        return Value(out, poison=poison, why=None if poison is None else Reason(Kind.LOADED_OUTSIDE, index))


ASSUMED = "what is written through a specified pointer, or to a variable, stays within the buffer that it points to"
