"""--fail-on: what is denied, what cannot be judged, what --strict adds."""

from __future__ import annotations

import pytest
from msgspec import structs
from reports import kernel, open_site, report, site

from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Span
from ptxaudit.review.gate import judge, parse_limit


def verdict(limit, *sites, strict=False):
    """(number of denials, sites that could not be judged)"""
    result = judge(report(kernel(*sites)), [parse_limit(limit)], strict)
    return len(result.denials), result.unjudged


CLEAN, BAD = site(), site(wavefronts=64)  # 8 requests of 1 and of 8 wavefronts, ideal 1
UNKNOWN, UNREACHED = open_site(Status.UNKNOWN), open_site(Status.UNREACHED, requests=0)


def each(status, low, high, best=1, **more):
    return open_site(
        status,
        per_request=Span(low, high),
        ideal_per_request=Span(best, best),
        excess_per_request=Span(max(0, low - best), high - best),
        **more,
    )


INVARIANT = each(Status.INVARIANT, 4, 4, ways=4)
RANGE = each(Status.BOUNDED, 2, 8, bounds=(16, 64), ideal=8, requests=8)


def cg(k, lines=None, least=None):
    """cp.async.cg: no wavefronts, at most k line classes; lines: their sum over the launch, exact unless only `least`
    classes are proved.
    """
    least = least or (None if lines is None else k)
    nothing = dict.fromkeys(
        ("wavefronts", "ideal", "excess", "ways", "per_request", "ideal_per_request", "excess_per_request")
    )
    return structs.replace(
        site(access="cp.async"),
        **nothing,
        line_class_max=k,
        line_class_proved=least,
        lines=lines,
        lines_proved=lines and lines * least // k,
        lines_ideal=None if lines is None else 8,
    )


@pytest.mark.parametrize(
    "limit, found, expected",
    [
        ("excess=1", cg(1, 8), (0, 0)),
        ("ways=2", cg(1, 8), (0, 0)),
        ("total-excess=1", cg(1, 8), (0, 0)),
        ("excess=2", cg(3, 24), (1, 0)),
        ("excess=3", cg(3, 24), (0, 0)),
        ("ways=3", cg(3, 24), (1, 0)),
        ("total-excess=16", cg(3, 24), (1, 0)),
        ("excess=1", cg(3), (0, 1)),
        ("excess=3", cg(3), (0, 0)),
        ("excess=1", cg(1), (0, 0)),
        ("total-excess=1", cg(1), (0, 0)),
        ("total-excess=1", cg(3), (0, 1)),
        # an upper bound of k does not prove it: the array's location may decide
        ("excess=1", cg(2, 16, 1), (0, 1)),
        ("PA004", cg(2, 16, 1), (0, 1)),
        ("ways=2", cg(2, 16, 1), (0, 1)),
        ("total-excess=1", cg(2, 16, 1), (0, 1)),
        ("PA004", cg(2, 16), (1, 0)),
        ("PA004", cg(1), (0, 0)),
        ("PA004", cg(3, least=2), (1, 0)),
        ("excess=3", cg(3, 24, 2), (0, 0)),
        ("excess=2", cg(3, 24, 2), (0, 1)),
        ("excess=7", BAD, (1, 0)),
        ("excess=8", BAD, (0, 0)),
        ("excess=1", CLEAN, (0, 0)),
        ("ways=8", BAD, (1, 0)),
        ("ways=9", BAD, (0, 0)),
        ("ways=2", CLEAN, (0, 0)),
        ("total-excess=56", BAD, (1, 0)),
        ("total-excess=57", BAD, (0, 0)),
        ("excess=1", UNREACHED, (0, 0)),
        ("ways=2", UNREACHED, (0, 0)),
        ("total-excess=1", UNREACHED, (0, 0)),
        ("excess=3", INVARIANT, (1, 0)),
        ("ways=4", INVARIANT, (1, 0)),
        ("total-excess=1", INVARIANT, (0, 1)),
        ("excess=1", RANGE, (1, 0)),
        ("excess=5", RANGE, (0, 1)),
        ("excess=8", RANGE, (0, 0)),  # lower end, upper end, above both
        ("ways=2", RANGE, (1, 0)),
        ("ways=5", RANGE, (0, 1)),
        ("total-excess=8", RANGE, (1, 0)),
        ("total-excess=57", RANGE, (0, 0)),
        ("excess=1", UNKNOWN, (0, 1)),
        ("ways=2", UNKNOWN, (0, 1)),
        ("total-excess=1", UNKNOWN, (0, 1)),
    ],
)
def test_verdict_of_a_limit_on_a_site(limit, found, expected):
    assert verdict(limit, found) == expected


def test_denial_of_a_copy_names_steps_per_request():
    (denial,) = judge(report(kernel(cg(3, 24))), [parse_limit("excess=1")]).denials
    assert denial.what == "excess is 2 per request: 3 steps per request instead of 1; 24 over the launch instead of 8"


def test_site_without_active_lanes_has_no_excess():
    idle = site(
        wavefronts=0,
        ideal=0,
        active_requests=0,
        ways=0,
        per_request=None,
        ideal_per_request=None,
        excess_per_request=None,
    )
    assert verdict("excess=1", idle) == verdict("ways=2", idle) == verdict("total-excess=1", idle) == (0, 0)


def test_limit_of_zero_denies_any_conflict():
    assert verdict("excess=0", CLEAN, BAD) == verdict("excess=1", CLEAN, BAD) == (1, 0)
    assert verdict("ways=0", CLEAN, BAD) == verdict("ways=1", CLEAN, BAD) == (1, 0)
    assert verdict("total-excess=0", CLEAN) == (0, 0)


def test_strict_denies_unjudged_sites():
    assert verdict("excess=1", CLEAN, UNKNOWN, strict=True) == (1, 1)
    assert verdict("excess=5", RANGE, strict=True) == (1, 1)
    assert verdict("total-excess=60", RANGE, UNKNOWN, strict=True) == (1, 1)


def test_total_excess_is_per_kernel_and_launch():
    one = report(kernel(BAD), kernel(BAD, launch=None))
    assert len(judge(one, [parse_limit("total-excess=56")]).denials) == 2
    assert not judge(one, [parse_limit("total-excess=57")]).denials
    assert len(judge(report(kernel(BAD, BAD)), [parse_limit("total-excess=112")]).denials) == 1


def test_site_is_judged_by_its_costliest_request():
    mixed = site(wavefronts=16, per_request=Span(1, 9), excess_per_request=Span(0, 8))  # seven requests of 1, one of 9
    assert verdict("excess=1", mixed) == (1, 0)  # a mean excess of 8 / 8 requests proves one
    assert verdict("excess=8", mixed) == (0, 1)


@pytest.mark.parametrize(
    "text", ["excess", "excess=", "excess=-1", "excess=1.5", "conflicts=3", "PA999", "PA001=3", "=3"]
)
def test_malformed_limit_is_an_error(text):
    with pytest.raises(InputError) as caught:
        parse_limit(text)
    assert text in caught.value.what and "excess=N" in caught.value.hint
