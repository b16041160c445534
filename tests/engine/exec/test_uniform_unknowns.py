"""Unspecified numbers that all lanes of a warp share: the result of a barrier, a broadcast from one lane, a load from
one address, and values computed from these.

Each is compared with the twin for several values of the unspecified numbers.
"""

from __future__ import annotations

import pytest
from twin import compare
from twin.code import flatten

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import Status
from ptxaudit.frontend.launch.launch import Launch

# %r5: the lane; %rd1: a pointer; %r2: 4 bytes per lane
START = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) .reqntid {threads}, 1, 1
{{
.reg .pred %p<9>;
.reg .b32 %r<30>;
.reg .b64 %rd<9>;
.shared .align 16 .b8 s[32768];
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
mov.u32 %r5, %laneid;
shl.b32 %r6, %r5, 2;
mov.u32 %r7, s;
add.u32 %r2, %r7, %r6;
mov.u32 %r10, 0;
"""
LOADED = "ld.volatile.global.u32 {}, [%rd1];\n"
UNIFORM = {
    "a loaded number moves all lanes": LOADED.format("%r8")
    + "mad.lo.u32 %r9, %r8, 128, %r2;\nld.shared.u32 %r20, [%r9];",
    "a loaded pointer leads to another": (
        "ld.global.u64 %rd3, [%rd1];\nld.global.u32 %r8, [%rd3+8];\nmad.lo.u32 %r9, %r8, 128, %r2;\n"
        "ld.shared.u32 %r20, [%r9];"
    ),
    "what one lane holds": (
        "cvt.u64.u32 %rd3, %r6;\nadd.u64 %rd3, %rd1, %rd3;\nld.global.u32 %r8, [%rd3];\n"
        "shfl.sync.idx.b32 %r9, %r8, 7, 31, -1;\nmad.lo.u32 %r9, %r9, 128, %r2;\nld.shared.u32 %r20, [%r9];"
    ),
    "what a lane that is not known holds": (
        LOADED.format("%r11") + "cvt.u64.u32 %rd3, %r6;\nadd.u64 %rd3, %rd1, %rd3;\nld.global.u32 %r8, [%rd3];\n"
        "shfl.sync.idx.b32 %r9, %r8, %r11, 31, -1;\nmad.lo.u32 %r9, %r9, 128, %r2;\nld.shared.u32 %r20, [%r9];"
    ),
    "chosen by what the block agrees on": (
        LOADED.format("%r8") + "setp.gt.u32 %p1, %r8, %r5;\nbarrier.sync 0;\nbarrier.red.or.pred %p2, 0, %p1;\n"
        "selp.b32 %r9, 128, 256, %p2;\nadd.u32 %r9, %r9, %r2;\nld.shared.u32 %r20, [%r9];"
    ),
    "more unknowns than a sum has room for": (
        "".join(f"ld.volatile.global.u32 %r{11 + k}, [%rd1+{4 * k}];\n" for k in range(15))
        + "mov.u32 %r8, %r11;\n"
        + "".join(f"add.u32 %r8, %r8, %r{11 + k};\n" for k in range(1, 15))
        + "mad.lo.u32 %r9, %r8, 128, %r2;\nld.shared.u32 %r20, [%r9];"
    ),
}
OF_EACH = {
    "two loads of one address": (
        LOADED.format("%r8") + LOADED.format("%r9") + "sub.u32 %r8, %r8, %r9;\nmul.lo.u32 %r8, %r8, %r6;\n"
        "and.b32 %r8, %r8, 8188;\nadd.u32 %r8, %r8, %r7;\nld.shared.u32 %r20, [%r8];"
    ),
    "one load, in one trip and the next": (
        "mov.u32 %r9, 0;\nL:\n" + LOADED.format("%r8") + "setp.eq.u32 %p1, %r10, 0;\n@%p1 bra M;\n"
        "sub.u32 %r11, %r8, %r9;\nmul.lo.u32 %r11, %r11, %r6;\nand.b32 %r11, %r11, 8188;\nadd.u32 %r11, %r11, %r7;\n"
        "ld.shared.u32 %r20, [%r11];\nM: mov.u32 %r9, %r8;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, 4;\n@%p2 bra L;"
    ),
    "what a lane of each half holds": (
        "cvt.u64.u32 %rd3, %r6;\nadd.u64 %rd3, %rd1, %rd3;\nld.global.u32 %r8, [%rd3];\n"
        "shfl.sync.idx.b32 %r9, %r8, 7, 4127, -1;\nand.b32 %r9, %r9, 31;\nmad.lo.u32 %r9, %r9, 132, %r2;\n"
        "ld.shared.u32 %r20, [%r9];"
    ),
}


def kernel(body: str, threads: int = 64) -> str:
    return START.format(threads=threads) + body + "\nret;\n}\n"


def site_of(text: str, launch: Launch | None = None):
    function, flow = compare.lifted(text)
    (site,) = engine.evaluate(function, flow, launch=launch, machine=compare.MACHINE).sites
    return site


@pytest.mark.parametrize("name", UNIFORM)
@pytest.mark.parametrize("told", [False, True], ids=["block", "launch"])
def test_uniform_offsets_keep_the_cost_of_a_request(name, told):
    launch = Launch("k", grid=(3, 1, 1), block=(64, 1, 1), params=[None, None]) if told else None
    site = site_of(kernel(UNIFORM[name]), launch)
    assert site.per_request == (1, 1), (site.status, site.reason)
    assert site.status is (Status.EXACT if told else Status.INVARIANT)


@pytest.mark.parametrize("name", OF_EACH)
@pytest.mark.parametrize("told", [False, True], ids=["block", "launch"])
def test_values_that_may_differ_between_lanes_are_not_uniform(name, told):
    launch = Launch("k", grid=(3, 1, 1), block=(64, 1, 1), params=[None, None]) if told else None
    site = site_of(kernel(OF_EACH[name]), launch)
    assert site.status not in (Status.EXACT, Status.INVARIANT), site.per_request


@pytest.mark.parametrize("name", [*UNIFORM, *OF_EACH])
@pytest.mark.parametrize("seed", range(3))
def test_claims_match_the_twin(name, seed):
    text = kernel((UNIFORM | OF_EACH)[name])
    function, flow = compare.lifted(text)
    sites = compare.figures(function, engine.evaluate(function, flow, machine=compare.MACHINE))
    codes, _ = flatten(text)
    seen, _ = compare.watch(text, "k", (1, 1, 1), (64, 1, 1), compare.parameter_buffer(codes["k"], (None, None), seed))
    for site in sites:
        assert not compare.ranges(site, seen.get(site.place, compare.Seen())), site
