"""What the lane engine says of a kernel: one figure a site. Numbers only; `report` names files."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import Exhausted
from ptxaudit.engine.answer.kept import Kept
from ptxaudit.ir.reasons import Reason, exhausted


class Case(Record):
    """One line of a conditional answer: when `when` holds, a request costs low..high wavefronts."""

    when: str
    low: int
    high: int
    ideal: int | None = None


def ranges(numbers: list[int]) -> str:
    """1, 3, 5, 7, 9 -> "{1, 3, … 9}"; 0, 1, 2, 3, 8 -> "{0–3, 8}"; short lists whole."""
    if len(numbers) > 4 and len({b - a for a, b in zip(numbers, numbers[1:])}) == 1:
        return f"{{{numbers[0]}, {numbers[1]}, … {numbers[-1]}}}"
    if len(numbers) <= 4:
        return "{" + ", ".join(map(str, numbers)) + "}"
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return "{" + ", ".join(f"{a}–{b}" if b > a + 1 else f"{a}, {b}" if b > a else str(a) for a, b in runs) + "}"


class Pattern(Record, dict=True):
    """One distinct request of a site: up to a uniform shift, `count` requests look like this (0: how many is not known,
    nor which lanes take part in each).

    addresses: (lanes,) int64 bytes; active: (lanes,) bool; low/high/ideal/ways: of one request. seen: (trip, mask of
    the block's warps) of a launch that was run, where that was asked for; trip -1 where it is not known.
    """

    addresses: np.ndarray
    active: np.ndarray
    count: int
    low: int
    high: int
    ideal: int
    ways: int
    sources: np.ndarray | None = None
    seen: tuple[tuple[int, int], ...] = ()

    @cached_property
    def lane_bits(self) -> int:
        """The bits in which the distances from the first active lane's address to others are not zero."""
        addresses = self.addresses[self.active]
        return int(np.bitwise_or.reduce(addresses - addresses[0])) if addresses.size else 0

    @cached_property
    def lane_distances(self) -> frozenset[float]:
        """Bytes from the address of each active lane to that of the next one, for each lane between them."""
        lanes = self.active.nonzero()[0]
        return frozenset((np.diff(self.addresses[lanes]) / np.diff(lanes)).tolist())


class SiteResult(Record):
    """The figure of one site (the instruction at `index`). Sums are over the launch.

    Every number is None where it is not known. `per_request` is (low, high) of one request.
    trips: per-trip sums of an exact site in a loop, [(requests, wavefronts, ideal), …], or ().
    """

    index: int
    status: Status
    reason: Reason | None = None
    requests: int | None = None
    active_requests: int | None = None
    wavefronts: int | None = None
    ideal: int | None = None
    excess: int | None = None
    ways: int | None = None
    bounds: tuple[int, int] | None = None
    per_request: tuple[int, int] | None = None
    ideal_per_request: tuple[int, int] | None = None
    line_class_max: int | None = None  # cp.async.cg: the largest k that any request may have
    line_class_proved: int | None = None  # … that some request has at least
    lines: int | None = None  # cp.async.cg: sums of k over the launch, the most that they may be
    lines_proved: int | None = None  # … the least
    lines_ideal: int | None = None
    lanes: int | None = None  # of global and local memory: active lanes of all requests; lines are tag requests there
    unaligned: tuple[str, ...] | None = (
        None  # unknowns whose step is no multiple of what the access must be aligned to; None: not known
    )
    evidence: str = "by rule"  # "measured": exactly this machine instruction was, on exactly this machine
    conditions: tuple[Case, ...] = ()
    formula: str = ""  # the address, as a formula in lane and unknowns
    patterns: tuple[Pattern, ...] = ()  # most frequent first
    distinct: int = 0  # how many patterns there are in all
    trips: tuple[tuple[int, int, int], ...] = ()
    meeting_assumed: bool = False  # PTX: counted as lanes come that meet again where the ways of a branch do
    kept: Kept | None = None  # all its requests with their places, where these were asked for

    def counted(self) -> SiteResult:
        """An invariant answer, exact where it is known how many requests have an active lane, and what the ideal of
        each is.
        """
        if self.active_requests is None or self.requests is None:
            return self
        assert self.per_request is not None  # as it is invariant
        cost = self.per_request[0] * self.active_requests
        found = replace(self, wavefronts=cost, bounds=(cost, cost))
        if found.ideal_per_request is None or found.ideal_per_request[0] != found.ideal_per_request[1]:
            return found
        ideal = found.ideal_per_request[0] * self.active_requests
        return replace(
            found,
            status=Status.EXACT,
            reason=None,
            ideal=ideal,
            excess=cost - ideal,
            ways=1 if cost == ideal else found.ways,
        )


class KernelResult(Record):
    """All sites of one kernel under one launch (or none), and what had to be assumed. endless: why the launch does not
    end."""

    sites: tuple[SiteResult, ...]
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)
    endless: Reason | None = None


def unfinished(index: int, spent: Exhausted) -> SiteResult:
    """A site of which the analysis was not finished."""
    return SiteResult(index, Status.UNKNOWN, exhausted(spent), evidence="by rule")
