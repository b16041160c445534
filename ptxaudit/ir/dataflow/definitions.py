"""Which writes of a register may be read where, as a sparse graph: its size is that of the code, not of all pairs.

    L: @p add r, r, 4    (a write that may not happen, after others)
       ld [r]            reads  Joined(r, write 1)  <-  {instruction L, Joined(r, entry of the block)}  <-  …

A node is an instruction, or a place where several writes of a register come together: behind a guarded write, or at the
entry of a block (as φ functions stand for in SSA form: Cytron et al., 1991).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Writes = Sequence[tuple[int, bool]]  # (instruction, whether it always writes), in order


class Joined(NamedTuple):
    """Writes of a register that come together. at: a block, at whose entry; or ~n: behind its n-th write."""

    register: str
    at: int


Definition = int | Joined


class Definitions:
    """writes: of each register; block_of: instruction -> block; ends: block -> one past its last instruction; before:
    block -> those that may come just before it."""

    def __init__(
        self,
        writes: Mapping[str, Writes],
        block_of: Sequence[int],
        ends: Sequence[int],
        before: Mapping[int, Iterable[int]],
    ) -> None:
        self.writes, self._block_of, self._ends, self._before = writes, block_of, ends, before

    def read(self, register: str, index: int) -> Definition | None:
        """What an instruction reads of a register; None: it is written nowhere."""
        writes = self.writes.get(register, ())
        if len(writes) < 2:  # compilers write most registers in one place: what reads one reads that
            return writes[0][0] if writes else None
        return self._last(register, writes, bisect_left(writes, (index, False)) - 1, self._block_of[index])

    def following(self, node: Definition) -> list[Definition]:
        """What a search backwards comes to next."""
        return self.sources(node) if isinstance(node, Joined) else []

    def sources(self, joined: Joined) -> list[Definition]:
        """What comes together there."""
        register, at = joined
        writes = self.writes[register]
        if at < 0:
            instruction = writes[~at][0]
            return [instruction, self._last(register, writes, ~at - 1, self._block_of[instruction])]
        return [
            self._last(register, writes, bisect_left(writes, (self._ends[b], False)) - 1, b)
            for b in self._before.get(at, ())
        ]

    def _last(self, register: str, writes: Writes, n: int, block: int) -> Definition:
        """What a register holds in a block, behind the n-th of its writes if that is of the block."""
        if n < 0 or self._block_of[writes[n][0]] != block:
            return Joined(register, block)
        return writes[n][0] if writes[n][1] else Joined(register, ~n)
