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
from . import affine
from .env import LANES
from .formula import formula
from .record import SiteRecord, ranges
from .result import Case, SiteResult, Status
from .value import Lost, Uniform, Value, array_zeros, constant, low_zeros, resize, signed

MOST_RESIDUES = 256          # lines of a table of cases that are computed
MOST_MEETINGS = 2048         # numbers at which lanes come to share words
OWN_FORMULA = "each site's own"
EXTRA_SYMBOLS = 6            # bits and choices of which all combinations are tried


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Seen:
    """An observation in one group of rows (what the group stands for, which rows)."""

    group: str
    rows: slice
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


@dataclass
class _Found:
    """What the observations of a site add up to."""

    ranges: dict[str, _Range] = field(default_factory=dict)        # group -> figures
    cases: list[Case] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    given: list = field(default_factory=list)                      # (group, _Given)
    inexact: list[Lost] = field(default_factory=list)
    patterns: dict[str, set] = field(default_factory=dict)         # group -> distinct requests
    uncounted: bool = False
    record: SiteRecord | None = None


class _Given(Exception):
    """An observation that has no table: only the range that the lanes allow."""

    def __init__(self, lost: Lost, status: Status):
        self.lost, self.status = lost, status


def conclude(index: int, access, seen: list[Seen], machine, shaped: bool, scored: dict) -> SiteResult:
    """One answer for a site out of all its abstract requests; the assumed group's come first.

    shaped: the block's shape is not told, and the site's address or mask is made of it.
    scored: records of requests that other sites of the kernel have made too, and answers; added to.
    """
    shift = machine.invariant_shift(access)                 # the rest of an offset changes nothing
    question = access, shaped, tuple((s.group, id(s.observation.base), s.observation.offset % shift, id(s.observation.mask),
                                      s.observation.exact, id(s.observation.doubts)) for s in seen)
    answer = scored.get(question)                           # (observations outlive `scored`)
    if answer is None:
        answer = scored[question] = _concluded(index, access, seen, machine, shaped, shift, scored)
    text = formula(seen[0].observation.address) if answer.formula else ""
    return replace(answer, index=index, formula=text)


def _concluded(index: int, access, seen: list[Seen], machine, shaped: bool, shift: int, scored: dict) -> SiteResult:
    if seen and all(_global_only(s.observation) for s in seen):
        return SiteResult(index, Status.UNREACHED, "a generic access that is never one of shared memory", evidence=machine.evidence(access))
    seen = [s for s in seen if not _global_only(s.observation)]
    taking_part = any(s.observation.mask[s.rows].any() for s in seen)
    if shaped and not taking_part:                 # the shapes that are tried do not stand for all others
        return SiteResult(index, Status.CONDITIONAL, "depends on the block's shape, which is not told (--block): no lane of the shapes taken here reaches it",
                          per_request=(0, banks.bounds(machine, access, 1, LANES)[1]), evidence=machine.evidence(access),
                          conditions=(Case("the block's shape is one of those taken here", 0, 0, 0),))
    if not seen:
        return SiteResult(index, Status.UNREACHED, "no lane can reach it with what is told", evidence=machine.evidence(access))
    if not taking_part:
        return SiteResult(index, Status.INVARIANT, "no lane takes part in any of its requests", per_request=(0, 0),
                          ideal_per_request=(0, 0), evidence="by rule")
    found = _Found()
    for s in seen:
        o = s.observation
        mask = o.mask[s.rows]
        if not mask.any():
            continue
        if not o.exact:
            found.inexact.extend(o.doubts or (Lost("the lanes that take part are not known"),))
        here = found.ranges.setdefault(s.group, _Range())
        try:
            rest = o.offset % shift
            again = access, id(o.base), rest, id(o.mask), s.group
            record = scored.get(again)
            if record is None:
                place = _take(o.address if rest else o.base, s.rows)
                record = _score(access, place, mask, machine, s.group, found, scored, again)
        except _Given as given:
            found.given.append((s.group, given.with_traceback(None)))      # which would hold this frame, and this frame it
            few, most = banks.bounds(machine, access, 1, int(mask.sum(axis=1).max()))
            here.put(0 if o.space == "generic" else few, most, None, None)      # a generic access may be elsewhere
            found.patterns.setdefault(s.group, set()).add("?")
            continue
        t = record.totals()
        if record.faults:
            found.given.append((s.group, _Given(Lost(record.doubt), Status.UNKNOWN)))
            here.put(*banks.bounds(machine, access, 1, int(mask.sum(axis=1).max())), None, None)
            found.patterns.setdefault(s.group, set()).add("?")
            continue
        found.record = found.record or record
        found.uncounted = found.uncounted or t.uncounted
        found.patterns.setdefault(s.group, set()).update(k[:2] for k in record.scored)
        lines = (min(x[8] for x in record.scored.values()), t.line_class_max, t.lines_ideal) if t.uncounted else (None, None, None)
        here.put(t.per_low, t.per_high, t.ideal_low, t.ideal_high, *lines)
        if record.loose and record.loose not in found.reasons:
            found.reasons.append(record.loose)
        if record.residues and s.group == seen[0].group:
            found.cases += [c for c in record.base_cases() if c not in found.cases]
    return _answer(index, access, machine, shaped, found)


def _global_only(o: Observation) -> bool:
    """A generic access to memory that is certainly not shared."""
    if o.space != "generic" or o.address.poison is not None:
        return False
    if any(u.kind == "window" and u.key == "shared" or "shared_window" in u.name for u, _ in o.address.terms):
        return False
    return not o.address.terms or any(u.kind in ("pointer", "variable", "window") for u, _ in o.address.terms)


def _take(value: Value, part: slice) -> Value:
    pick = lambda a: a if a is None or a.shape[0] == 1 else a[part]
    return Value(pick(value.base), tuple((u, pick(c)) for u, c in value.terms), value.valid, pick(value.poison), value.why)


def _score(access, address: Value, mask: np.ndarray, machine, group: str, found: _Found, scored: dict, again: tuple) -> SiteRecord:
    """Score all rows of a group; unknowns that multiply the lane are tabulated. again: what names the same question."""
    if address.poison is not None and (np.broadcast_to(address.poison, mask.shape) & mask).any():
        why = address.why or Lost("an address that is not known")
        raise _Given(why, Status.DATA_DEPENDENT if why.data else Status.UNKNOWN)
    line = 0
    if address.valid is not None and address.valid < min(32, address.bits):
        line = line_of(machine, access)
        if (1 << address.valid) % line or access.bypass:
            why = address.why or Lost("an address of which only the low bits are known")
            raise _Given(why, Status.DATA_DEPENDENT if why.data else Status.UNKNOWN)
    zeros, varying = 32, []
    for u, c in address.terms:
        if not resize(c, 32).any():        # whole multiples of 2**32: lanes that meet in shared memory agree on them
            continue
        if _varies(c, mask):
            varying.append((u, c))
        else:
            zeros = min(zeros, u.zeros + array_zeros(c))
    base = signed(affine.fit(address, 32).base).astype(np.int64)
    base = np.broadcast_to(base, mask.shape)
    weights = np.ones(mask.shape[0], np.int64)
    trip = np.zeros(mask.shape[0], np.int64)
    if not varying:
        shift = machine.invariant_shift(access)
        base = base - int(base[0, 0]) // shift * shift
        key = access, zeros, line, mask.tobytes(), base.tobytes()
        if key not in scored:
            scored[key] = SiteRecord(machine, access)
            scored[key].add(base, mask, weights, trip, None, zeros, line)
        scored[again] = scored[key]
        return scored[key]
    record = SiteRecord(machine, access)
    choices = [(u, c) for u, c in varying if u.low == 0 and u.high is not None and u.high <= 3]
    others = [(u, c) for u, c in varying if (u, c) not in choices]
    if len(others) > 1 or len(choices) > EXTRA_SYMBOLS or line:
        names = " and ".join(dict.fromkeys(u.name for u, _ in varying))
        raise _Given(Lost(f"{names} multiply the lane"), Status.BOUNDED)
    variants = [base]
    for u, c in choices:
        c = np.broadcast_to(signed(resize(c, 32)).astype(np.int64), mask.shape)
        variants = [v + c * k for v in variants for k in range(u.high + 1)]
    if not others:
        for v in variants:
            record.add(v, mask, weights, trip, None, zeros)
        return record
    _tabulate(record, variants, others[0], mask, weights, trip, zeros, machine, access, group, found)
    return record


def _varies(c: np.ndarray, mask: np.ndarray) -> bool:
    if c.shape[1] == 1:
        return False
    wide = np.broadcast_to(c, mask.shape)
    first = np.take_along_axis(wide, mask.argmax(axis=1)[:, None], 1)
    return bool(((wide != first) & mask).any())


def _tabulate(record, variants, term, mask, weights, trip, zeros, machine, access, group: str, found: _Found) -> None:
    """The figure as a function of an unknown that multiplies the lane.

    Banks depend on the unknown modulo a period; whether two lanes share a word does so too, except for
    the few numbers at which two lanes come to lie within a word of each other. So: every residue, at
    a number far from all of those, and each of those by itself.
    """
    u, c = term
    c = np.broadcast_to(signed(resize(c, 32)).astype(np.int64), mask.shape)
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
            raise _Given(Lost(f"{u.name} multiplies the lane"), Status.BOUNDED)
        numbers = _meetings(variants, c, mask, max(access.width, machine.rule(access).count.unit), u, step)
        if numbers is None:
            raise _Given(Lost(f"{u.name} multiplies the lane"), Status.BOUNDED)
        far = max([abs(n) for n in numbers], default=0)
        generic = [(far // period + 2) * period + r for r in residues]
    generic, numbers = _that_do_not_fault(generic, numbers, variants, c, mask, zeros, access, u, bool(found.inexact))
    every = [*generic, *numbers]
    stacked = np.concatenate([v + c * n for n in every for v in variants])
    each = np.tile(mask, (len(every) * len(variants), 1))
    ones = np.ones(len(stacked), np.int64)
    record.add(stacked, each, ones, np.zeros(len(stacked), np.int64), None, zeros)
    some = mask.any(axis=1)
    figures = SiteRecord(machine, access).figures(stacked, each, zeros).reshape(3, len(every), -1)[:, :, np.tile(some, len(variants))]
    low, high, ideal = figures[0].min(axis=1), figures[1].max(axis=1), figures[2].max(axis=1)
    figure = {n: (int(low[k]), int(high[k]), int(ideal[k])) for k, n in enumerate(every)}
    usual = {n % period: figure[n] for n in generic}
    if _to_tell(u) not in found.reasons:
        found.reasons.append(_to_tell(u))
    prefix = "" if group in ("the stated block", "the launch") else f"{group}: "
    odd = {n: figure[n] for n in numbers if figure[n] != usual.get(n % period)}
    for table, words in ((usual, f"{u.name} mod {period} in"), (odd, f"{u.name} exactly in")):
        folded: dict[tuple, list[int]] = {}
        for n, key in sorted(table.items()):
            folded.setdefault(key, []).append(n)
        for key, where in sorted(folded.items(), key=lambda kv: kv[1][0]):
            case = Case(f"{prefix}{words} {ranges(where)}", *key)
            if case not in found.cases:
                found.cases.append(case)


_NUMBERED = re.compile(r".*_param_(\d+)")


def _to_tell(u: Uniform) -> str:
    """An unknown, and the option that tells it."""
    if u.kind == "parameter":
        numbered = _NUMBERED.fullmatch(u.name)
        return f"{u.name}, which is not told (--param {numbered[1] if numbered else u.name})"
    return f"{u.name}, which is not told (--block)" if u.kind == "block shape" else u.name


def _that_do_not_fault(generic, numbers, variants, c, mask, zeros, access, u, inexact: bool) -> tuple[list[int], list[int]]:
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
    if wrong and (inexact or len(variants) > 1) or not any(left):      # perhaps they fault only in lanes that take no part
        raise _Given(Lost(f"an address that {u.name} may misalign for {access.width} bytes: the hardware would fault"), Status.UNKNOWN)
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
        rows = slice(1) if all((x == x[:1]).all() for x in (slope, gap, use)) else slice(None)       # as in most blocks
        k, g = slope[rows][use[rows]], gap[rows][use[rows]]
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
            return SiteResult(index, Status.CONDITIONAL, f"depends on the block's shape, which is not told (--block); {worst.lost.reason}",
                              per_request=_hull(low, high, found), conditions=table, **base)
        per = None if status == Status.UNKNOWN else (low, high)
        return SiteResult(index, status, worst.lost.reason, per_request=per, **base)
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


def _mask_words(doubts: list[Lost]) -> str:
    names = list(dict.fromkeys(d.reason for d in doubts))
    return "which lanes take part depends on " + "; ".join(names[:3])
