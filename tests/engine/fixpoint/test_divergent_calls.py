"""Requests whose lanes are in different calls of one routine: a warp has one copy of its code."""

import numpy as np
import pytest

import ptxaudit
from ptxaudit.engine.answer.result import Case, SiteResult, Status
from ptxaudit.engine.answer.tabulate import Observation
from ptxaudit.engine.domain.value import Uniform, Value, constant, unknown
from ptxaudit.engine.fixpoint.together import most_together, of_several

LANE = np.arange(32, dtype=np.uint32)[None, :]
ALL = np.ones((1, 32), bool)

SOURCE = """
__shared__ unsigned s[256];
__device__ __noinline__ unsigned leaf(unsigned a, unsigned acc)
{
    if (threadIdx.x & a) acc += s[a & 255u]; else acc ^= a / 7u;
    atomicAdd(&s[acc & 255u], 3);
    return acc;
}
__device__ __noinline__ unsigned put(unsigned a, unsigned b, unsigned acc)
{
    if ((a - threadIdx.x) & 12u) return acc;
    acc = leaf(a, acc);
    if (a & 1u) acc = leaf(b, acc);
    s[(b * 32u + threadIdx.x) % 254u] = acc;
    return acc;
}
extern "C" __global__ void calls(const unsigned* in, unsigned* out)
{
    unsigned acc = in[threadIdx.x];
    if (acc & 1u) acc = put(acc, 15u, acc);
    out[threadIdx.x] = put(in[threadIdx.x + 32], 0u, acc);
}
"""


def observed(offset: int, lanes: np.ndarray = ALL, exact: bool = False, base: Value | None = None) -> Observation:
    return Observation(base or Value(4 * LANE, ()), offset, lanes, exact, (), "shared")


def test_requests_in_a_yielding_routine_match_the_counters(tmp_path):
    """For this code (b = 15 and 0) an H100 counted 30 wavefronts for 25 requests."""
    source = tmp_path / "calls.cu"
    source.write_text(SOURCE)
    report = ptxaudit.audit(
        source,
        arch="sm_90",
        isa="sass",
        launches=[ptxaudit.Launch("calls", grid=(1,), block=(32,), params=[None, None])],
    )
    stores = [s for s in report.sites if s.opcode.startswith("STS")]
    assert stores and all(s.per_request.high >= 2 and str(s.status) not in ("exact", "invariant") for s in stores)


@pytest.mark.parametrize("offsets, most", [((0, 0), 1), ((0, 1920), 2), ((0, 128, 128, 1920), 3)])
def test_distinct_call_sites_bound_concurrent_requests(offsets, most):
    assert most_together([[observed(offset)] for offset in offsets]) == most


def test_exactly_known_lanes_of_one_request():
    half = ALL & (LANE < 16)
    assert most_together([[observed(0, exact=True)], [observed(1920, exact=True)]]) == 1
    assert most_together([[observed(0, half, exact=True)], [observed(1920, ~half, exact=True)]]) == 2


def test_trip_dependent_address_allows_one_request_per_lane():
    trip = unknown(Uniform("trip", 32, 2, 0, None, "loop", ("trip", 0, 0)))
    assert most_together([[observed(0, base=trip)], [observed(0, base=trip)]]) == 32
    assert most_together([[observed(0, base=constant(0, 32))]] * 2) == 1


def test_result_of_several_concurrent_requests_is_widened():
    case = Case("fewer lanes do", 1, 4)
    one = SiteResult(0, Status.INVARIANT, ways=1, per_request=(1, 1), ideal_per_request=(1, 1))
    assert of_several(one, 1, 32) == one
    two = of_several(one, 2, 32)
    assert (two.status, two.per_request, two.ideal_per_request, two.ways) == (Status.BOUNDED, (1, 2), (1, 2), None)
    some = of_several(SiteResult(0, Status.CONDITIONAL, per_request=(1, 4), conditions=(case,)), 32, 32)
    assert (some.status, some.per_request, some.conditions) == (Status.BOUNDED, (1, 32), ())
    assert of_several(SiteResult(0, Status.INVARIANT, per_request=(0, 0)), 2, 32).per_request == (0, 0)
    assert of_several(SiteResult(0, Status.UNREACHED), 2, 32).status is Status.UNREACHED
    copies = SiteResult(0, Status.INVARIANT, line_class_max=2, line_class_proved=2)  # in steps, which no counter sees
    assert of_several(copies, 1, 32) == copies
    assert (of_several(copies, 2, 32).status, of_several(copies, 2, 32).line_class_max) == (Status.BOUNDED, 4)
