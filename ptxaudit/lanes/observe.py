"""From what a site's requests look like to an answer per request, when they were not counted.

    address 4·lane + n          ->  invariant: 1 wavefront, whatever n is
    address 4·lane·pitch        ->  conditional on pitch: a table by pitch mod 32
    a mask that is not known    ->  from the cost of one lane to the cost of all of them
    a loaded index              ->  data-dependent, with the range that the lanes allow

A request's cost cannot grow when lanes leave it (no rule of any machine lets fewer words cost more, but
for matrices, whose rows may come from lanes that are off), so the full mask bounds every part of
it from above.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .. import banks
from ..records import record
from . import affine
from .env import LANES
from .formula import formula
from .record import SiteRecord, ranges
from .result import Case, SiteResult, Status
from .value import EVERYWHERE, Lost, Uniform, Value, array_zeros, because, constant, low_zeros, resize, signed

MOST_RESIDUES = 256          # lines of a table of cases that are computed
MOST_MEETINGS = 2048         # numbers at which lanes come to share words
OWN_FORMULA = "each site's own"
EXTRA_SYMBOLS = 6            # bits and choices of which all combinations are tried


@dataclass(eq=False)         # (frozen, it would be slow to build: every pass of a loop makes them anew)
class Observation:
    """One abstract request of a site: mask (rows, LANES) of lanes that may be active; exact: they are. base, offset: its
    address is their sum, taken when it is asked for: most observations are put back before."""

    base: Value
    offset: int
    mask: np.ndarray
    exact: bool
    doubts: tuple[Lost, ...]
    space: str

    @cached_property
    def address(self) -> Value:
        return affine.add(self.base, constant(self.offset, self.base.bits)) if self.offset else self.base


@record
class Seen:
    """An observation in one group of rows (what the group stands for)."""

    group: str
    observation: Observation


@dataclass
class _Range:
    """Figures of one group of rows."""

    low: int | None = None
    high: int | None = None
    ideal_low: int | None = None
    ideal_high: int | None = None
    lines: int | None = None
    lines_high: int | None = None
    lines_ideal: int | None = None

    def put(self, low, high, ideal_low, ideal_high, lines=None, lines_high=None, lines_ideal=None):
        pick = lambda a, b, f: b if a is None else a if b is None else f(a, b)
        self.low, self.high = pick(self.low, low, min), pick(self.high, high, max)
        self.ideal_low, self.ideal_high = pick(self.ideal_low, ideal_low, min), pick(self.ideal_high, ideal_high, max)
        self.lines, self.lines_high = pick(self.lines, lines, min), pick(self.lines_high, lines_high, max)
        self.lines_ideal = pick(self.lines_ideal, lines_ideal, max)


@record
class _Doubts:
    """Why lanes that may take part may also not: the reasons in words; data: one of them is loaded data."""

    reasons: tuple[str, ...]
    data: bool


@record
class _Given:
    """A request that has no figure: only the range that its lanes allow, and why."""

    reason: str
    status: Status
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class _Counted:
    """A request with figures; reason, cases: what they depend on, where that is an unknown that multiplies the lane."""

    record: SiteRecord
    reason: str = ""
    cases: tuple[Case, ...] = ()


@record
class _Asked:
    """What an answer needs of one observation. Equal ones get equal answers."""

    group: str
    request: _Given | _Counted
    doubts: _Doubts | None


@dataclass
class _Found:
    """What the observations of a site add up to."""

    ranges: dict[str, _Range] = field(default_factory=dict)        # group -> figures
    cases: list[Case] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    given: list[tuple[str, _Given]] = field(default_factory=list)  # by group
    inexact: list[_Doubts] = field(default_factory=list)
    patterns: dict[str, set] = field(default_factory=dict)         # group -> distinct requests
    uncounted: bool = False
    record: SiteRecord | None = None


class _NoFigure(Exception):
    """There is no figure and no table for a request."""

    def __init__(self, reason: str, status: Status):
        self.reason, self.status = reason, status


class Conclusions:
    """The answers for the sites of one kernel.

    A loop that ptxas or the front end unrolled is many sites that ask the same, up to what changes no answer. So each
    distinct request is scored once, and each distinct set of requests answered once. (Objects that are asked about
    outlive this: it tells them apart by their identity.)
    """

    def __init__(self, machine):
        self.machine = machine
        self._answers: dict[tuple, SiteResult] = {}
        self._requests: dict[tuple, _Given | _Counted] = {}
        self._lanes: dict[int, _Lanes] = {}
        self._doubts: dict[int, _Doubts] = {}

    def conclude(self, index: int, access, seen: list[Seen], shaped: bool) -> SiteResult:
        """One answer for a site out of all its abstract requests; the assumed group's come first.

        shaped: the block's shape is not told, and the site's address or mask is made of it.
        """
        shift = self.machine.invariant_shift(access)                 # the rest of an offset changes nothing
        question = access, shaped, tuple([(s.group, id(o.base), o.offset % shift, id(o.mask), o.exact, id(o.doubts))
                                          for s in seen for o in (s.observation,)])
        answer = self._answers.get(question)
        if answer is None:
            answer = self._answers[question] = self._concluded(index, access, seen, shaped, shift)
        first = seen[0].observation if answer.formula else None
        return replace(answer, index=index, formula="" if first is None else formula(first.base, first.offset))

    def _concluded(self, index: int, access, seen: list[Seen], shaped: bool, shift: int) -> SiteResult:
        machine = self.machine
        here = [s for s in seen if not _global_only(s.observation)]
        if seen and not here:
            return SiteResult(index, Status.UNREACHED, "a generic access that is never one of shared memory", evidence=machine.evidence(access))
        taking_part = [s for s in here if self._lanes_of(s.observation).some]
        if shaped and not taking_part:                 # the shapes that are tried do not stand for all others
            return SiteResult(index, Status.CONDITIONAL, "depends on the block's shape, which is not told (--block): no lane of the shapes taken here reaches it",
                              per_request=(0, banks.bounds(machine, access, 1, LANES)[1]), evidence=machine.evidence(access),
                              conditions=(Case("the block's shape is one of those taken here", 0, 0, 0),))
        if not here:
            return SiteResult(index, Status.UNREACHED, "no lane can reach it with what is told", evidence=machine.evidence(access))
        if not taking_part:
            return SiteResult(index, Status.INVARIANT, "no lane takes part in any of its requests", per_request=(0, 0),
                              ideal_per_request=(0, 0), evidence="by rule")
        asked, exact = [], True
        for s in taking_part:
            exact = exact and s.observation.exact
            asked.append(_Asked(s.group, self._request(access, s, shift, exact), self._doubts_of(s.observation)))
        question = access, shaped, tuple(asked)
        if question not in self._answers:
            self._answers[question] = _answer(index, access, machine, shaped, _added_up(asked, here[0].group))
        return self._answers[question]

    def _lanes_of(self, o: Observation) -> _Lanes:
        lanes = self._lanes.get(id(o.mask))
        if lanes is None:
            lanes = self._lanes[id(o.mask)] = _Lanes(o.mask)
        return lanes

    def _doubts_of(self, o: Observation) -> _Doubts | None:
        if o.exact:
            return None
        doubts = self._doubts.get(id(o.doubts))
        if doubts is None:
            every = o.doubts or (Lost("branches on the way here"),)
            doubts = self._doubts[id(o.doubts)] = _Doubts(tuple(dict.fromkeys(d.reason for d in every)), any(d.data for d in every))
        return doubts

    def _request(self, access, s: Seen, shift: int, exact: bool) -> _Given | _Counted:
        """The figures of an observation, or why it has none. exact: all lanes of it, and of those before, take part for certain."""
        o, lanes = s.observation, self._lanes_of(s.observation)
        try:
            place = _place(access, o, shift, self.machine)
            question = access, place.code, lanes.code, *((s.group, exact) if place.varying else ())
            request = self._requests.get(question)
            if request is None:
                request = self._requests[question] = _scored(access, place, o.mask, self.machine, s.group, exact)
        except _NoFigure as none:
            low, high = banks.bounds(self.machine, access, 1, lanes.most)
            return _Given(none.reason, none.status, 0 if o.space == "generic" else low, high)      # a generic access may be elsewhere
        if request.record.faults:
            return _Given(request.record.doubt, Status.UNKNOWN, *banks.bounds(self.machine, access, 1, lanes.most))
        return request


class _Lanes:
    """A mask of lanes that may take part. code: its bytes; some: there is one; most: in a row."""

    def __init__(self, mask: np.ndarray):
        self.mask, self.code = mask, mask.tobytes()
        self.some = b"\1" in self.code

    @cached_property
    def most(self) -> int:
        return int(self.mask.sum(axis=1).max())


def _added_up(asked: list[_Asked], main: str) -> _Found:
    """What the requests of a site come to. main: the group whose figures are shown by the place of the array."""
    found = _Found()
    for one in asked:
        if one.doubts is not None:
            found.inexact.append(one.doubts)
        here = found.ranges.setdefault(one.group, _Range())
        request = one.request
        if isinstance(request, _Given):
            found.given.append((one.group, request))
            here.put(request.low, request.high, None, None)
            found.patterns.setdefault(one.group, set()).add("?")
            continue
        requests = request.record
        t = requests.totals()
        found.record = found.record or requests
        found.uncounted = found.uncounted or t.uncounted
        found.patterns.setdefault(one.group, set()).update(k[:2] for k in requests.scored)
        lines = (min(x[8] for x in requests.scored.values()), t.line_class_max, t.lines_ideal) if t.uncounted else (None, None, None)
        here.put(t.per_low, t.per_high, t.ideal_low, t.ideal_high, *lines)
        cases = [*request.cases, *(requests.base_cases() if requests.residues and one.group == main else ())]
        found.reasons += [r for r in dict.fromkeys((request.reason, requests.loose)) if r and r not in found.reasons]
        found.cases += [c for c in dict.fromkeys(cases) if c not in found.cases]
    return found


def _global_only(o: Observation) -> bool:
    """A generic access to memory that is certainly not shared."""
    if o.space != "generic" or o.base.poison is not None:
        return False
    if any(u.kind == "window" and u.key == "shared" or "shared_window" in u.name for u, _ in o.base.terms):
        return False
    return not o.base.terms or any(u.kind in ("pointer", "variable", "window") for u, _ in o.base.terms)


@dataclass(frozen=True, eq=False)
class _Place:
    """An address as far as it decides a request, less a multiple of the shift that changes no count.

    numbers: (rows, lanes) or less; zeros: low bits that unknowns leave alone; line: not 0: known modulo this only;
    varying: unknowns with what each is multiplied by in the lanes; code: what tells it from others.
    """

    numbers: np.ndarray
    zeros: int
    line: int
    varying: tuple[tuple[Uniform, np.ndarray], ...]
    code: tuple


def _place(access, o: Observation, shift: int, machine) -> _Place:
    """Raises _NoFigure where the address is not known."""
    value, moved = o.base, o.offset % shift
    line = 0
    if value.poison is not None and (value.poison is EVERYWHERE or (value.poison & o.mask).any()):
        raise _not_known(value, moved, "an address that is not known")
    if value.valid is not None and value.valid < min(32, value.bits):
        line = line_of(machine, access)
        if (1 << value.valid) % line or access.bypass:
            raise _not_known(value, moved, "an address of which only the low bits are known")
    zeros, varying = 32, []
    for u, c in value.terms:
        common = array_zeros(c) if c.size > 1 else low_zeros(c.item())
        if common >= 32:                   # whole multiples of 2**32: lanes that meet in shared memory agree on them
            continue
        if _varies(c, o.mask):
            varying.append((u, c))
        else:
            zeros = min(zeros, u.zeros + common)
    numbers = resize(value.base, 32)
    if moved:
        numbers = numbers + np.uint32(o.offset & 0xffffffff)
    numbers = signed(numbers).astype(np.int64)
    numbers -= int(numbers[0, 0]) // shift * shift
    code = zeros, line, numbers.shape, numbers.tobytes(), *((u, c.shape, c.tobytes()) for u, c in varying)
    return _Place(numbers, zeros, line, tuple(varying), code)


def _not_known(value: Value, moved: int, words: str) -> _NoFigure:
    why = (because(value) if moved else value.why) or Lost(words)
    return _NoFigure(why.reason, Status.DATA_DEPENDENT if why.data else Status.UNKNOWN)


def _scored(access, place: _Place, mask: np.ndarray, machine, group: str, exact: bool) -> _Counted:
    """Score all rows of a group; unknowns that multiply the lane are tabulated."""
    choices = [(u, c) for u, c in place.varying if u.low == 0 and u.high is not None and u.high <= 3]
    others = [(u, c) for u, c in place.varying if (u, c) not in choices]
    if place.varying and (len(others) > 1 or len(choices) > EXTRA_SYMBOLS or place.line):
        names = " and ".join(dict.fromkeys(u.name for u, _ in place.varying))
        raise _NoFigure(f"{names} multiply the lane", Status.BOUNDED)
    base = np.broadcast_to(place.numbers, mask.shape)
    factors = [np.broadcast_to(signed(resize(c, 32)).astype(np.int64), mask.shape) for _, c in choices + others]
    rows, weights = _distinct_rows(base, mask, factors, machine.invariant_shift(access))
    base, mask, factors = base[rows], mask[rows], [c[rows] for c in factors]
    variants = [base]
    for (u, _), c in zip(choices, factors):
        variants = [v + c * k for v in variants for k in range(u.high + 1)]
    record = SiteRecord(machine, access, many_trips=True)          # no trips are counted here
    if others:
        return _tabulated(record, variants, others[0][0], factors[-1], mask, weights, place.zeros, group, exact)
    for v in variants:
        record.add(v, mask, weights, np.zeros(len(mask), np.int64), None, place.zeros, place.line)
    record.flush()
    return _Counted(record)


def _distinct_rows(base: np.ndarray, mask: np.ndarray, factors: list[np.ndarray], shift: int) -> tuple[list[int], np.ndarray]:
    """The first of the rows that are alike up to a multiple of `shift`, and how many each stands for: most warps differ by that only."""
    first = np.take_along_axis(base, mask.argmax(axis=1)[:, None], 1)
    columns = base - first // shift * shift, mask, *factors
    found: dict[tuple, list[int]] = {}
    for row in range(len(base)):
        found.setdefault(tuple([column[row].tobytes() for column in columns]), []).append(row)
    return [same[0] for same in found.values()], np.array([len(same) for same in found.values()], np.int64)


def _varies(c: np.ndarray, mask: np.ndarray) -> bool:
    if c.shape[1] == 1:
        return False
    wide = np.broadcast_to(c, mask.shape)
    first = np.take_along_axis(wide, mask.argmax(axis=1)[:, None], 1)
    return bool(((wide != first) & mask).any())


def _tabulated(record: SiteRecord, variants, u: Uniform, c: np.ndarray, mask, weights, zeros, group: str, exact: bool) -> _Counted:
    """The figure as a function of an unknown that multiplies the lane.

    Banks depend on the unknown modulo a period; whether two lanes share a word does so too, except for
    the few numbers at which two lanes come to lie within a word of each other. So: every residue, at
    a number far from all of those, and each of those by itself.
    """
    machine, access = record.machine, record.access
    unit = 1 << low_zeros(int(np.bitwise_or.reduce(np.where(mask, c, 0), axis=None)))
    line = line_of(machine, access)
    period = max(1, line // min(unit, line))
    step = 1 << min(u.zeros, 31)
    if u.low is not None and u.high is not None and u.high - u.low <= MOST_RESIDUES * step:
        numbers = list(range(-(-u.low // step) * step, u.high + 1, step))
        generic: list[int] = []
    else:
        residues = range(0, period, step) if step < period else (0,)
        if len(residues) > MOST_RESIDUES:
            raise _NoFigure(f"{u.name} multiplies the lane", Status.BOUNDED)
        numbers = _meetings(variants, c, mask, max(access.width, machine.rule(access).count.unit), u, step)
        if numbers is None:
            raise _NoFigure(f"{u.name} multiplies the lane", Status.BOUNDED)
        far = max([abs(n) for n in numbers], default=0)
        generic = [(far // period + 2) * period + r for r in residues]
    generic, numbers = _that_do_not_fault(generic, numbers, variants, c, mask, zeros, access, u, exact)
    every = [*generic, *numbers]
    stacked = np.concatenate([v + c * n for n in every for v in variants])
    times = len(every) * len(variants)
    each = np.tile(mask, (times, 1))
    record.add(stacked, each, np.tile(weights, times), np.zeros(len(stacked), np.int64), None, zeros)
    record.flush()
    some = mask.any(axis=1)
    figures = SiteRecord(machine, access).figures(stacked, each, zeros).reshape(3, len(every), -1)[:, :, np.tile(some, len(variants))]
    low, high, ideal = figures[0].min(axis=1), figures[1].max(axis=1), figures[2].max(axis=1)
    figure = {n: (int(low[k]), int(high[k]), int(ideal[k])) for k, n in enumerate(every)}
    usual = {n % period: figure[n] for n in generic}
    prefix = "" if group in ("the stated block", "the launch") else f"{group}: "
    odd = {n: figure[n] for n in numbers if figure[n] != usual.get(n % period)}
    cases = []
    for table, words in ((usual, f"{u.name} mod {period} in"), (odd, f"{u.name} exactly in")):
        folded: dict[tuple, list[int]] = {}
        for n, key in sorted(table.items()):
            folded.setdefault(key, []).append(n)
        cases += [Case(f"{prefix}{words} {ranges(where)}", *key) for key, where in sorted(folded.items(), key=lambda kv: kv[1][0])]
    return _Counted(record, _to_tell(u), tuple(cases))


_NUMBERED = re.compile(r".*_param_(\d+)")


def _to_tell(u: Uniform) -> str:
    """An unknown, and the option that tells it."""
    if u.kind == "parameter":
        numbered = _NUMBERED.fullmatch(u.name)
        return f"{u.name}, which is not told (--param {numbered[1] if numbered else u.name})"
    return f"{u.name}, which is not told (--block)" if u.kind == "block shape" else u.name


def _that_do_not_fault(generic, numbers, variants, c, mask, zeros, access, u, exact: bool) -> tuple[list[int], list[int]]:
    """The numbers whose addresses an access of this width may have: a launch that does not fault has no others."""
    def faults(n: int) -> bool:
        for v in variants:
            address = v + c * n
            if 1 << zeros < access.align:              # the base aligns what the lanes have in common
                address = address - np.take_along_axis(address, mask.argmax(axis=1)[:, None], 1)
            if ((address & access.align - 1 != 0) & mask).any():
                return True
        return False
    if access.align == 1:
        return generic, numbers
    wrong = {n for n in (*generic, *numbers) if faults(n)}
    left = [n for n in generic if n not in wrong], [n for n in numbers if n not in wrong]
    if wrong and (not exact or len(variants) > 1) or not any(left):      # perhaps they fault only in lanes that take no part
        raise _NoFigure(f"an address that {u.name} may misalign for {access.width} bytes: the hardware would fault", Status.UNKNOWN)
    return left


def _meetings(variants, c: np.ndarray, mask: np.ndarray, reach: int, u, step: int) -> list[int] | None:
    """The numbers u can be at which two active lanes of a row are less than `reach` bytes apart although
    their distance depends on u; None when there are too many."""
    found: set[int] = set()
    first, second = np.triu_indices(LANES, 1)
    together = mask[:, first] & mask[:, second]
    slope = c[:, first] - c[:, second]
    use = together & (slope != 0)
    for v in variants:
        gap = np.broadcast_to(v, mask.shape)
        gap = gap[:, second] - gap[:, first]
        k, g = slope[use], gap[use]
        k, g = np.where(k < 0, -k, k), np.where(k < 0, -g, g)
        pairs = np.array(sorted(set(zip(k.tolist(), g.tolist()))), np.int64).reshape(-1, 2).T
        low, high = -((reach - 1 - pairs[1]) // pairs[0]), (pairs[1] + reach - 1) // pairs[0]
        for a, b in zip(low.tolist(), high.tolist()):
            found.update(n for n in range(-(-a // step) * step, b + 1, step))
            if len(found) > MOST_MEETINGS:
                return None
    least, most = -1 << 31 if u.low is None else u.low, 1 << 31 if u.high is None else u.high
    return sorted(n for n in found if least <= n <= most)


def line_of(machine, access) -> int:
    """Bytes after which banks and equal words repeat: figures depend on an address modulo this."""
    rule = machine.rule(access)
    counts = [c for c in (rule.count, rule.second) if c is not None]
    return max(max(c.row, c.unit * c.slots) for c in counts)


def _answer(index, access, machine, shaped: bool, found: _Found) -> SiteResult:
    first, main = next(iter(found.ranges.items()))
    record = found.record
    shown = record.patterns() if record is not None else ()
    base = dict(formula=OWN_FORMULA, patterns=shown, evidence=record.evidence if record is not None else machine.evidence(access),
                ideal_per_request=None if main.ideal_low is None else (main.ideal_low, main.ideal_high))
    given = next((g for group, g in found.given if group == first), None)
    if found.uncounted:
        reason = "cp.async.cg: no counter sees its wavefronts; line_class_max tells its cost"
        return SiteResult(index, Status.BOUNDED, "; ".join([reason, *found.reasons]), line_class_max=main.lines_high, **base)
    low, high = main.low, main.high
    if found.inexact and low is not None:
        low = min(low, banks.bounds(machine, access, 1, 1)[0])
        if access.address_lanes is not None:       # a matrix with lanes off is a range of its own
            high = max(high, banks.bounds(machine, access, 1, LANES)[1])
    if given is not None:
        worst = next((g for group, g in found.given if group == first and g.status == Status.DATA_DEPENDENT), given)
        status = worst.status
        if status == Status.UNKNOWN and high <= 2 * low:
            status = Status.BOUNDED
        unresolved = {group for group, _ in found.given}
        if status == Status.UNKNOWN and shaped and not unresolved >= set(found.ranges):
            table = tuple(Case(name + (" (not resolved)" if name in unresolved else ""), r.low, r.high, r.ideal_high)
                          for name, r in found.ranges.items())
            return SiteResult(index, Status.CONDITIONAL, f"depends on the block's shape, which is not told (--block); {worst.reason}",
                              per_request=_hull(low, high, found), conditions=table, **base)
        per = None if status == Status.UNKNOWN else (low, high)
        return SiteResult(index, status, worst.reason, per_request=per, **base)
    if found.cases:
        return SiteResult(index, Status.CONDITIONAL, _dependence(found.reasons), per_request=_hull(low, high, found),
                          conditions=tuple(found.cases), **base)
    if shaped and (len(found.ranges) == 1 or any(p != found.patterns[first] for p in found.patterns.values())):
        table = tuple(Case(name, r.low, r.high, r.ideal_high) for name, r in found.ranges.items())
        reason = "depends on the block's shape, which is not told (--block)"
        if found.inexact:
            reason += f"; {_mask_words(found.inexact)}"
        return SiteResult(index, Status.CONDITIONAL, reason, per_request=_hull(low, high, found), conditions=table, **base)
    if low == high and not found.reasons:
        note = _mask_words(found.inexact) + ", which changes nothing for a request with an active lane" if found.inexact else ""
        return SiteResult(index, Status.INVARIANT, note, per_request=(low, high), ways=_ways(shown), **base)
    if found.inexact:
        data = any(d.data for d in found.inexact)
        cases = (Case("all lanes that can take part do", main.low, main.high, main.ideal_high), Case("fewer lanes do", low, high, None))
        return SiteResult(index, Status.DATA_DEPENDENT if data else Status.CONDITIONAL, _mask_words(found.inexact),
                          per_request=(low, high), conditions=cases, **base)
    reason = "; ".join(found.reasons) or access_reason(machine, access) or "requests of this site differ"
    return SiteResult(index, Status.BOUNDED, reason, per_request=(low, high), ways=_ways(shown), **base)


def _dependence(reasons: list[str]) -> str:
    """"depends on a, b"; what is a sentence of its own follows."""
    sentences = [r for r in reasons if r.endswith("is not known")]
    names = [r for r in reasons if r not in sentences]
    return "; ".join([*(["depends on " + ", and ".join(names)] if names else []), *sentences])


def _hull(low: int, high: int, found: _Found) -> tuple[int, int]:
    """What a request costs in any of the cases."""
    ranges_ = [r for r in found.ranges.values() if r.low is not None]
    return min([low, *(r.low for r in ranges_)]), max([high, *(r.high for r in ranges_)])


def access_reason(machine, access) -> str:
    """Why the machine's rule gives a range for an access; "" where it does not."""
    return machine.why_range(access)


def _ways(patterns) -> int | None:
    ways = [p.ways for p in patterns]
    return max(ways) if ways and min(ways) >= 0 else None


def _mask_words(doubts: list[_Doubts]) -> str:
    names = list(dict.fromkeys(reason for d in doubts for reason in d.reasons))
    return "which lanes take part depends on " + "; ".join(names[:3])
