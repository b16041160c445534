"""An access that would fault leaves only its site without a figure, not its kernel."""

from __future__ import annotations

import re

import ptxaudit
from ptxaudit.engine.answer.result import Status

PTX = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 pitch) {
    .reg .b32 %r<9>; .shared .align 16 .b8 s[65536];
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.s32 %r2, %r2, %r3;
    ld.param.u32 %r4, [pitch]; mad.lo.s32 %r5, %r1, %r4, %r3;
    st.shared.u32 [%r2], %r1;
    ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r2];
    mad.lo.s32 %r5, %r1, %r4, %r3;
    ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r5];
    ret;
}
"""


def sites(**launch):
    report = ptxaudit.audit(PTX, **launch)
    assert not report.problems
    return sorted(report.sites, key=lambda site: site.ptx_line)


def test_misaligned_site_has_no_figure_with_a_launch() -> None:
    store, wrong, right = sites(launches=[ptxaudit.Launch("k", grid=(1,), block=(32,), params=[16])])
    assert (store.status, store.wavefronts) == (Status.EXACT, 1)
    assert (right.status, right.wavefronts) == (Status.EXACT, 4)
    assert wrong.status is Status.UNKNOWN and wrong.wavefronts is None
    assert wrong.reason == "ld.shared.v4.u32: lane 1's address 4 is not a multiple of 16: the hardware faults"


def test_misaligned_site_has_no_figure_without_a_launch() -> None:
    """An unknown pitch is tabulated over the values that do not fault."""
    store, wrong, right = sites()
    assert store.status is not Status.UNKNOWN
    assert wrong.status is Status.UNKNOWN and "is not a multiple of 16" in wrong.reason
    assert right.status is Status.CONDITIONAL
    told = [int(n) for case in right.conditions[:-1] for n in re.findall(r"-?\d+", case.when.rpartition("in")[2])]
    assert told and all(n % 16 == 0 for n in told)
    low, high = right.per_request.low, right.per_request.high
    assert low == 1 and high == 32  # 1: a block of one thread; 2: a pitch of 0, one address for the whole warp
    assert min(case.low for case in right.conditions[:-1]) == 2


def test_load_that_overwrites_its_address_register_is_exact() -> None:
    text = PTX.replace("ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r5];", "ld.shared.u32 %r2, [%r2];").replace(
        ".v4.u32 {%r5, %r6, %r7, %r8}", ".u32 %r5"
    )
    report = ptxaudit.audit(text, launches=[ptxaudit.Launch("k", grid=(1,), block=(32,), params=[16])])
    assert [(site.status, site.wavefronts) for site in report.sites] == [(Status.EXACT, 1)] * 3
