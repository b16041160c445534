"""Sums over a launch by cases: every launch has the sums of its case, or sums within those of the warps' cases."""

from __future__ import annotations

import re

import numpy as np
import pytest
from msgspec.structs import replace

import ptxaudit
from ptxaudit.base.status import Status
from ptxaudit.engine.exec import by_cases
from ptxaudit.report.model import report_from_dict
from ptxaudit.review.diff.reports import Verdict, diff_reports
from ptxaudit.review.diff.verdict import judge
from ptxaudit.review.figures import total_excess, ways

SOURCE = """
extern "C" __global__ void by_number(float *g, int n, int m) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = g[t];
    __syncthreads();
    float a = 0;
    if (n > 4) {
        a = s[t * 2 & 255];
        __syncthreads();
        s[t * 4 & 255] = a;
        __syncthreads();
        if (m == 7) a += s[t ^ 1]; else a -= s[t * 8 & 511];
    }
    __syncthreads();
    g[t] = a + s[t ^ 3];
}
extern "C" __global__ void returns(float *g, int n) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    if (n == 3) return;
    s[t * 2] = g[t];
    __syncthreads();
    g[t] = s[t ^ 3];
}
extern "C" __global__ void alike(float *g, int n) {
    __shared__ float s[1024];
    int t = threadIdx.x, at = 1;
    if (n > 4) { g[t] = 2.f; at = 32 * (int)g[65]; s[at & 63] = 3.f; at = 64; }
    s[t + at] = g[t];
    __syncthreads();
    g[t] = s[t ^ 3];
}
extern "C" __global__ void agree(float *g, const int *d) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    float a = 0;
    if (__syncthreads_or(d[64 * blockIdx.x + t] > 0)) a = s[t * 2 & 255];
    g[t] = a;
}
extern "C" __global__ void each_warp(float *g, const int *d) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    float a = 0;
    if (d[64 * blockIdx.x + (t & 32)] > 0) a = s[t * 4 & 511];
    g[t] = a;
}
extern "C" __global__ void either_side(float *g, const int *d) {
    __shared__ float s[1024];
    int t = threadIdx.x, step = 4;
    if (d[64 * blockIdx.x + (t & 32)] > 0) { g[t] = 1; step = t & 32 ? 4 : 8; }
    else if (t & 32) { g[t] = 2; step = 8; }
    g[t + 64] = s[t * step & 1023];
}
extern "C" __global__ void two_visits(float *g, const int *d) {
    __shared__ float s[1024];
    int t = threadIdx.x, before = 0;
    float a = 0;
    #pragma unroll 1
    for (int i = 0; i < 2; i++) {
        int now = d[64 * blockIdx.x + i] > 0;
        if (now && !before && i == 1) a += s[t * 4 & 511];
        before = now;
        __syncthreads();
    }
    g[t] = a;
}
extern "C" __global__ void many_visits(float *g, const int *d) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    float a = 0;
    #pragma unroll 1
    for (int i = 0; i < 40; i++) {
        if (d[64 * blockIdx.x + (i & 1)] > 0) a += s[t * 4 & 511];
        __syncthreads();
    }
    g[t] = a;
}
"""
BLOCK, GRID = (64,), (3,)
ISAS = pytest.mark.parametrize("isa", ("ptx", "sass"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("launch_cases") / "k.cu"
    file.write_text(SOURCE)
    return file


def audited(path, kernel, isa, params, **more):
    launch = ptxaudit.Launch(kernel, grid=GRID, block=BLOCK, params=params)
    report = ptxaudit.audit(path, kernels=(kernel,), isa=isa, launches=[launch], **more)
    assert not report.problems
    return report


def holds(when: str, numbers: dict[str, int]) -> bool:
    """Whether numbers meet the words of a case: "n < 5 is false and m == 7 is true"."""
    parts = [re.fullmatch(r"\(?(\w+) (\W+) (-?\d+)\)? is (true|false)", part) for part in when.split(" and ")]
    relations = {
        "<": int.__lt__,
        ">": int.__gt__,
        "==": int.__eq__,
        "!=": int.__ne__,
        ">=": int.__ge__,
        "<=": int.__le__,
    }
    return all(relations[part[2]](numbers[part[1]], int(part[3])) is (part[4] == "true") for part in parts)


def sums(site):
    return site.requests or 0, site.wavefronts or 0, site.ideal or 0


@ISAS
@pytest.mark.parametrize("kernel", ("by_number", "returns", "alike"))
def test_launch_sums_equal_those_of_its_case(path, kernel, isa):
    more = 2 if kernel == "by_number" else 1
    shown = audited(path, kernel, isa, [None] * (1 + more)).sites
    for n in (0, 3, 4, 5, 100):
        for m in (7, 8) if more > 1 else (0,):
            told = audited(path, kernel, isa, [None, n, m][: 1 + more]).sites
            for site, exact in zip(shown, told, strict=True):
                assert exact.settled or exact.status is Status.DATA_DEPENDENT
                if not site.cases:
                    assert site.status is exact.status and sums(site) == sums(exact)
                    continue
                assert site.status in (Status.INVARIANT, Status.CONDITIONAL, Status.DATA_DEPENDENT)
                (case,) = [one for one in site.cases if holds(one.when, {"n": n, "m": m})]
                assert case.requests == (exact.requests or 0)
                if exact.settled:
                    assert (case.requests, case.low, case.ideal) == sums(exact) and case.low == case.high
                    assert site.bounds[0] <= case.low <= site.bounds[1]


@ISAS
def test_conditions_of_conditions(path, isa):
    """An access that two conditions decide has three cases."""
    assert {len(site.cases) for site in audited(path, "by_number", isa, [None] * 3).sites} == {0, 2, 3}


@ISAS
def test_sums_equal_in_all_cases_are_exact(path, isa):
    """An access after a branch costs the same whichever side is taken."""
    first, *behind = audited(path, "alike", isa, [None, None]).sites
    assert len(first.cases) == 2 and [site.status for site in behind] == [Status.EXACT, Status.EXACT]


@ISAS
@pytest.mark.parametrize("kernel", ("agree", "each_warp", "either_side", "two_visits", "many_visits"))
def test_sums_of_differing_warps_are_within_the_range(path, kernel, isa):
    shown = audited(path, kernel, isa, [None, None]).sites
    every = [np.full(192, value, np.int32) for value in (0, 1)]
    some = np.zeros(192, np.int32)
    some[64:96] = 1
    one = np.zeros(192, np.int32)
    one[[0, 1, 65, 160]] = 1
    for data in (*every, some, one, 1 - one):
        told = audited(path, kernel, isa, [np.zeros(256, np.float32), data]).sites
        for site, exact in zip(shown, told, strict=True):
            assert exact.settled
            if site.status is Status.EXACT:
                assert sums(site) == sums(exact)
            if site.bounds is not None:
                assert site.bounds[0] <= (exact.wavefronts or 0) <= site.bounds[1]
            if site.per_request is not None and exact.wavefronts:
                assert site.per_request.low <= exact.per_request.low and exact.per_request.high <= site.per_request.high


@pytest.mark.parametrize(
    ("kernel", "isa", "cost"), (("agree", "ptx", 2), ("agree", "sass", 2), ("each_warp", "sass", 4))
)
def test_value_per_warp_has_both_extremes_and_the_range(path, kernel, isa, cost):
    (load,) = audited(path, kernel, isa, [None, None]).sites
    one, other, otherwise = load.cases
    assert "in every warp" in one.when and "in every warp" in other.when and otherwise.when == "otherwise"
    none, each = sorted((one, other), key=lambda case: case.high)
    assert (none.active_requests, none.low, none.high, none.ideal) == (0, 0, 0, 0)
    assert (each.requests, each.active_requests, each.low, each.high, each.ideal) == (6, 6, 6 * cost, 6 * cost, 6)
    assert (otherwise.active_requests, otherwise.low, otherwise.high) == (None, 0, 6 * cost)
    assert load.bounds == (0, 6 * cost) and load.active_requests is None
    assert load.requests in (None, 6)  # predicated, it is issued in any case
    on = audited(path, kernel, isa, [np.zeros(256, np.float32), np.ones(192, np.int32)]).sites[0]
    assert sums(on) == (6, 6 * cost, 6)


def test_case_names_the_value_not_its_inverse(path):
    """The words of a case are about the value that they name, not about its inverse."""
    (load,) = audited(path, "agree", "sass", [None, None]).sites
    (made,) = [case for case in load.cases if case.active_requests]
    assert re.fullmatch(r"__syncthreads_or at k\.cu:\d+ is true in every warp", made.when)
    (load,) = audited(path, "agree", "ptx", [None, None]).sites  # branches if the result is 0
    (made,) = [case for case in load.cases if case.active_requests]
    assert made.when.endswith("is false in every warp")


@ISAS
def test_no_table_where_warps_that_differ_may_have_other_sums(path, isa):
    """Sums that are the same whichever way all warps go, and others where they differ; visits that may differ."""
    (load,) = audited(path, "either_side", isa, [None, None]).sites
    assert load.status is not Status.CONDITIONAL and not load.cases
    (twice,) = audited(path, "two_visits", isa, [None, None]).sites
    (often,) = audited(path, "many_visits", isa, [None, None]).sites
    for site in (twice, often):
        assert site.status not in (Status.EXACT, Status.CONDITIONAL)


def test_trips_that_are_too_many_for_cases_are_not_tried(path, monkeypatch):
    runs = []
    run = by_cases.simulate
    monkeypatch.setattr(by_cases, "simulate", lambda *args, **more: runs.append(args) or run(*args, **more))
    audited(path, "many_visits", "sass", [None, None])
    assert len(runs) == 1
    audited(path, "two_visits", "sass", [None, None])
    assert len(runs) > 2


def test_reports_contain_the_cases(path):
    report = audited(path, "by_number", "sass", [None] * 3)
    again = report_from_dict(report.to_dict())
    assert again.sites == report.sites and any(site.cases for site in again.sites)
    text = str(report)
    assert "n >= 5 is true: 24 wavefronts in 6 requests, ideal 6" in text
    assert "n >= 5 is false: no request" in text


def test_gates_use_the_cases(path):
    """The excess over the launch has an upper bound, and the ways are those of the case in which it runs."""
    sites = audited(path, "by_number", "sass", [None] * 3).sites
    (store,) = [site for site in sites if site.access == "store" and site.cases]
    assert total_excess(store) == (0, 18) and ways(store) == (4, 4)


def test_other_sums_in_a_case_are_a_change(path):
    """The range is the same, what a case within it costs is not."""
    report = audited(path, "by_number", "sass", [None] * 3)
    site = next(site for site in report.sites if len(site.cases) == 3 and site.bounds == (0, 48))
    other = replace(site, cases=tuple(replace(case, low=case.low // 2, when="n is odd") for case in site.cases))
    assert judge(site, site, True) is Verdict.SAME and judge(site, other, True) is Verdict.STATUS_CHANGED
    renamed = replace(site, cases=tuple(replace(case, when=f"{case.when}, renamed") for case in site.cases))
    assert judge(site, renamed, True) is Verdict.SAME
    assert set(diff_reports(report, report).counts) == {Verdict.SAME}
