"""The best linear swizzle of all, by a search with bounds over GF(2).

Theory. With x = (r, c), row number and column, a linear swizzle adds to c an image of each bit of r that is set:

    f(r, c) = (r, c + Σ r_i·v_i)  over GF(2)            v_i in GF(2)^t: t bits of the column that select banks and leave
                                                        vectors whole

Lanes of a request that differ in the bits S of r and no others have costs that depend on v_i, i in S, alone. So the v_i
are chosen one after the other. With some of them chosen, lanes that agree in all bits not chosen yet keep their banks
apart or together whatever the others become (all of them are moved alike); what such lanes cost among themselves, the
request costs at least, as no request costs less with fewer lanes. That, and what no layout goes below, bounds a branch
from below: it is left when it cannot be better than the best map found. If no branch remains, no linear swizzle is
better. For a request whose lanes are an affine subspace, as those of code without remainders are, the bound is what
rank(chosen part) allows: 2^(dim − rank).

f(x + t) = f(x) + f(t) over GF(2), so a request and its translate by t cost the same: one of them is looked at.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import distinct_rows
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.hardware import banks
from ptxaudit.review.fix.bounds import least
from ptxaudit.review.fix.cost import Costs, Figure, Group, NotProvable
from ptxaudit.review.fix.layouts import SAME, Xor


def best_map(
    costs: Costs, rows: Xor, unit: int, line: int, bits: int, floor: Figure, best: tuple[int, int], account: Account
) -> tuple[Xor | None, bool]:
    """(the best linear swizzle whose figure is below `best`, None where there is none; whether all were tried).

    rows: says how long rows are; unit: bytes of vectors that stay whole; line: of all banks; bits: of a row's number;
    floor: what no layout goes below.
    """
    try:
        return _Branches(costs, rows, unit, line, bits, floor, best, account).run()
    except (NotProvable, Exhausted):
        return None, False


_STEPS_A_REQUEST, _STEPS_A_NODE = 2, 500


class _Requests(Record, eq=False):
    """The requests of a group, of translates the first. of (m,): of each of the group's requests, which of these it is
    like. some (n,): these.

    often (n,): how often each comes in the launch, None where that is not known for all.
    row (n, lanes): numbers of rows; varying (n,): bits in which those of the active lanes differ. floor (3, 1, n): what
    low, high and lines cannot be below; ideal (2, 1, n): the ideal, and that of lines.
    """

    group: Group
    of: np.ndarray
    some: np.ndarray
    often: np.ndarray | None
    row: np.ndarray
    varying: np.ndarray
    floor: np.ndarray
    ideal: np.ndarray


class _Concerned(Record, eq=False):
    """Those of a group's requests on which the image of one bit has to do, n of them. whole (n,): no bit is left open
    behind it. row, start, column (n, lanes): of each lane, the number of its row, where that begins, and how far in it
    the lane is; moved (choices, n, lanes): what each image adds there. active, sources, filled (choices · n, lanes): of
    the lanes whose bits that are left open agree."""

    which: np.ndarray
    whole: np.ndarray
    row: np.ndarray
    start: np.ndarray
    column: np.ndarray
    moved: np.ndarray
    active: np.ndarray
    sources: np.ndarray | None
    filled: np.ndarray | None


class _Branches:
    """The search tree: a node has the images of some bits."""

    def __init__(
        self,
        costs: Costs,
        rows: Xor,
        unit: int,
        line: int,
        bits: int,
        floor: Figure,
        best: tuple[int, int],
        account: Account,
    ):
        self.costs, self.layout, self.account, self.floor, self.best = costs, rows, account, floor, best
        self.requests = [
            self._without_translates(group, unit) for group in costs.requests(replace(rows, images=(0,) * bits))
        ]
        self.choices = list(range(0, min(rows.row & -rows.row, line), unit))
        varying = 0
        for r in self.requests:
            varying |= int(np.bitwise_or.reduce(r.varying, initial=0))
        self.order = [bit for bit in range(bits) if varying >> bit & 1]
        self.beyond = varying >> bits  # rows that the array does not have
        self.found: Xor | None = None
        self.concerned: dict[tuple[int, int], _Concerned | None] = {}  # by requests and bit: whatever the images are

    def run(self) -> tuple[Xor | None, bool]:
        """See `best_map`."""
        if self.beyond or not self.order:
            return None, not self.beyond
        try:
            self._descend({}, [r.floor for r in self.requests])
        except Exhausted:
            return self.found, False
        return self.found, True

    def _without_translates(self, group: Group, unit: int) -> _Requests:
        row = group.offsets // self.layout.row
        first = np.take_along_axis(row, group.active.argmax(axis=1)[:, None], 1)
        varying = np.bitwise_or.reduce(np.where(group.active, row ^ first, 0), axis=1)
        some, of = np.arange(len(row)), np.arange(len(row))
        if group.sources is None and self.layout.row & self.layout.row - 1 == 0:
            start = np.take_along_axis(group.offsets, group.active.argmax(axis=1)[:, None], 1) // unit * unit
            some, of = distinct_rows([np.where(group.active, group.offsets ^ start, 0), group.active])
        low, high, ideal, _, lines_ideal = self.costs.scores(group, [SAME])
        floor = np.maximum(ideal, least(self.costs.machine, group.access, group.offsets, group.active, unit))
        floors = np.stack([np.minimum(floor, low), np.minimum(floor, high), lines_ideal])
        often = None
        if self.costs.counted and (group.times < 0).all():
            often = np.bincount(of[group.rows], group.weight, minlength=len(some)).astype(np.int64)
        return _Requests(
            group,
            of,
            some,
            often,
            row[some],
            varying[some],
            floors[:, :, some],
            np.stack([ideal, lines_ideal])[:, :, some],
        )

    def _descend(self, images: dict[int, int], bounds: list[np.ndarray]) -> None:
        """Tries every image of the next bit, the most promising first. bounds: of each group (3, 1, n), with the images
        so far.
        """
        if self.best <= self.floor.weight:
            return
        bit, *later = self.order[len(images) :]
        tried = [self._with_images(r, bound, images, bit, later) for r, bound in zip(self.requests, bounds)]
        weights = self._weights(tried)
        for choice in sorted(range(len(self.choices)), key=weights.__getitem__):
            if weights[choice] >= self.best:
                return
            now = {**images, bit: self.choices[choice]}
            if later:
                self._descend(now, [bound[:, choice : choice + 1] for bound in tried])
            else:
                self.best, self.found = (
                    weights[choice],
                    replace(self.layout, images=tuple(now.get(b, 0) for b in range(bit + 1))),
                )

    def _with_images(
        self, r: _Requests, bound: np.ndarray, images: dict[int, int], bit: int, later: list[int]
    ) -> np.ndarray:
        """(3, choices, n): the bounds with each image of a bit."""
        many = len(self.choices)
        out = np.repeat(bound, many, axis=1)
        concerned = self._concerned(r, bit, later)
        if concerned is None:
            return out
        change = np.zeros_like(concerned.row)
        for known, image in images.items():
            change ^= (concerned.row >> known & 1) * image
        places = (concerned.start + (concerned.column ^ change ^ concerned.moved)).reshape(len(concerned.active), -1)
        self.account.spend(_STEPS_A_REQUEST * len(places), "comparing swizzles")
        s = banks.score(
            self.costs.machine,
            r.group.access,
            places,
            concerned.active,
            concerned.sources,
            zero_filled=concerned.filled,
        )
        if s.lines is None:
            for k, found in enumerate((s.low, s.high)):
                out[k][:, concerned.which] = np.maximum(out[k][:, concerned.which], np.asarray(found).reshape(many, -1))
        else:
            whole = concerned.whole
            out[2][:, concerned.which[whole]] = np.asarray(s.lines).reshape(many, -1)[:, whole]
        return out

    def _concerned(self, r: _Requests, bit: int, later: list[int]) -> _Concerned | None:
        """The requests on which the image of a bit has to do with what is known by then; None where there are none."""
        key = id(r), bit
        if key not in self.concerned:
            self.concerned[key] = self._looked_at(r, bit, sum(1 << b for b in later))
        return self.concerned[key]

    def _looked_at(self, r: _Requests, bit: int, open_bits: int) -> _Concerned | None:
        which, many = np.flatnonzero(r.varying >> bit & 1), len(self.choices)
        if r.group.access.address_lanes is not None:  # a part of a matrix access is another access: no bound
            which = which[r.varying[which] & open_bits == 0]
        if not which.size:
            return None
        at, row = r.some[which], r.row[which]
        offsets, active = r.group.offsets[at], r.group.active[at]
        first = np.take_along_axis(row, active.argmax(axis=1)[:, None], 1)
        together = active & ((row ^ first) & open_bits == 0)
        column = offsets - row * self.layout.row
        sources, filled = (None if c is None else np.tile(c[at], (many, 1)) for c in (r.group.sources, r.group.filled))
        return _Concerned(
            which,
            r.varying[which] & open_bits == 0,
            row,
            offsets - column,
            column,
            (row >> bit & 1) * np.array(self.choices)[:, None, None],
            np.tile(together, (many, 1)),
            sources,
            filled,
        )

    def _weights(self, tried: list[np.ndarray]) -> list[tuple[int, int]]:
        """Of each choice the weight of the bounds of all requests."""
        many, scored = len(self.choices), []
        self.account.spend(_STEPS_A_NODE, "comparing swizzles")
        if all(r.often is not None for r in self.requests):
            sums = sum(
                (bound - np.concatenate([r.ideal[[0, 0]], np.zeros_like(r.ideal[:1])])) @ r.often
                for r, bound in zip(self.requests, tried)
            )
            return list(zip((sums[0] + sums[1]).tolist(), sums[2].tolist()))
        for r, (low, high, lines) in zip(self.requests, tried):
            ideal, lines_ideal = np.repeat(r.ideal, many, axis=1)
            scored.append((r.group, np.stack([low, high, ideal, lines, lines_ideal])[:, :, r.of]))
        figures = self.costs.summed(scored, many)
        return [Figure(*row).weight for row in figures.sum(axis=1).tolist()]
