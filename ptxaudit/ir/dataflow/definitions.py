"""Reaching definitions as a sparse graph, whose size is linear in that of the code.

    L: @p add r, r, 4    (a conditional write, after others)
       ld [r]            reads  Joined(r, write 1)  <-  {instruction L, Joined(r, entry of the block)}  <-  …

A node is an instruction, or a join of several definitions of a register: after a guarded write, or at the entry of a
block (like a φ function in SSA form: Cytron et al., 1991).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Writes = Sequence[tuple[int, bool]]  # (instruction, whether it always writes), in order


class Joined(NamedTuple):
    """A join of definitions of a register. at: the block, for its entry; or ~n: after the n-th write."""

    register: str
    at: int


Definition = int | Joined


class Definitions:
    """writes: of each register; block_of: instruction -> block; ends: block -> one past its last instruction;
    before: block -> its predecessors.
    """

    def __init__(
        self,
        writes: Mapping[str, Writes],
        block_of: Sequence[int],
        ends: Sequence[int],
        before: Mapping[int, Iterable[int]],
    ) -> None:
        self.writes, self._block_of, self._ends, self._before = writes, block_of, ends, before

    def read(self, register: str, index: int) -> Definition | None:
        """The definition of a register that an instruction reads; None if nothing writes the register."""
        writes = self.writes.get(register, ())
        if len(writes) < 2:  # compilers write most registers once, so that this is the definition
            return writes[0][0] if writes else None
        return self._last(register, writes, bisect_left(writes, (index, False)) - 1, self._block_of[index])

    def following(self, node: Definition) -> list[Definition]:
        """The successors of a node in a backward search."""
        return self.sources(node) if isinstance(node, Joined) else []

    def sources(self, joined: Joined) -> list[Definition]:
        """The definitions that a join merges."""
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
        """The definition of a register after its n-th write, if that is in the block; else at the block's entry."""
        if n < 0 or self._block_of[writes[n][0]] != block:
            return Joined(register, block)
        return writes[n][0] if writes[n][1] else Joined(register, ~n)
