"""A loop that no lane leaves ends a run at once, with the reason: what was counted before it stays."""

from __future__ import annotations

import pytest
from machine_code import from_ptx

import ptxaudit

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PTX = """
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    mov.u32 %r7, 0;
    setp.ge.u32 %p1, %r1, %r5;
    @%p1 bra fine;
spin:
    ld.volatile.shared.u32 %r6, [%r3+4];
    IN_THE_LOOP
    @%p2 bra spin;
fine:
    ld.volatile.shared.u32 %r8, [%r3+8];
    add.u32 %r8, %r8, %r6;
    st.global.u32 [%rd1], %r8;
    ret;
}
"""
FOR_EVER = "setp.lt.u32 %p2, %r1, %r5;"
TWENTY = "add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 20;"
STAYS_FOR_TWENTY = "setp.lt.u32 %p2, %r7, 19; @%p2 bra more; more: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 20;"


def sites(inside: str, isa: str, lanes: int):
    text = PTX.replace("IN_THE_LOOP", inside)
    launch = ptxaudit.Launch("k", grid=2, block=64, params=[None, lanes])
    report = ptxaudit.audit(HEAD + text if isa == "ptx" else from_ptx(text), isa=isa, launches=[launch], cache=False)
    return sorted(report.sites, key=lambda s: (s.access != "store", s.ptx_line or s.offset))


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("lanes", [1, 40, 1000])
def test_a_loop_that_no_lane_leaves(isa, lanes):
    before, *others = sites(FOR_EVER, isa, lanes)
    assert (str(before.status), before.requests, before.wavefronts) == ("exact", 4, 8)
    for site in others:
        assert str(site.status) != "exact"
        assert str(site.status) == "unreached" or "the launch does not end" in site.reason
    assert any(str(site.status) != "unreached" for site in others)
    assert (lanes == 1000) is any(str(site.status) == "unreached" for site in others)


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("inside", [TWENTY, STAYS_FOR_TWENTY])
@pytest.mark.parametrize("lanes, warps", [(0, 0), (1, 1), (40, 2), (1000, 2)])
def test_one_that_they_leave(isa, inside, lanes, warps):
    found = sites(inside, isa, lanes)
    assert all(str(site.status) in ("exact", "unreached") for site in found)
    assert sum(site.active_requests for site in found) == 4 + 2 * warps * 20 + 4
