"""Turns the requests that an execution has counted (`record`) into the answer for their site.

    1024 requests, 2048 wavefronts, all known              exact
    some of them at unknown addresses                      data-dependent or bounded, between the sums of both ends
    unknown whether they are made at all                   unknown, with the reason

The answer is the strongest one that holds for all requests; `conclusion` does the same for requests that were not
counted.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ptxaudit.base.status import Status
from ptxaudit.engine.answer.observe import never_there
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.engine.answer.scoring import rule_range
from ptxaudit.engine.answer.totals import Totals
from ptxaudit.ir.reasons import Kind, Reason, several

NOTHING = (0, 0, 0, 0, 0, 0)  # requests, active requests, wavefronts, ideal, excess, ways


def site_result(index: int, record: SiteRecord) -> SiteResult:
    """The answer of an execution for one site. Raises Exhausted."""
    if record.access.unscored:
        return _without_rule(index, record)
    record.flush()
    if record.undecided:
        status = Status.DATA_DEPENDENT if record.undecided.data else Status.UNKNOWN
        return SiteResult(index, status, record.undecided, evidence=record.evidence)
    if not record.requests:
        return _never_made(index, record)
    t = record.totals()
    least = 0 if record.elsewhere_active else None  # of requests to other memory
    per = None if t.uncounted else _from(t.per_low, t.per_high, least)
    ideal_per = _from(t.ideal_low, t.ideal_high, least)
    common = _common(record, t)
    if record.unknown:
        return _partly_unknown(index, record, t, per, ideal_per, common)
    common["unaligned"] = tuple(record.unaligned)
    ideal = t.ideal if t.ideal == t.ideal_most else None
    if t.uncounted:
        return SiteResult(
            index,
            Status.BOUNDED,
            several(Reason(Kind.COPY_LINES), record.loose),
            line_class_max=t.line_class_max,
            line_class_proved=t.line_class_low,
            lines=t.lines,
            lines_proved=t.lines_low,
            lines_ideal=t.lines_ideal,
            **common,
        )
    if record.mixed:
        return SiteResult(
            index,
            Status.BOUNDED,
            several(Reason(Kind.MIXED_SPACES), record.loose),
            bounds=(t.low, t.high + record.mixed),
            ideal=ideal,
            per_request=None if per is None else (per[0], per[1] + record.mixed_most),
            **common,
        )
    common |= {"bounds": (t.low, t.high), "per_request": per, "ideal_per_request": ideal_per}
    if record.by_place:
        return _by_base(SiteResult(index, Status.CONDITIONAL, record.loose, ideal=ideal, **common), record, t)
    if t.low != t.high or record.loose:
        reason = record.loose or rule_range(record.machine, record.access) or Reason(Kind.REQUEST_RANGE)
        return SiteResult(index, Status.BOUNDED, reason, ideal=ideal, ways=None, **common)
    excess = t.low - t.ideal
    return SiteResult(index, Status.EXACT, wavefronts=t.low, ideal=t.ideal, excess=excess, ways=t.ways, **common)


def _by_base(answer: SiteResult, record: SiteRecord, t: Totals) -> SiteResult:
    """The answer with a case for each place of the array, which does not decide how many lanes access one address."""
    ways = t.ways if record.access.space != "shared" and t.ways >= 0 else None
    return replace(answer, conditions=record.base_cases(), ways=ways)


def _without_rule(index: int, record: SiteRecord) -> SiteResult:
    """The answer for an access without a rule for its lanes: how often it was issued."""
    if record.undecided or record.maybe:
        return SiteResult(index, Status.UNKNOWN, record.undecided or record.unknown)
    if not record.requests:
        return SiteResult(index, Status.UNREACHED, Reason(Kind.NEVER_ISSUED), *NOTHING, evidence="by rule")
    return SiteResult(
        index,
        Status.UNKNOWN,
        requests=record.requests,
        active_requests=record.active_requests,
        meeting_assumed=record.meeting_assumed,
    )


def _never_made(index: int, record: SiteRecord) -> SiteResult:
    """The answer if no request accesses this memory: there are none, or all access another one."""
    none: dict[str, Any] = {} if record.access.space == "shared" else {"lanes": 0, "lines": 0, "lines_ideal": 0}
    none["evidence"] = record.evidence
    if not record.elsewhere:
        return SiteResult(index, Status.UNREACHED, Reason(Kind.NEVER_ISSUED), *NOTHING, **none)
    return SiteResult(
        index,
        Status.EXACT,
        never_there(record.access),
        record.elsewhere,
        record.elsewhere_active,
        *NOTHING[2:],
        bounds=(0, 0),
        per_request=(0, 0),
        ideal_per_request=(0, 0),
        meeting_assumed=record.meeting_assumed,
        unaligned=(),
        **none,
    )


def _common(record: SiteRecord, t: Totals) -> dict[str, Any]:
    """The fields that every site with requests has."""
    common: dict[str, Any] = {
        "requests": record.requests + record.elsewhere,
        "evidence": record.evidence,
        "meeting_assumed": record.meeting_assumed,
        "active_requests": None if record.maybe else record.active_requests + record.elsewhere_active,
        "patterns": record.patterns(),
        "distinct": len(record.scored),
        "common": record.common(),
        "trips": record.trip_table(),
    }
    if record.access.space != "shared":
        common |= {
            "lanes": None if record.maybe else record.lanes,
            "lines": t.lines if t.lines == t.lines_low and not record.unknown and not record.maybe else None,
            "lines_ideal": t.lines_ideal,
        }
    return common


def _from(low: int | None, high: int | None, least: int | None) -> tuple[int, int] | None:
    """(low, high), or (least, high) if least is given."""
    return None if low is None or high is None else (low if least is None else least, high)


def _partly_unknown(
    index: int,
    record: SiteRecord,
    t: Totals,
    per: tuple[int, int] | None,
    ideal_per: tuple[int, int] | None,
    common: dict[str, Any],
) -> SiteResult:
    """The answer if some requests have no figure of their own."""
    assert record.unknown is not None
    least = 0 if record.elsewhere_active else None
    wide = None
    if record.unknown_each is not None and not t.uncounted:
        few, many = record.unknown_each if least is None else (least, record.unknown_each[1])
        wide = (min(few, per[0]), max(many, per[1])) if per else (few, many)
    answer = SiteResult(
        index,
        Status.DATA_DEPENDENT if record.unknown.data else Status.BOUNDED,
        record.unknown,
        bounds=None if t.uncounted else (t.low + record.unknown_low, t.high + record.unknown_high + record.mixed),
        per_request=wide,
        **common,
    )
    return answer if record.mixed or t.uncounted or least is not None else _alike(answer, record, per, ideal_per)


def _alike(
    answer: SiteResult, record: SiteRecord, per: tuple[int, int] | None, ideal: tuple[int, int] | None
) -> SiteResult:
    """The answer for a site with unknown requests: all requests with an active lane may still cost the same.

    per, ideal: the ranges of the other requests, None if there are none.
    """
    unknown = record.some_each
    if unknown is None or unknown[0] != unknown[1] or per not in (None, unknown):
        return answer
    known = ideal in (None, record.ideal_each)
    return replace(
        answer, status=Status.INVARIANT, per_request=unknown, ideal_per_request=record.ideal_each if known else None
    ).counted()
