"""Finds the best of all linear swizzles by branch and bound over GF(2).

Theory. With x = (r, c), row number and column, a linear swizzle adds to c an image of each bit of r that is set:

    f(r, c) = (r, c + Σ r_i·v_i)  over GF(2)            v_i in GF(2)^t: t bits of the column that select banks and leave
                                                        vectors whole

The cost of a request whose lanes differ only in the bits S of r depends only on v_i, i in S. So the v_i are chosen
one after the other. Once some are chosen, lanes that agree in all other bits keep their banks equal or distinct
whatever the other v_i become (all of them are moved alike). The cost of such lanes among themselves is a lower bound
of the request's cost, as no request costs less with more lanes. This bounds a branch more tightly than the bound for
all layouts. For a request whose lanes form an affine subspace, as in code without remainders, the bound is what
rank(chosen part) allows: 2^(dim − rank).

f(x + t) = f(x) + f(t) over GF(2), so a request and its translate by t cost the same: only one of them is scored.
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
    """(the best linear swizzle whose figure is below `best`, None if there is none; whether all were tried).

    rows: gives the length of rows; unit: bytes of vectors that stay whole; line: bytes of all banks; bits: of a row
    number; floor: the bound for all layouts.
    """
    try:
        return _Branches(costs, rows, unit, line, bits, floor, best, account).run()
    except (NotProvable, Exhausted):
        return None, False


_STEPS_A_REQUEST, _STEPS_A_NODE = 2, 500


class _Requests(Record, eq=False):
    """The requests of a group, of translates only the first. of (m,): for each of the group's requests, which of
    these it equals. some (n,): the indices of these.

    often (n,): the number of times each occurs in the launch, None if it is not known for all. row (n, lanes): row
    numbers; varying (n,): bits in which those of the active lanes differ. floor (3, 1, n): lower bounds of low, high
    and lines; ideal (2, 1, n): the ideal, and that of lines.
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
    """The n requests of a group that depend on the image of one bit. whole (n,): no later bit affects it. row, start,
    column (n, lanes): each lane's row number, the beginning of the row, and its offset in the row; moved (choices, n,
    lanes): what each image adds. active, sources, filled (choices · n, lanes): for the lanes that agree in the bits
    that are not chosen yet."""

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
    """The search tree: a node fixes the images of some bits."""

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
        self.beyond = varying >> bits  # rows beyond the array's
        self.found: Xor | None = None
        self.concerned: dict[tuple[int, int], _Concerned | None] = {}  # by requests and bit

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
        """Tries every image of the next bit, the most promising first. bounds: for each group (3, 1, n), given the
        images so far."""
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
        """The requests whose bound depends on the image of a bit once it is chosen; None if there are none."""
        key = id(r), bit
        if key not in self.concerned:
            self.concerned[key] = self._looked_at(r, bit, sum(1 << b for b in later))
        return self.concerned[key]

    def _looked_at(self, r: _Requests, bit: int, open_bits: int) -> _Concerned | None:
        which, many = np.flatnonzero(r.varying >> bit & 1), len(self.choices)
        if r.group.access.address_lanes is not None:  # part of a matrix access is a different access: no bound
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
        """For each choice, the weight of the bounds of all requests."""
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
