"""Requests that lanes in different calls of one routine make together.

`link` copies a routine for each of its calls, so each copy has its own requests. A warp has one copy of the code: once
a YIELD lets other lanes continue, diverged groups of lanes at one instruction may be served as one, whatever calls
they are in. (Measured: STS at 32·b + lane of a routine with a YIELD, b = 15 in one call and 0 in the other, with
diverged lanes of a warp: 25 requests, 30 wavefronts.)

    call 1: 4·lane + 1920, call 2: 4·lane      ->  1 wavefront each; together at most 2
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from msgspec.structs import replace

from ptxaudit.base.status import Status
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.engine.answer.tabulate import Observation
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.fixpoint.states import OUTER
from ptxaudit.ir.reasons import Kind, Reason, several

_WIDENED = (Status.INVARIANT, Status.CONDITIONAL, Status.BOUNDED, Status.DATA_DEPENDENT)


def most_together(copies: Iterable[list[Observation]]) -> int:
    """The number of requests that may be served as one, from the observations of all copies of an access in the same
    rows.

    1 if all copies give a lane the same address or lanes do not diverge; LANES if addresses are not fixed.
    """
    seen = [o for observations in copies for o in observations if o.mask.any()]
    first = seen[0].mask if seen else None
    if all(o.exact and (o.mask is first or (o.mask == first).all()) for o in seen):
        return 1
    places = {_place(o) for o in seen}
    return LANES if None in places else len(places)


def _place(o: Observation) -> tuple[Hashable, ...] | None:
    """A fixed address per lane; None if it may change between executions."""
    value = o.address
    if value.poison is not None or value.valid is not None or any(u.kind not in OUTER for u, _ in value.terms):
        return None
    terms = frozenset((u, c.shape, c.tobytes()) for u, c in value.terms)
    return value.base.shape, value.base.tobytes(), terms


def of_several(result: SiteResult, most: int, widest: int) -> SiteResult:
    """The answer if up to `most` requests, one per call, may be served as one.

    widest: the most that any request of the access costs.
    """
    per = result.per_request
    if result.line_class_max is not None:
        status = Status.BOUNDED if most > 1 and result.status is Status.INVARIANT else result.status
        return replace(result, status=status, line_class_max=result.line_class_max * most)
    if most == 1 or per is None or result.status not in _WIDENED:
        return result
    high = max(per[1], min(per[1] * most, widest))
    if high == per[1] and not result.conditions:
        return result
    ideal = result.ideal_per_request
    status = Status.DATA_DEPENDENT if result.status is Status.DATA_DEPENDENT else Status.BOUNDED
    return replace(
        result,
        status=status,
        reason=several(Reason(Kind.CALLS_TOGETHER), result.reason),
        per_request=(per[0], high),
        ways=None,
        ideal_per_request=ideal and (ideal[0], max(ideal[1], min(ideal[1] * most, widest))),
        conditions=(),
    )
