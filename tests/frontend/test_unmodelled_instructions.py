"""Unmodelled instructions write the registers that they name, and no others."""

import pytest
from machine_code import from_ptx

import ptxaudit
from ptxaudit.base.status import Status
from ptxaudit.frontend.sass.lift import lift_cubin
from ptxaudit.report.model import Site
from ptxaudit.review.rules import find
from ptxaudit.ui.render.text import report_text

TRANSPOSE = """
.visible .entry transpose(.param .u64 p) {
    .reg .b64 %a; .reg .b32 %r<9>;
    ld.param.u64 %a, [p];
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a];
    movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r1;
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r2;
    movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r3;
    movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r4;
    st.global.v4.u32 [%a], {%r5, %r6, %r7, %r8};
    ret;
}
"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_movmatrix_writes_one_register(arch):
    function = lift_cubin(from_ptx(TRANSPOSE, arch), "transpose.cubin").functions["transpose"]
    written = [[d for op in i.ops for d in op.dst] for i in function.instructions if i.text.startswith("MOVM")]
    assert [len(registers) for registers in written] == [1, 1, 1, 1], written


UNKNOWN = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a)
{
.reg .b32 %r<9>;
.reg .b64 %d<3>;
.reg .f32 %f<4>;
.shared .align 16 .b8 s[65536];
ld.param.u64 %d1, [a];
mov.u32 %r1, %tid.x;
mov.u32 %r3, s;
vset4.u32.u32.eq %r5, %r1, %r1, %r1;
add.u32 %r5, %r5, %r3;
ACCESS
ret;
}
"""
WITH, WITHOUT = [ptxaudit.Launch("k", grid=1, block=(32,))], []


def only_site(access: str, launches: list) -> Site:
    (site,) = ptxaudit.audit(UNKNOWN.replace("ACCESS", access), launches=launches).sites
    return site


@pytest.mark.parametrize("access", ["ld.shared.f32 %f1, [%r5];", "ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r5];"])
def test_access_with_an_opaque_address_has_the_widest_range(access):
    """Specifying more never makes the figures less precise."""
    free, launched = only_site(access, WITHOUT), only_site(access, WITH)
    assert free.status is Status.UNKNOWN and "vset4" in free.reason
    assert free.per_request.low <= launched.per_request.low and launched.per_request.high <= free.per_request.high == 32
    assert free.wavefronts is None and free.excess_per_request is None


@pytest.mark.parametrize("launches", [WITH, WITHOUT])
def test_copy_past_l1_with_an_opaque_address_has_no_wavefronts(launches):
    """No counter counts it: the report says that 32 lanes take at most 32 steps, and why it cannot say more."""
    site = only_site("cp.async.cg.shared.global [%r5], [%d1], 16;", launches)
    assert site.per_request is None and site.bounds is None and (site.line_class_max, site.lines) == (32, None)
    report = ptxaudit.audit(UNKNOWN.replace("ACCESS", "cp.async.cg.shared.global [%r5], [%d1], 16;"), launches=launches)
    assert "vset4" in report_text(report)
    (finding,) = (finding for finding in find(report) if finding.rule == "PA004")
    assert not finding.certain and ("vset4" in finding.what) is (site.status is Status.UNKNOWN)
