"""Global memory with nothing specified: the answers hold in launches that specify everything."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest

import ptxaudit
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.observe import WRAPPED

KERNEL = """
extern "C" __global__ void k(const TYPE* in, TYPE* out, int n, int m) {{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
"""
BODIES = {
    "by thread": "out[i] = in[i];",
    "guarded": "if (i < n) out[i] = in[i];",
    "rows that begin anywhere": "int j = blockIdx.x * n + t; out[j] = in[j];",
    "offset": "out[t + n] = in[t + n + 1];",
    "backwards": "out[n - t] = in[m - 2 * t];",
    "every second": "out[i * 2 + 7] = in[i * 3 + m];",
    "unsigned": "out[(unsigned)t + n] = in[(unsigned)t * 5u - m];",
    "64 bits": "long long j = (long long)blockIdx.x * n + t; out[j] = in[j - m];",
    "swizzled": "out[(t ^ 5) + n] = in[i ^ 3];",
    "in a loop": "for (int r = 0; r < 3; r++) out[r * n + t] = in[r * m + i];",
}
TYPES = ("float", "float4", "unsigned char")
PLACE = 0x7F12_3400_0000
SHAPED = "any other block"
SMALL, EXTREME = (0, 1, 7, 32, 100, 1023), (0x7FFF_FFF0, 0x7FFF_FFFF, -5, -0x8000_0000, 0x3FFF_FFFC)


@lru_cache
def kernel(body: str, type_: str) -> str:
    return KERNEL.format(body=BODIES[body]).replace("TYPE", type_)


@lru_cache
def unspecified(body: str, type_: str, isa: str) -> tuple:
    return ptxaudit.audit(kernel(body, type_), space="global", isa=isa).kernels[0].memory


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("body", BODIES)
def test_indexed_access_without_a_launch_is_answered(body, isa):
    for type_ in TYPES:
        for site in unspecified(body, type_, isa):
            assert site.status in (Status.CONDITIONAL, Status.INVARIANT), (body, type_, site)
            assert site.per_request is not None and site.ideal_per_request is not None


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("body", BODIES)
def test_answers_without_a_launch_hold_in_every_launch(body, isa):
    chosen = random.Random(f"{body} {isa}")
    seen = 0
    for type_ in TYPES:
        said = unspecified(body, type_, isa)
        for numbers in (SMALL, SMALL, EXTREME):
            block = chosen.choice((64, 96, 33, 256))
            places = [PLACE + 16 * chosen.randrange(64) for _ in range(2)]
            launch = ptxaudit.Launch(
                "k", grid=2, block=block, params=[*places, chosen.choice(numbers), chosen.choice(numbers)]
            )
            report = ptxaudit.audit(kernel(body, type_), space="global", isa=isa, launches=[launch])
            for open_one, site in zip(said, report.kernels[0].memory, strict=True):
                if site.status is not Status.EXACT:
                    continue
                seen += 1
                low, high = site.per_request.low, site.per_request.high
                assert open_one.per_request.low <= low and high <= open_one.per_request.high, (launch, site, open_one)
                ideal = site.ideal_per_request
                assert open_one.ideal_per_request.low <= ideal.low and ideal.high <= open_one.ideal_per_request.high
                whole = [case for case in open_one.conditions if not case.when.startswith((WRAPPED, SHAPED))]
                if numbers is SMALL and block % 32 == 0 and whole and "guarded" not in body:
                    assert min(case.low for case in whole) <= low, (launch, site, open_one)
                    assert high <= max(case.high for case in whole), (launch, site, open_one)
    assert seen >= 8


def test_index_that_wraps_within_a_warp_is_a_case():
    """Indices from 0x7ffffff0 to 0x7fffffff address 2 GB and more; the next one is negative."""
    (site,) = (s for s in unspecified("offset", "float", "ptx") if s.access == "store")
    assert site.conditions[-1].when.endswith(WRAPPED) or any(case.when == WRAPPED for case in site.conditions)
    launch = ptxaudit.Launch("k", grid=1, block=32, params=[PLACE, PLACE, 0x7FFF_FFFC, 0])
    report = ptxaudit.audit(kernel("offset", "float"), space="global", launches=[launch])
    (apart,) = (s for s in report.kernels[0].memory if s.access == "store")
    assert (apart.status, apart.sectors) == (Status.EXACT, 5), "4 lanes in one sector, 28 in four others"
    assert 5 <= site.per_request.high
