"""If every request costs the same and only the number of requests is unknown, the status is invariant; if that is
known, too, exact.
"""

from __future__ import annotations

import re

import pytest

import ptxaudit
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.report.assemble import excess_per_request
from ptxaudit.report.model import Span

PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{{
    .reg .b32 %r<20>;
    .reg .b64 %rd<3>;
    .reg .pred %p<9>;
    .shared .align 16 .b8 s[16384];
    .local .align 4 .b8 own[64];
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u32 %r1, [k_param_1];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, s;
    mad.lo.u32 %r4, %r2, {stride}, %r3;
    ld.global.u32 %r5, [%rd1];
    {body}
    ret;
}}
"""
DATA_BRANCH = "setp.eq.u32 %p1, %r5, 7;\n@%p1 bra L;\nst.shared.u32 [%r4], %r2;\nL:"
BARRIER_BRANCH = (
    "setp.eq.u32 %p2, %r5, 7;\nbarrier.red.or.pred %p1, 0, %p2;\n@%p1 bra L;\nst.shared.u32 [%r4], %r2;\nL:"
)
# Depending on %p1, which all warps of the block share: code after the branch, on both paths and within them
WAYS = {
    "@%p1 bra L;\n{}\nL:": "it runs unless X is true",
    "@!%p1 bra L;\n{}\nL:": "it runs if X is true",
    "@%p1 bra L;\nbra M;\nL: {}\nM:": "it runs if X is true",
    "@%p1 bra L;\n@%p3 bra M;\n{}\nL: M:": "it does not run if X is true",
    "@!%p1 bra L;\n@%p3 bra M;\n{}\nL: M:": "it runs only if X is true",
    "@%p3 bra M;\n@%p1 bra L;\nM: {}\nL:": "whether it runs is unknown",
    "@%p1 bra L;\nM: {}\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p4, %r9, %r5;\n@%p4 bra M;\nL:": "it runs unless X is true",
}
UNIFORM_PREDICATE = "setp.eq.u32 %p1, %r1, 7;\n@%p1 st.shared.u32 [%r4], %r2;"
ONE_LANE = (
    "mad.lo.u32 %r6, %r2, %r2, %r5;\nld.global.u32 %r7, [%rd1+4];\nmul.lo.u32 %r8, %r2, %r7;\nand.b32 %r8, %r8, 252;\n"
    "add.u32 %r8, %r8, %r3;\nand.b32 %r9, %r2, 31;\nsetp.eq.u32 %p1, %r9, 3;\n@%p1 st.shared.u32 [%r8], %r2;"
)


def site(body: str, stride: int = 4, told: bool = False):
    launch = ptxaudit.Launch("k", grid=3, block=64, params=[None, 7 if told else None])
    (only,) = ptxaudit.audit(PTX.format(body=body, stride=stride), launches=[launch]).sites
    return only


@pytest.mark.parametrize("around", WAYS)
def test_reason_names_the_branch_outcome_that_reaches_the_site(around):
    begin = "mov.u32 %r9, 0;\nsetp.gt.u32 %p3, %r5, 9;\nsetp.eq.u32 %p2, %r5, 7;\nbarrier.red.or.pred %p1, 0, %p2;\n"
    said = site(begin + around.format("st.shared.u32 [%r4], %r2;")).reason
    said = re.sub(r"__syncthreads_or at PTX line \d+", "X", said)
    assert said.startswith(WAYS[around]), said


@pytest.mark.parametrize("stride,cost", [(4, 1), (8, 2), (128, 32)])
@pytest.mark.parametrize(
    "body,when,left",
    [
        (DATA_BRANCH, "whether it runs is unknown: ", ", only their number is unknown"),
        (BARRIER_BRANCH, "it runs unless __syncthreads_or at PTX line ", ""),
    ],
)
def test_requests_of_data_dependent_number_are_invariant(body, when, left, stride, cost):
    found = site(body, stride)
    assert found.status == "invariant" and (found.per_request.low, found.per_request.high) == (cost, cost)
    assert found.requests is None and found.wavefronts is None and found.reason.startswith(when)
    assert found.reason.endswith(
        f"each request with an active lane costs {cost}{left}; specify the data (--param 0=@FILE)"
    )


@pytest.mark.parametrize("stride,cost", [(4, 1), (12, 1), (8, 2)])
def test_uniform_unknown_predicate_leaves_the_cost_invariant(stride, cost):
    found = site(UNIFORM_PREDICATE, stride)
    assert found.status == "invariant" and found.per_request.high == found.per_request.low == cost
    assert found.requests == 6 and found.active_requests is None
    assert sorted((case.active_requests, case.high) for case in found.cases) == [(0, 0), (6, 6 * cost)]
    assert site(UNIFORM_PREDICATE, stride, told=True).status == "exact"


def test_single_lane_at_an_unknown_address_is_exact():
    found = site(ONE_LANE)
    assert (found.status, found.requests, found.wavefronts, found.excess) == ("exact", 6, 6, 0)


def test_data_dependent_addresses_are_not_invariant():
    found = site(
        "ld.global.u32 %r6, [%rd1+4];\nadd.u32 %r6, %r6, %r2;\nmul.lo.u32 %r6, %r6, %r6;\nand.b32 %r6, %r6,"
        " 1020;\nadd.u32 %r6, %r6, %r3;\nst.shared.u32 [%r6], %r2;"
    )
    assert found.status == "data-dependent" and found.per_request.low < found.per_request.high


def test_store_to_shared_memory_keeps_local_memory():
    """A value spilled before a branch that is skipped is known after it if the branch only wrote to shared memory."""
    spill = (
        "mov.u64 %rd2, own;\nst.local.u32 [%rd2], %r4;\n{branch}\nld.local.u32 %r9, [%rd2];\nst.shared.u32 [%r9+2048],"
        " %r2;"
    )
    launch = ptxaudit.Launch("k", grid=3, block=64, params=[None, None])
    _, behind = ptxaudit.audit(PTX.format(body=spill.format(branch=DATA_BRANCH), stride=4), launches=[launch]).sites
    assert (behind.status, behind.requests, behind.wavefronts) == ("exact", 6, 6)
    local = DATA_BRANCH.replace("st.shared.u32 [%r4], %r2;", "st.shared.u32 [%r4], %r2;\nst.local.u32 [%rd2], %r5;")
    _, behind = ptxaudit.audit(PTX.format(body=spill.format(branch=local), stride=8), launches=[launch]).sites
    assert behind.status != "exact" and (behind.per_request.low, behind.per_request.high) == (1, 2)


# only execution knows the content of the shared array, hence the active lanes; loaded data decides their addresses
LANES_BY_RUN = (
    "st.shared.u32 [%r4], %r2;\nbar.sync 0;\nld.shared.u32 %r6, [%r4];\nsetp.lt.u32 %p1, %r6, 5;\n"
    "and.b32 %r7, %r5, 252;\nadd.u32 %r7, %r7, %r3;\n@%p1 ld.shared.u32 %r8, [%r7];"
)


def test_patterns_omit_lanes_that_the_run_did_not_determine():
    launch = ptxaudit.Launch("k", grid=1, block=32, params=[None, None])
    report = ptxaudit.audit(PTX.format(body=LANES_BY_RUN, stride=4), launches=[launch], patterns=True)
    found = report.sites[-1]
    assert (found.status, found.requests, found.wavefronts) == ("exact", 1, 1)
    assert all(one.count is None or one.active == 0b11111 for one in found.patterns)


def test_exact_site_without_active_lanes_has_no_excess():
    result = SiteResult(
        0, Status.EXACT, requests=3, active_requests=0, wavefronts=0, per_request=(1, 1), ideal_per_request=(1, 1)
    )
    assert excess_per_request(result) == Span(0, 0)
