"""Sums of more unknowns than a value keeps as terms, and requests whose cost does not depend on their addresses."""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import PROLOGUE

import ptxaudit
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import MAX_TERMS, Uniform, unknown
from ptxaudit.engine.memory.spaces import OPEN, spaces_of

MANY = MAX_TERMS + 4
KERNEL = """.visible .entry k({parameters}) .reqntid 32, 1, 1
{{ .reg .b32 %x, %y, %z, %w; .reg .pred %p; .shared .align 128 .b8 s[65536];
 mov.u32 %x, %tid.x; mov.u32 %y, s; mad.lo.u32 %y, %x, {stride}, %y;
 {body}
 st.shared.u32 [%y], %x; ret; }}
"""
PARAMETERS = ", ".join(f".param .u32 p{i}" for i in range(MANY))


def site_of(body, stride=4, params=None, told=True):
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=PARAMETERS, stride=stride, body=body)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(32,), params=params)] if told else []
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches).sites
    return site


def summed(factor, by="add"):
    return " ".join(f"ld.param.u32 %z, [p{i}]; mul.lo.u32 %z, %z, {factor}; {by}.u32 %y, %y, %z;" for i in range(MANY))


@pytest.mark.parametrize("by", ("add", "sub"))
@pytest.mark.parametrize(("stride", "wavefronts"), [(4, 1), (8, 2), (128, 32)])
def test_sum_of_many_parameters_is_uniform(by, stride, wavefronts):
    site = site_of(summed(128, by), stride)
    assert (site.status, site.wavefronts) == ("exact", wavefronts), (site.status, site.reason)


def test_lane_offsets_added_to_a_sum_remain_known():
    site = site_of(summed(128) + "and.b32 %z, %x, 1; mad.lo.u32 %y, %z, 124, %y;", stride=8)
    assert (site.status, site.wavefronts) == ("exact", 2), (site.status, site.reason)


def test_sum_multiplied_by_the_lane_index_is_unknown():
    """The second sum is the first times the lane."""
    times = " ".join(f"ld.param.u32 %z, [p{i}]; mul.lo.u32 %z, %z, %x; mad.lo.u32 %y, %z, 4, %y;" for i in range(MANY))
    site = site_of(times)
    assert site.wavefronts is None and site.per_request.high == 32, site
    assert site_of(times, params=[0] * MANY).wavefronts == 1


def test_equal_sums_are_one_unknown():
    numbers = [unknown(Uniform(f"n{i}", 32, 2, 0, 100, "parameter", ("param", i, 32))) for i in range(MANY)]
    first, second = numbers[0], numbers[0]
    for number in numbers[1:]:
        first, second = affine.add(first, number), affine.add(number, second)
    assert first.poison is None and len(first.terms) <= MAX_TERMS
    difference = affine.subtract(first, second)
    assert difference.poison is None and not difference.terms and not difference.base.any()
    zeros = {u.zeros for u, _ in first.terms}
    assert min(zeros) == 2 and all(u.low is not None and u.high is not None for u, _ in first.terms)


@pytest.mark.parametrize("upper", (False, True))
def test_sum_that_contains_an_address_may_be_an_address(upper):
    """The terms are pointers, or numbers of which all but the first are upper halves."""
    numbers = [
        unknown(Uniform(f"q{i}", 64, kind="parameter", key=("param", i, 64), address=not upper)) for i in range(MANY)
    ]
    if upper:
        numbers[1:] = [affine.scale(number, np.full((1, 1), 1 << 32, np.uint64)) for number in numbers[1:]]
    total = numbers[0]
    for number in numbers[1:]:
        total = affine.add(total, number)
    (sum_,) = [u for u, _ in total.terms if u.key[0] == "sum"]
    assert sum_.address and spaces_of(total).tolist() == [[OPEN]]


CLOCK = "mov.u32 %z, %clock; and.b32 %z, %z, 0xffc; mul.lo.u32 %z, %z, %x; mov.u32 %y, s; add.u32 %y, %y, %z;"


@pytest.mark.parametrize("told", (True, False))
def test_request_of_one_lane_costs_one_wavefront_at_any_address(told):
    body = f"{CLOCK} setp.ne.u32 %p, %x, 7; @%p ret;"
    site = site_of(body, told=told)
    assert (site.status, site.per_request.high) == ("exact" if told else "invariant", 1), (site.status, site.reason)


def test_request_of_two_lanes_at_unknown_addresses_is_a_range():
    site = site_of(f"{CLOCK} setp.gt.u32 %p, %x, 1; @%p ret;")
    assert site.wavefronts is None and (site.per_request.low, site.per_request.high) == (1, 2), site
