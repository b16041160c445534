"""Words 0 and 32 are in one bank: lanes for which a comparison of halves holds read one, the others read the other."""

from __future__ import annotations

import pytest
from machine_code import from_ptx

import ptxaudit

BODY = """.visible .entry k(.param .u64 p) {{ .reg .b64 %d; .reg .b32 %r<7>; .reg .b16 %h<3>; .reg .f32 %f; .reg .pred %p, %q; .shared .b32 s[64];
ld.param.u64 %d, [p]; mov.u32 %r1, %tid.x; {compared}
selp.b32 %r2, 128, 0, %p; mov.u32 %r3, s; add.u32 %r2, %r2, %r3; ld.shared.b32 %r4, [%r2]; st.global.b32 [%d], %r4; ret; }}
"""
HALF = "cvt.rn.f16.u32 %h1, %r1; mov.b16 %h2, 0x4C00; "  # 16.0
PAIR = "cvt.rn.f16.u32 %h1, %r1; mov.b16 %h2, 0x7E00; mov.b32 %r5, {{{}}}; mov.b32 %r6, 0x4C004C00; "
BRAIN = "cvt.rn.f32.u32 %f, %r1; mov.b32 %r5, %f; shr.u32 %r5, %r5, 16; cvt.u16.u32 %h1, %r5; mov.b16 %h2, 0x4180; "


@pytest.mark.parametrize(
    "compared,wavefronts",
    [
        (HALF + "setp.gt.f16 %p, %h1, %h2;", 2),
        (HALF + "setp.geu.f16 %p, %h1, %h2;", 2),
        (HALF + "neg.f16 %h1, %h1; setp.gt.f16 %p, %h1, %h2;", 1),
        (HALF + "setp.gt.u32 %q, %r1, 40; setp.gt.or.f16 %p, %h1, %h2, %q;", 2),
        (HALF + "setp.le.u32 %q, %r1, 16; setp.gt.xor.f16 %p, %h1, %h2, %q;", 1),
        (PAIR.format("%h1, %h2") + "setp.lt.f16x2 %p|%q, %r5, %r6;", 2),
        (PAIR.format("%h1, %h2") + "setp.lt.f16x2 %q|%p, %r5, %r6;", 1),  # the upper half is NaN
        (PAIR.format("%h2, %h1") + "setp.ltu.f16x2 %q|%p, %r5, %r6;", 2),
        (PAIR.format("%h2, %h1") + "setp.ltu.f16x2 %p|%q, %r5, %r6;", 1),
        (BRAIN + "setp.gt.bf16 %p, %h1, %h2;", 2),
    ],
)
def test_address_selected_by_a_half_comparison_is_exact(compared, wavefronts):
    code = from_ptx(BODY.format(compared=compared))
    (site,) = ptxaudit.audit(code, launches=[ptxaudit.Launch("k", grid=1, block=32)]).sites
    assert (str(site.status), site.wavefronts, site.ideal) == ("exact", wavefronts, 1)
