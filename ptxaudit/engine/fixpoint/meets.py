"""Joins abstract states where paths of the control flow join: values, and sets of lanes.

    r1 = 4 | r1 = 8        if all lanes take the same path, a uniform unknown (double buffers, ring stages)
    r1 = 4 | r1 = tid      if lanes may diverge, opaque in lanes where the values differ

Diverged lanes are together again where nothing can keep them diverged: at a barrier in machine code, at the
post-dominator of the branch in PTX.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.work import BLOCK, OPERATION, Account
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.lane_classes import refined
from ptxaudit.engine.domain.value import (
    Uniform,
    Value,
    common_zeros,
    opaque,
    same,
    signed,
    squeeze,
    unknown,
)
from ptxaudit.engine.fixpoint.loops import Loop, Paths
from ptxaudit.engine.fixpoint.states import Branches, State, either_undecided, lanes_that_agree
from ptxaudit.engine.memory.registers import Name, blend, called, known_among
from ptxaudit.engine.ops import packed
from ptxaudit.ir.blocks import END
from ptxaudit.ir.placed import place_of
from ptxaudit.ir.reasons import Kind, Reason, one_of_each

INFERRING = "inferring the requests"


class Meets:
    """branches: how those of the blocks were taken; causes: block -> why its branch is unknown; after: block -> state
    at its end, only for its masks; calls_diverge: blocks at whose end lanes of a warp call different functions;
    given_way: blocks in which some lanes of a warp yield, so that lanes waiting for them may continue.
    """

    def __init__(self, paths: Paths, account: Account):
        self.function, self.graph, self.part, self.paths = paths.function, paths.graph, paths.part, paths
        self.account = account
        self.calls_diverge: set[int] = set()
        self.uniform = {
            d.name for ops in self.part.ops.values() for op in ops for d in op.dst if d is not None and d.uniform
        }
        self.after: dict[int, State] = {}
        self.branches = Branches()
        self.causes: dict[int, Reason] = {}
        self.fresh = 0  # the number of unknowns made, which distinguishes them
        self.given_way: set[int] = set()

    def join(self, block: int, arriving: Sequence[tuple[int, State]]) -> State:
        if block in self.graph.overwritten:  # the arguments of a routine: one of these at a time
            return self.folded(block, arriving, None if self.paths.yielding else False, together=False)
        groups = [(group[0][0], self.folded(block, group, True)) for group in self._groups(block, arriving)]
        return self.restore(block, self.folded(block, groups, False))

    def join_back(self, loop: Loop, arriving: Sequence[tuple[int, State]]) -> State:
        """The join of the states on a loop's back edges."""
        return self.folded(loop.head, arriving, any(self.branches.any(b, "varying") for b in loop.forks), "back")

    def folded(
        self, block: int, arriving: Sequence[tuple[int, State]], apart: bool | None, *mark: str, together: bool = True
    ) -> State:
        """Joins all arriving states into the first, and returns it.

        apart: False if all lanes took the same path, whichever it was. mark: distinguishes the unknowns of this join
        from those of another. together: as in `_merge`.
        """
        out = arriving[0][1]
        self.fresh += 1
        for n, (_, state) in enumerate(arriving[1:]):
            self._merge(block, out, state, apart, (block, *mark, self.fresh, n), together)
        return out

    def restore(self, block: int, state: State, firm: bool = False) -> State:
        """Restores the mask of a dominator where all of its lanes arrive. firm: at a barrier that no yield opens."""
        d = self.paths.gathered(block)
        while d in self.after:
            before = self.after[d]
            if not firm and (why := self._loosened(d, block)) is not None:
                state.diverge(*(() if state.undecided_by else (why,)))
                break
            if not firm and self.function.explicit_reconvergence and not self._held(d, block):
                state.in_step = False
                break
            if firm and not self._meet_at(d, block):
                break
            if state.mask is before.mask or not anywhere(state.mask & ~before.mask):
                state.mask = before.mask
                state.coming = before.coming
            if before.exact or not firm:
                break
            d = self.paths.gathered(d)
        return state

    def trips_diverge(self, loop: Loop) -> bool:
        """Machine code: lanes that diverge in a trip may both begin the next one without waiting for each other."""
        head = loop.head
        if any(self.graph.calls.get(b) in self.graph.diverging for b in loop.inside & self.graph.calls.keys()):
            return True
        return any(
            self.branches.any(b, "varying", "divergent")
            and self._several_ways(b, loop.inside)
            and not self.paths.reconverges(b, head)
            and not self.paths.warpsyncs.meets(b, head, head)
            for b in loop.forks
        )

    def _loosened(self, dominator: int, block: int) -> Reason | None:
        """Why lanes may have diverged for longer between the two: they leave a loop that yields in different trips, or
        call different functions in PTX, where ptxas decides when they reconverge.
        """
        calls_diverge = frozenset() if self.function.explicit_reconvergence else self.calls_diverge
        if not self.paths.yielding and not calls_diverge:
            return None
        between = self.paths.on_the_way(dominator, block)
        if callers := calls_diverge & (between | {dominator}):
            return one_of_each(Kind.CALLS_DIVERGE, self.graph.ends[min(callers)] - 1)
        apart, waiting = self._diverging(dominator, block)
        if apart.isdisjoint(self.paths.diverging_unseen):
            behind = waiting | self.paths.behind(apart, between | {dominator})
            if behind.isdisjoint(self.paths.yielding | self.given_way):
                return None
        return one_of_each(Kind.YIELD)

    def _held(self, dominator: int, block: int) -> bool:
        """Machine code: lanes that diverge between the two and arrive reconverge, as no branch diverges, a barrier
        waits for all, or those that leave a loop on the way come here only past the dominator, in another trip of
        a loop around both (`trips_diverge`).
        """
        if self.paths.gathers(dominator, block):
            return True
        apart = self._diverging(dominator, block)[0]
        if not apart:
            return True
        way = self.paths.on_the_way(dominator, block) | {block}
        return apart.isdisjoint(self.paths.diverging_unseen) and not any(self._several_ways(b, way) for b in apart)

    def _several_ways(self, branch: int, blocks: Set[int]) -> bool:
        """Lanes that diverge at a branch may all remain in these blocks."""
        return sum(s in blocks for s in self.paths.successors(branch)) > 1

    def _meet_at(self, dominator: int, block: int) -> bool:
        """Lanes that diverge between the two meet at the WARPSYNC of `block`, or before, and at no other one apart."""
        if not self.function.explicit_reconvergence:
            return True
        first = self.paths.warpsyncs.first
        return all(first.get(b) == block for b in self._diverging(dominator, block)[0])

    def _diverging(self, dominator: int, block: int) -> tuple[set[int], set[int]]:
        """The blocks between the two at whose end lanes may diverge without meeting before `block`; the blocks in which
        lanes may be while those from which they have diverged wait for them at a BSYNC.
        """
        unseen, within = self.paths.diverging_unseen, self.paths.on_the_way(dominator, block) | {dominator}
        apart = {b for b in within if b in unseen or self.branches.any(b, "varying", "divergent")}
        waiting = set[int]()
        if apart and self.function.explicit_reconvergence:
            apart = {b for b in apart if not self.paths.warpsyncs.meets(b, dominator, block)}
            for b in sorted(apart):  # outer ones first: what lanes do until they meet does not matter
                if b not in waiting and self.paths.reconverges(b, block):
                    waiting |= self.paths.region(b)
        return apart - waiting, waiting

    def _groups(self, block: int, arriving: Sequence[tuple[int, State]]) -> list[list[tuple[int, State]]]:
        """Groups the arriving states: the lanes of one warp arrive on several paths of one group, or all in another."""
        groups = [[one] for one in arriving]
        if len(groups) == 1:
            return groups
        parting = self._parting(block)
        if parting is None:
            return [list(arriving)]
        for branch in parting:
            region = self.paths.region(branch)
            met = [group for group in groups if any(source in region for source, _ in group)]
            if len(met) > 1:
                groups = [group for group in groups if group not in met] + [[one for group in met for one in group]]
        return groups

    def _parting(self, block: int) -> list[int] | None:
        """The branches whose paths join in a block and on which lanes may diverge; None if other branches may send
        lanes of a warp there on several paths.

        (If the paths of a branch join before, a lane takes the same path from there to the block whichever it took.)
        """
        if self.paths.dominators.get(block) is None:
            return None
        found = []
        for b in sorted(self.paths.between(block)):
            if not self.branches.any(b, "varying"):
                continue
            meeting = self.paths.meeting(b)
            if meeting == block:
                found.append(b)
            elif meeting == END or block in self.paths.region(b):
                return None
        return found

    def _some_missing(self, block: int) -> tuple[Reason, ...]:
        """Why the lanes on one of several joining paths may not arrive (but go elsewhere, all together)."""
        d, ways = self.paths.dominators.get(block), self.paths.between(block)
        stay = ways - {d}
        return tuple(
            self.causes.get(b) or one_of_each(Kind.BRANCH_OPEN, self.graph.ends[b] - 1)
            for b in sorted(ways - {block})
            if self.branches.any(b, "uniform")
            and (after := self.graph.postdominators.get(b, END)) != block
            and after not in stay
        )

    def _diverged_at(self, block: int) -> tuple[Reason, ...]:
        """Machine code: why lanes of a warp that arrive on different paths continue diverged."""
        if not self.function.explicit_reconvergence or self.paths.waits(block):
            return ()
        return (one_of_each(Kind.NO_BARRIER, self.graph.starts[block]),)

    def _let_go(self, block: int) -> tuple[Reason, ...]:
        """Why waiting lanes may have continued before those on another path arrived: these may have yielded."""
        if not self.given_way:
            return ()
        d = self.paths.dominators.get(block)
        while d is not None and not self.paths.loops[d] <= self.paths.loops[block]:
            d = self.paths.dominators.get(d) if self.paths.dominators.get(d) != d else None
        if d is not None and self.given_way.isdisjoint(self.paths.on_the_way(d, block) | {d}):
            return ()
        return (one_of_each(Kind.YIELD),)

    def _merge(
        self, block: int, out: State, other: State, apart: bool | None, key: tuple[Any, ...], together: bool
    ) -> None:
        """Joins another state at a block into `out`. together: lanes of both then continue at the same time."""
        alike = out.mask is other.mask or throughout(out.mask == other.mask)
        exclusive = together and not alike and not anywhere(out.mask & other.mask)
        converge = apart is False or self.paths.waits(block)
        values, others, live = out.registers.values, other.registers.values, self.paths.live[block]
        differing = [n for n, v in values.items() if others.get(n) is not v] + [n for n in others if n not in values]
        self.account.spend(BLOCK + len(values) // 4 + 2 * OPERATION * len(differing), INFERRING)
        for name in differing:
            a, b = values.get(name), others.get(name)
            if name not in live and not isinstance(name, tuple):
                values.pop(name, None)  # dead
                continue
            if a is None or b is None:
                one = a if a is not None else b
                if one is not None and isinstance(name, str) and (name in self.uniform or alike and apart is False):
                    values[name] = one  # no lane of a warp has written it, or all have: the former may not read it
                else:
                    values.pop(name, None)  # lanes that have never written it may be together with others
                continue
            if a.base.dtype != b.base.dtype:
                values[name] = opaque(a.bits, Reason(Kind.TWO_WIDTHS, given=(called(name),)))
            elif same(a, b):
                continue
            elif exclusive and name not in self.uniform:
                values[name] = blend(a, b, other.mask)
            else:
                of_warp = converge and name in self.uniform  # whichever lanes have written it
                mine, theirs = known_among(a, out.mask), known_among(b, other.mask)
                by = out.undecided_by + other.undecided_by
                met = self._meet(name, mine, theirs, apart is not False and not of_warp, key, by)
                masks = (_warps(m) if of_warp else m for m in (out.mask, other.mask))
                values[name] = met if alike or not together else _where_both(met, a, b, *masks)
        out.classes, out.one_group = refined(out.parts, other.parts) if alike else None, False
        out.single, out.in_step = False, out.in_step and other.in_step
        out.exact = out.exact and other.exact and (exclusive or alike)
        if (
            exclusive
            and out.exact
            and anywhere(out.mask.any(axis=1) & other.mask.any(axis=1))
            and (undecided_by := self._some_missing(block) or self._diverged_at(block) or self._let_go(block))
        ):
            out.diverge(*undecided_by)
        out.mask = out.mask if alike else out.mask | other.mask
        out.undecided_by = either_undecided(out.undecided_by, other.undecided_by)

    def _meet(
        self, name: Name, a: Value, b: Value, apart: bool, key: tuple[Any, ...], undecided_by: tuple[Reason, ...]
    ) -> Value:
        """The join of two values, of which lanes have one by an unknown choice."""
        if apart:
            return lanes_that_agree(name, a, b, undecided_by)
        if a.poison is not None or b.poison is not None:
            met = lanes_that_agree(name, a, b, kind=Kind.ONE_OF_TWO)
            return packed.selected(a, b, unknown(self._way(key, 1)), met) or met
        self.fresh += 1
        if a.base.dtype == bool:
            if squeeze(a).uniform and squeeze(b).uniform:
                u = Uniform(self._choice(key[0]), 1, 0, 0, 1, "choice", (key, name, self.fresh))
                return unknown(u)
            return lanes_that_agree(name, a, b, undecided_by)
        difference = squeeze(affine.subtract(a, b))
        if difference.poison is not None:  # because of too many unknowns
            return lanes_that_agree(name, a, b, kind=Kind.ONE_OF_TWO)
        if difference.uniform and difference.valid is None:
            low = high = None
            if not difference.terms and difference.base.size == 1:
                d = int(signed(difference.base).flat[0])
                low, high = min(0, d), max(0, d)
            u = Uniform(
                self._choice(key[0]),
                a.bits,
                common_zeros(difference),
                low,
                high,
                "choice",
                (key, name, self.fresh),
                address=affine.addresses(difference),
            )
            return affine.add(b, unknown(u))
        if not affine.addresses(difference):
            met = affine.add(b, affine.multiply(unknown(self._way(key, a.bits)), difference))
            if met.poison is None:
                return met
        return lanes_that_agree(name, a, b, kind=Kind.ONE_OF_TWO)

    def _way(self, key: tuple[Any, ...], bits: int) -> Uniform:
        """Which of two paths all lanes took, as a number of the given width."""
        return Uniform(self._choice(key[0]), bits, 0, 0, 1, "choice", ("way", key))

    def _choice(self, block: int) -> str:
        """The name of the choice between two paths to a block."""
        return f"choice at {place_of(self.function, self.graph.starts[block])}"


def _warps(mask: np.ndarray) -> np.ndarray:
    """(rows, 1) whether a warp has any of the lanes."""
    result: np.ndarray = np.logical_or.reduce(mask, axis=1, keepdims=True)
    return result


def _where_both(met: Value, a: Value, b: Value, mine: np.ndarray, others: np.ndarray) -> Value:
    """The join for lanes that may arrive with either value; lanes that can arrive with only one keep that one."""
    for value, only in ((a, mine & ~others), (b, others & ~mine)):
        if anywhere(only):
            met = blend(met, value, only)
    return met
