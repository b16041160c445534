"""PTX does not specify where diverged lanes reconverge.

A count that depends on it states the assumption, and one that does not depend on it does not.
"""

import pytest

import ptxaudit
from ptxaudit.engine.answer.assumptions import MASKS, MEETING
from ptxaudit.frontend.compile.ptxas import assemble

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p_in, .param .u32 p_n) {
 .reg .pred p, q; .reg .b32 t, n, a, b, v; .reg .b64 in;
 .shared .align 4 .b8 s[1024];
 mov.u32 t, %tid.x; ld.param.u32 n, [p_n]; ld.param.u64 in, [p_in]; shl.b32 a, t, 2; mov.u32 b, s; add.u32 a, a, b; mov.u32 v, 0;
"""
BODIES = {
    "parted and met": ("setp.lt.u32 p, t, 7; @p bra one; add.u32 v, v, 3; one: st.shared.u32 [a], v; ret;", True),
    "before it": (
        "st.shared.u32 [a], v; setp.lt.u32 p, t, 7; @p bra one; add.u32 v, v, 3; one: st.global.u32 [in], v; ret;",
        False,
    ),
    "on one way": ("setp.lt.u32 p, t, 7; @p bra one; st.shared.u32 [a], v; one: ret;", False),
    "met again inside": (
        (
            "setp.lt.u32 p, t, 7; @p bra one; setp.lt.u32 q, t, 9; @q bra two; add.u32 v, v, 3; two: st.shared.u32 [a],"
            " v; one: ret;"
        ),
        True,
    ),
    "by whole warps": ("setp.lt.u32 p, t, 32; @p bra one; add.u32 a, a, 4; one: st.shared.u32 [a], v; ret;", False),
    "all by one parameter": (
        "setp.lt.u32 p, n, 7; @p bra one; st.global.u32 [in], v; one: st.shared.u32 [a], v; ret;",
        False,
    ),
    "by data that decide nothing else": (
        (
            "ld.global.u32 v, [in]; mul.wide.u32 in, t, 4; ld.global.u32 v, [in]; setp.lt.u32 p, v, 7; @p bra one;"
            " st.global.u32 [in], v; one: st.shared.u32 [a], v; ret;"
        ),
        True,
    ),
    "a barrier between": (
        "setp.lt.u32 p, t, 7; @p bra one; add.u32 v, v, 3; one: bar.sync 0; st.shared.u32 [a], v; ret;",
        False,
    ),
    "a barrier of the warp": (
        "setp.lt.u32 p, t, 7; @p bra one; add.u32 v, v, 3; one: bar.warp.sync -1; st.shared.u32 [a], v; ret;",
        True,  # ptxas may make it a WARPSYNC.COLLECTIVE, after which they are diverged as before
    ),
    "those that left": ("setp.lt.u32 p, t, 7; @p ret; st.shared.u32 [a], v; ret;", False),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("n", [3, None], ids=["told", "not specified"])
def test_count_that_depends_on_reconvergence_states_the_assumption(tmp_path, name: str, n: int | None) -> None:
    body, rests = BODIES[name]
    (tmp_path / "k.ptx").write_text(f"{HEAD}{body}\n}}\n")
    params = [None, n]
    launch = ptxaudit.Launch("k", grid=1, block=64, params=params)
    kernel = ptxaudit.audit(tmp_path / "k.ptx", launches=[launch]).kernels[0]
    assert kernel.sites[0].requests is not None
    assert (MEETING in kernel.assumed) == rests


FAR = "shl.b32 n, t, 4; and.b32 n, n, 1023; add.u32 n, n, b; st.shared.u32 [n], v;"  # four wavefronts
INFERRED = {
    "parted and met": (f"setp.lt.u32 p, t, 7; @p bra one; add.u32 v, v, 3; one: {FAR} ret;", True),
    "one wavefront, whichever lanes": (BODIES["parted and met"][0], False),
    "before it": (f"{FAR} setp.lt.u32 p, t, 7; @p bra one; st.global.u32 [in], v; one: ret;", False),
    "on one way": (f"setp.lt.u32 p, t, 7; @p bra one; {FAR} one: ret;", False),
    "all by one parameter": (f"setp.lt.u32 p, n, 7; @p bra one; st.global.u32 [in], v; one: {FAR} ret;", False),
    "a barrier between": (
        f"setp.lt.u32 p, t, 7; @p bra one; st.global.u32 [in], v; one: bar.sync 0; {FAR} ret;",
        False,
    ),
    "by lanes that jump to several": (
        f"and.b32 v, t, 1; ts: .branchtargets one, two; brx.idx v, ts; one: st.global.u32 [in], v; two: {FAR} ret;",
        True,
    ),
}


@pytest.mark.parametrize("name", INFERRED)
def test_inferred_figure_that_depends_on_reconvergence_states_the_assumption(tmp_path, name: str) -> None:
    body, rests = INFERRED[name]
    (tmp_path / "k.ptx").write_text(f"{HEAD}{body}\n}}\n")
    (kernel,) = ptxaudit.audit(tmp_path / "k.ptx").kernels
    assert kernel.sites[0].requests is None and kernel.sites[0].per_request is not None
    assert (MEETING in kernel.assumed) == rests


def test_machine_code_states_its_reconvergence(tmp_path) -> None:
    (tmp_path / "k.cubin").write_bytes(assemble(f"{HEAD}{BODIES['met again inside'][0]}\n}}\n", "sm_90").cubin)
    report = ptxaudit.audit(tmp_path / "k.cubin", launches=[ptxaudit.Launch("k", grid=1, block=64, params=[None, 3])])
    assert report.kernels[0].sites[0].status == "exact" and report.kernels[0].assumed == ()


MASKED = {
    "of tiles": ("shl.b32 v, 255, v; vote.sync.ballot.b32 b, p, v; st.shared.u32 [a], b; ret;", True),
    "shuffled by tiles": (
        "shl.b32 v, 255, v; shfl.sync.idx.b32 b, t, 0, 31, v; st.shared.u32 [a], b; ret;",
        True,
    ),
    "a barrier of tiles": ("shl.b32 v, 255, v; bar.warp.sync v; st.shared.u32 [a], b; ret;", True),
    "of all": ("vote.sync.ballot.b32 b, p, -1; st.shared.u32 [a], b; ret;", False),
    "by a parameter": ("vote.sync.ballot.b32 b, p, n; st.shared.u32 [a], b; ret;", False),
    "before it": (
        "shl.b32 v, 255, v; st.shared.u32 [a], t; vote.sync.ballot.b32 b, p, v; st.global.u32 [in], b; ret;",
        False,
    ),
    "a barrier behind": (
        "shl.b32 v, 255, v; vote.sync.ballot.b32 b, p, v; bar.sync 0; st.shared.u32 [a], t; ret;",
        False,
    ),
    "a barrier of the warp behind": (
        "shl.b32 v, 255, v; vote.sync.ballot.b32 b, p, v; bar.warp.sync -1; st.shared.u32 [a], t; ret;",
        True,
    ),
    "in a loop": (
        "next: st.shared.u32 [a], t; shl.b32 v, 255, v; vote.sync.ballot.b32 b, p, v; add.u32 n, n, 1; setp.lt.u32 q, n, 5;"
        " @q bra next; ret;",
        True,
    ),
}


@pytest.mark.parametrize("name", MASKED)
def test_count_after_several_member_masks_states_the_assumption(tmp_path, name: str) -> None:
    body, rests = MASKED[name]
    head = HEAD.replace("mov.u32 v, 0;", "and.b32 v, t, 24; setp.lt.u32 p, t, 9;")
    (tmp_path / "k.ptx").write_text(f"{head}{body}\n}}\n")
    launch = ptxaudit.Launch("k", grid=1, block=64, params=[None, 3])
    (kernel,) = ptxaudit.audit(tmp_path / "k.ptx", launches=[launch]).kernels
    assert all(site.requests is not None for site in kernel.sites)
    assert (MASKS in kernel.assumed) == rests
