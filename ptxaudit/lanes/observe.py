"""From what a site's requests look like to an answer per request, when they were not counted.

    address 4·lane + n          ->  invariant: 1 wavefront, whatever n is
    address 4·lane·pitch        ->  conditional on pitch: a table by pitch mod 32
    a mask that is not known    ->  from the cost of one lane to the cost of all of them
    a loaded index              ->  data-dependent, with the range that the lanes allow

A request's cost cannot grow when lanes leave it (no rule of any machine lets fewer words cost more), so
the full mask bounds every part of it from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import banks
from . import affine
from .env import LANES
from .formula import formula
from .record import SiteRecord
from .result import Case, SiteResult, Status
from .rows import Rows
from .value import Lost, Uniform, Value, array_zeros, low_zeros, signed

MOST_RESIDUES = 256          # lines of a table of cases that are computed
SMALL_UNKNOWN = 256          # an unknown below this is tried number by number: words may meet there
EXTRA_SYMBOLS = 2            # two-valued choices that are all tried


@dataclass(frozen=True)
class Observation:
    """One abstract request of a site: mask (rows, LANES) of lanes that may be active; exact: they are."""

    address: Value
    mask: np.ndarray
    exact: bool
    doubts: tuple[Lost, ...]
    space: str


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


class _Given(Exception):
    """An observation that has no table: only the range that the lanes allow."""

    def __init__(self, lost: Lost, status: Status):
        self.lost, self.status = lost, status


def conclude(index: int, access, observations: list[Observation], machine, rows: Rows, function) -> SiteResult:
    """One answer for a site out of all its abstract requests."""
    observations = [o for o in observations if not _global_only(o)]
    if not observations:
        return SiteResult(index, Status.UNREACHED, "no lane can reach it with what is told", evidence="by rule")
    text = formula(observations[0].address)
    ranges: dict[str, _Range] = {}
    cases: list[Case] = []
    reasons: list[str] = []
    given: list[_Given] = []
    inexact: list[Lost] = []
    patterns = set()
    uncounted = False
    first_record: SiteRecord | None = None
    for o in observations:
        if not o.exact:
            inexact.extend(o.doubts or (Lost("the lanes that take part are not known"),))
        for name, part in rows.groups:
            mask = o.mask[part]
            if not mask.any():
                continue
            try:
                record = _score(access, _take(o.address, part), mask, machine, name, cases, reasons)
            except _Given as g:
                given.append(g)
                low, high = banks.bounds(machine, access, 1, int(mask.sum(axis=1).max()))
                ranges.setdefault(name, _Range()).put(low, high, None, None)
                patterns.add(("?", name))
                continue
            first_record = first_record or record
            t = record.totals()
            uncounted = uncounted or t.uncounted
            patterns.update((name, k[0], k[1]) for k in record.scored)
            lines = (min(s[8] for s in record.scored.values()), t.line_class_max, t.lines_ideal) if t.uncounted else (None, None, None)
            ranges.setdefault(name, _Range()).put(t.per_low, t.per_high, t.ideal_low, t.ideal_high, *lines)
            if record.loose and record.loose not in reasons:
                reasons.append(record.loose)
    return _answer(index, access, machine, rows, text, ranges, cases, reasons, given, inexact, patterns, uncounted, first_record)


def _global_only(o: Observation) -> bool:
    """A generic access to memory that is certainly not shared."""
    if o.space != "generic" or o.address.poison is not None:
        return False
    return any(u.kind in ("pointer", "variable") for u, _ in o.address.terms) and \
        not any(u.kind == "window" for u, _ in o.address.terms)


def _take(value: Value, part: slice) -> Value:
    pick = lambda a: a if a is None or a.shape[0] == 1 else a[part]
    return Value(pick(value.base), tuple((u, pick(c)) for u, c in value.terms), value.valid, pick(value.poison), value.why)


def _score(access, address: Value, mask: np.ndarray, machine, group: str, cases, reasons) -> SiteRecord:
    """Score all rows of a group; unknowns that multiply the lane are tabulated."""
    if address.poison is not None and (np.broadcast_to(address.poison, mask.shape) & mask).any():
        why = address.why or Lost("an address that is not known")
        raise _Given(why, Status.DATA_DEPENDENT if why.data else Status.UNKNOWN)
    if address.valid is not None and address.valid < min(32, address.bits):
        why = address.why or Lost("an address of which only the low bits are known")
        raise _Given(why, Status.DATA_DEPENDENT if why.data else Status.UNKNOWN)
    zeros, varying = 32, []
    for u, c in address.terms:
        if _varies(c, mask):
            varying.append((u, c))
        else:
            zeros = min(zeros, u.zeros + array_zeros(c))
    base = signed(affine.fit(address, 32).base).astype(np.int64)
    base = np.broadcast_to(base, mask.shape)
    record = SiteRecord(machine, access)
    weights = np.ones(mask.shape[0], np.int64)
    trip = np.zeros(mask.shape[0], np.int64)
    if not varying:
        record.add(base, mask, weights, trip, None, zeros)
        if record.lost:
            raise _Given(Lost(record.lost), Status.UNKNOWN)
        return record
    choices = [(u, c) for u, c in varying if u.low == 0 and u.high is not None and u.high <= 3]
    others = [(u, c) for u, c in varying if (u, c) not in choices]
    if len(others) > 1 or len(choices) > EXTRA_SYMBOLS:
        names = " and ".join(dict.fromkeys(u.name for u, _ in varying))
        raise _Given(Lost(f"{names} multiply the lane"), Status.BOUNDED)
    variants = [base]
    for u, c in choices:
        c = np.broadcast_to(signed(affine.resize(c, 32)).astype(np.int64), mask.shape)
        variants = [v + c * k for v in variants for k in range(u.high + 1)]
    if not others:
        for v in variants:
            record.add(v, mask, weights, trip, None, zeros)
        return record
    _tabulate(record, variants, others[0], mask, weights, trip, zeros, machine, access, group, cases, reasons)
    return record


def _varies(c: np.ndarray, mask: np.ndarray) -> bool:
    if c.shape[1] == 1:
        return False
    wide = np.broadcast_to(c, mask.shape)
    first = np.take_along_axis(wide, mask.argmax(axis=1)[:, None], 1)
    return bool(((wide != first) & mask).any())


def _tabulate(record, variants, term, mask, weights, trip, zeros, machine, access, group, cases, reasons) -> None:
    """The figure as a function of an unknown that multiplies the lane.

    Banks depend on the unknown modulo a period; which words are equal depends on it only where
    it is small. So: every residue with a large representative, and every small number.
    """
    u, c = term
    c = np.broadcast_to(signed(affine.resize(c, 32)).astype(np.int64), mask.shape)
    unit = 1 << low_zeros(int(np.bitwise_or.reduce(np.where(mask, c, 0), axis=None)))
    period = max(1, machine.period(access) // min(unit, machine.period(access)))
    step = 1 << min(u.zeros, 31)
    if u.low is not None and u.high is not None and u.high - u.low <= MOST_RESIDUES * step:
        numbers = range(-(-u.low // step) * step, u.high + 1, step)
        generic = []
    else:
        residues = range(0, period, step) if step < period else (0,)
        if len(residues) > MOST_RESIDUES:
            raise _Given(Lost(f"{u.name} multiplies the lane"), Status.BOUNDED)
        spread = max(int(np.ptp(np.where(mask, v, v[:, :1]))) for v in variants) + 64
        large = -(-spread // period + 1) * period
        large = max(large, (spread // period + 2) * period)
        low = 0 if u.low is None else max(0, u.low)
        generic = [large + r for r in residues]
        numbers = range(-(-low // step) * step, min(SMALL_UNKNOWN, u.high if u.high is not None else SMALL_UNKNOWN) + 1, step)
    table: dict[int, list[int]] = {}
    for number in [*generic, *numbers]:
        one = SiteRecord(machine, access)
        for v in variants:
            one.add(v + c * number, mask, weights, trip, None, zeros)
            record.add(v + c * number, mask, weights, trip, None, zeros)
        t = one.totals()
        if t.per_low is None:
            continue
        slot = table.setdefault(number % period if generic else number, [])
        slot.append((t.per_low, t.per_high, t.ideal_high, number in generic))
    if u.name not in reasons:
        reasons.append(u.name)
    folded: dict[tuple, list[int]] = {}
    for residue, found in sorted(table.items()):
        main = [f for f in found if f[3]] or found
        key = (min(f[0] for f in main), max(f[1] for f in main), main[0][2])
        folded.setdefault(key, []).append(residue)
    for (low, high, ideal), residues in sorted(folded.items(), key=lambda kv: kv[1][0]):
        numbers_text = _ranges(residues)
        when = f"{u.name} mod {period} in {numbers_text}" if generic else f"{u.name} in {numbers_text}"
        prefix = "" if group in ("the stated block", "the launch") else f"{group}: "
        case = Case(prefix + when, low, high, ideal)
        if case not in cases:
            cases.append(case)


def _ranges(numbers: list[int]) -> str:
    """1, 3, 5, 7 -> "{1, 3, 5, 7}"; long lists by their rule."""
    if len(numbers) > 4 and len({b - a for a, b in zip(numbers, numbers[1:])}) == 1:
        return f"{{{numbers[0]}, {numbers[1]}, … {numbers[-1]}}}"
    return "{" + ", ".join(map(str, numbers)) + "}"


def _answer(index, access, machine, rows: Rows, text, ranges, cases, reasons, given, inexact, patterns, uncounted, record) -> SiteResult:
    first = rows.groups[0][0]
    main = ranges.get(first) or next(iter(ranges.values()))
    one = lambda r: banks.bounds(machine, access, 1, 1)[0]
    shown = record.patterns() if record is not None else ()
    evidence = record.evidence if record is not None else "by rule"
    ideal = None if main.ideal_low is None else (main.ideal_low, main.ideal_high)
    base = dict(formula=text, patterns=shown, evidence=evidence, ideal_per_request=ideal)
    if uncounted:
        reason = "cp.async.cg: no counter sees its wavefronts; line_class_max tells its cost"
        return SiteResult(index, Status.BOUNDED, "; ".join([reason, *reasons]), line_class_max=main.lines_high,
                          lines_ideal=None, **base)
    low, high = main.low, main.high
    if inexact and low is not None:
        low = min(low, one(main))
    if given:
        lost = next((g for g in given if g.status == Status.DATA_DEPENDENT), next((g for g in given if g.status == Status.UNKNOWN), given[0]))
        status = lost.status
        if status == Status.UNKNOWN and high is not None and low is not None and high <= 2 * low:
            status = Status.BOUNDED
        per = (low, high) if status != Status.UNKNOWN else None
        return SiteResult(index, status, _with_place(lost.lost), per_request=per, bounds=None, **base)
    shape_matters = not rows.shape_known and len({p[1:] for p in patterns}) > 1 and _groups_differ(patterns)
    if cases:
        why = "depends on " + ", ".join(r for r in reasons)
        return SiteResult(index, Status.CONDITIONAL, why, per_request=(low, high), conditions=tuple(cases), **base)
    if shape_matters:
        table = tuple(Case(name, r.low, r.high, r.ideal_high) for name, r in ranges.items())
        reason = "depends on the block's shape, which is not told (--block)"
        if inexact:
            reason += f"; {_mask_words(inexact)}"
        return SiteResult(index, Status.CONDITIONAL, reason, per_request=(low, high), conditions=table, **base)
    if low == high and not reasons:
        note = _mask_words(inexact) + ", which changes nothing for a request with an active lane" if inexact else ""
        return SiteResult(index, Status.INVARIANT, note, per_request=(low, high), ways=_ways(shown), **base)
    if inexact:
        data = any(d.data for d in inexact)
        all_lanes = Case("all lanes that can take part do", main.low, main.high, main.ideal_high)
        fewer = Case("fewer lanes do", low, high, None)
        return SiteResult(index, Status.DATA_DEPENDENT if data else Status.CONDITIONAL, _mask_words(inexact),
                          per_request=(low, high), conditions=(all_lanes, fewer), **base)
    reason = "; ".join(reasons) or getattr(access, "range_reason", "") or "requests of this site differ"
    return SiteResult(index, Status.BOUNDED, reason, per_request=(low, high), ways=_ways(shown), **base)


def _groups_differ(patterns) -> bool:
    by_group: dict[str, set] = {}
    for p in patterns:
        by_group.setdefault(p[0] if p[0] != "?" else p[1], set()).add(p[1:])
    sets = list(by_group.values())
    return any(s != sets[0] for s in sets[1:])


def _ways(patterns) -> int | None:
    return max((p.ways for p in patterns), default=None)


def _with_place(lost: Lost) -> str:
    return lost.reason


def _mask_words(doubts: list[Lost]) -> str:
    names = list(dict.fromkeys(d.reason for d in doubts))
    return "which lanes take part depends on " + "; ".join(names[:3])
