"""The results of the lane engine for a kernel: one per site. Numbers only; `report` adds names of files."""

from __future__ import annotations

import numpy as np
from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import Exhausted
from ptxaudit.engine.answer.kept import Kept
from ptxaudit.engine.memory.extents import Extent
from ptxaudit.ir.reasons import Reason, exhausted


class Case(Record):
    """One line of a conditional answer: if `when` holds, a request costs low..high wavefronts."""

    when: str
    low: int
    high: int
    ideal: int | None = None


class LaunchCase(Record):
    """One line of an answer for a launch: if `when` holds, the site makes `requests`, which cost low..high in all.

    requests: None if a range; active: those with an active lane, None if unknown; ideal: of all of them, None if a
    range.
    """

    when: str
    requests: int | None
    active: int | None
    low: int
    high: int
    ideal: int | None = None


def ranges(numbers: list[int]) -> str:
    """Formats numbers: 1, 3, 5, 7, 9 -> "{1, 3, … 9}"; 0, 1, 2, 3, 8 -> "{0–3, 8}"; short lists in full."""
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


class Pattern(Record):
    """One distinct request of a site: `count` requests equal it up to a uniform shift.

    count: 0 if the number is unknown, and with it the active lanes of each. addresses: (lanes,) int64 bytes; active:
    (lanes,) bool; low, high, ideal, ways: per request. seen: (trip, mask of the block's warps) of an executed launch,
    if requested; trip -1 if unknown.
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


class Common(Record):
    """What all requests of a site have in common, also those that are not among its patterns.

    adjacent: active lanes next to each other access addresses of the access's width apart; False: not in some request;
    None: unknown. lane_bits: the bits that are set in any difference between the addresses of two lanes. low_bits:
    those that are set in any address below `step`; addresses are known up to a multiple of that. split: some request
    would take fewer sectors if its lowest address were a multiple of 32; None: unknown. complete: there are no others.
    apart: `adjacent` is False of each of them.
    """

    adjacent: bool | None
    lane_bits: int
    low_bits: int
    step: int
    split: bool | None = None
    complete: bool = True
    apart: bool = False

    def united(self, other: Common) -> Common:
        """What these requests and others have in common."""
        return Common(
            _all((self.adjacent, other.adjacent)),
            self.lane_bits | other.lane_bits,
            self.low_bits | other.low_bits,
            min(self.step, other.step),
            _any((self.split, other.split)),
            self.complete and other.complete,
            self.apart and other.apart,
        )

    @property
    def aligned(self) -> int | None:
        """Bytes, the greatest power of two that is known to divide all addresses; None: there are unknown ones."""
        if not self.complete:
            return None
        bits = self.low_bits | self.step
        return bits & -bits


def _all(truths: tuple[bool | None, ...]) -> bool | None:
    return False if False in truths else None if None in truths else True


def _any(truths: tuple[bool | None, ...]) -> bool | None:
    return True if True in truths else None if None in truths else False


class SiteResult(Record):
    """The result for one site (the instruction at `index`). Sums are over the launch.

    Every number is None if unknown. `per_request` is (low, high) of one request. trips: per-trip sums of an exact site
    in a loop, [(active requests, wavefronts, ideal), …], or ().
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
    line_class_proved: int | None = None  # … that some request is proved to have
    lines: int | None = None  # cp.async.cg: upper bound of the sum of k over the launch
    lines_proved: int | None = None  # … lower bound
    lines_ideal: int | None = None
    lanes: int | None = None  # global and local memory: active lanes of all requests; lines are tag requests there
    unaligned: tuple[str, ...] | None = (
        None  # unknowns whose step is not a multiple of the access's alignment; None: unknown
    )
    evidence: str = "by rule"  # "measured": exactly this machine instruction was measured on exactly this machine
    conditions: tuple[Case, ...] = ()
    cases: tuple[LaunchCase, ...] = ()  # of the sums over the launch, where these depend on a few truth values
    formula: str = ""  # the address, as a formula in lane and unknowns
    patterns: tuple[Pattern, ...] = ()  # most frequent first
    distinct: int = 0  # the number of distinct patterns
    common: Common | None = None  # of all requests; None: none of them has known addresses
    trips: tuple[tuple[int, int, int], ...] = ()
    meeting_assumed: bool = False  # PTX: counted as if lanes reconverge where paths of a branch join
    kept: Kept | None = None  # all requests with their places, if requested
    extent: Extent | None = None  # the bytes that they access, if requested and known

    def counted(self) -> SiteResult:
        """Makes an invariant answer exact, if the requests with an active lane and the ideal of each are known."""
        if self.active_requests is None or self.requests is None:
            return self
        assert self.per_request is not None  # as it is invariant
        cost = self.per_request[0] * self.active_requests
        found = replace(self, wavefronts=cost, bounds=(cost, cost))
        if found.ideal_per_request is None or found.ideal_per_request[0] != found.ideal_per_request[1]:
            return found
        ideal = found.ideal_per_request[0] * self.active_requests
        in_memory = found.lanes is not None  # its ways are lanes on one address, of which fewer may be active
        least = found.ways == 1 if in_memory else cost == ideal
        ways = 1 if least else None if in_memory else found.ways
        return replace(found, status=Status.EXACT, reason=None, ideal=ideal, excess=cost - ideal, ways=ways)


class KernelResult(Record):
    """All sites of one kernel under one launch (or none), and the assumptions made.

    endless: why the launch does not terminate.
    """

    sites: tuple[SiteResult, ...]
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)
    endless: Reason | None = None


def unfinished(index: int, spent: Exhausted) -> SiteResult:
    """The result of a site whose analysis exhausted its account."""
    return SiteResult(index, Status.UNKNOWN, exhausted(spent), evidence="by rule")
