"""Values that depend on one truth value that no launch specifies: an answer by cases, each as if it were specified."""

from __future__ import annotations

import re

import pytest

import ptxaudit
from ptxaudit.base.status import Status

INDICES = {
    "masked": "t * (flag == 2 ? 33 : 32) & 4095",
    "halved": "t * (flag == 2 ? 33 : 32) / 3 & 4095",
    "modulo_1000": "(t * (flag == 2 ? 7 : 8)) % 1000",
    "shifted": "(t << (flag == 2 ? 1 : 3)) & 4095",
    "exclusive": "(t ^ (flag == 2 ? 31 : 4)) * 4",
    "extreme": "min(t * (flag == 2 ? 16 : 3), 512)",
    "by_lane": "flag == 2 ? t * 2 : (t * 37 & 4095)",
    "compared": "((flag == 2 ? 33 : 32) == 33 ? t : t * 8)",
    "reversed": "__brev(t * (flag == 2 ? 3 : 2)) >> 20",
    "through_floats": "(int)((float)t * (flag == 2 ? 2.f : 32.f)) & 4095",
    "permuted": "(int)(__byte_perm(t * (flag == 2 ? 1 : 32), 0, 0x4410) & 4095)",
    "of_bytes": "(int)(__dp4a(t, flag == 2 ? 0x01010101 : 0x20202020, 0) & 4095)",
}
SOURCE = "".join(
    f"""
extern "C" __global__ void {name}(float *out, int flag) {{
    __shared__ float s[4096];
    int t = threadIdx.x;
    out[t] = s[{index}];
}}"""
    for name, index in INDICES.items()
)
TWO = re.compile(r"flag == 2\) is true|flag != 2\) is false")
LAUNCH = {"grid": (2,), "block": (96,)}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("expansion") / "truths.cu"
    path.write_text(SOURCE)
    return path


def loads(path, isa, params=None):
    launches = [ptxaudit.Launch(name, **LAUNCH, params=params) for name in INDICES]
    report = ptxaudit.audit(path, launches=launches, isa=isa)
    assert not report.problems
    return {kernel.name: next(site for site in kernel.sites if site.access == "load") for kernel in report.kernels}


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_case_costs_equal_those_of_a_launch_that_meets_it(path, isa) -> None:
    unspecified, of_two = loads(path, isa), [loads(path, isa, ["?", flag]) for flag in (2, 1)]
    for name, site in unspecified.items():
        of_flag = {flag: one[name] for flag, one in zip((2, 1), of_two, strict=True)}
        assert {one.status for one in of_flag.values()} == {Status.EXACT}
        if len({one.wavefronts for one in of_flag.values()}) == 1:
            assert (site.status, site.wavefronts) == (Status.EXACT, of_flag[2].wavefronts), name
            continue
        assert site.status is Status.CONDITIONAL, (name, site.reason)
        assert len(site.conditions) == len(of_flag), name
        for case in site.conditions:
            of_case = of_flag[2 if TWO.search(case.when) else 1].per_request
            assert (case.low, case.high) == (of_case.low, of_case.high), (name, case.when)


def test_comparison_of_a_selected_number_is_the_selecting_predicate(path) -> None:
    """The two cases are named by the comparison of the parameter, not by that of the number chosen by it."""
    for case in loads(path, "ptx")["compared"].conditions:
        assert "flag" in case.when and "33" not in case.when
