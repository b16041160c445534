"""A shift by 0 or 1, as compilers generate for `flag ? 2 * t : t`: the range spans the two figures and no more."""

from __future__ import annotations

import pytest
from machine_code import PROLOGUE

import ptxaudit

KERNEL = """.visible .entry k(.param .u32 n, .param .u32 m) .reqntid 64, 1, 1
{ .reg .b32 %t, %n, %m, %b, %y; .reg .pred %p; .shared .align 128 .b8 s[16384];
 ld.param.u32 %n, [n]; ld.param.u32 %m, [m]; mov.u32 %t, %tid.x; mul.lo.u32 %t, %t, EACH;
 SHIFT
 mov.u32 %y, s; mad.lo.u32 %y, %t, 4, %y; st.shared.u32 [%y], %n; ret; }
"""
EQUAL = "setp.eq.u32 %p, %n, 3; selp.b32 %b, 1, 0, %p;"
BOTH = "setp.eq.u32 %p, %n, 3; setp.lt.and.u32 %p, %m, 7, %p; selp.b32 %b, 1, 0, %p;"


def figures(each: int, shift: str, **values: int) -> tuple[int, int]:
    content = PROLOGUE.format(arch="sm_90") + KERNEL.replace("EACH", str(each)).replace("SHIFT", shift)
    launch = ptxaudit.Launch("k", grid=1, block=64, params=[values.get(name, "?") for name in ("n", "m")])
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=[launch]).sites
    low, high = site.per_request.low, site.per_request.high
    assert (site.wavefronts == 2 * low) if values.keys() >= {"n", "m"} else (site.bounds == (2 * low, 2 * high))
    return low, high


@pytest.mark.parametrize("each", [1, 2, 3, 4, 16, 33])
@pytest.mark.parametrize("flag", [EQUAL, BOTH, "and.b32 %b, %n, 1;"])
def test_range_of_a_shift_by_a_truth_value_spans_both_figures(each, flag):
    shift = f"{flag} shl.b32 %t, %t, %b;"
    (one, _), (two, _) = (figures(each, shift, n=n, m=2) for n in (2, 3))
    low, high = figures(each, shift)
    assert (low, high) == (min(one, two), max(one, two)) and two == min(32, 2 * one)


def test_shift_by_up_to_two_is_not_taken_for_a_truth_value():
    low, high = figures(1, "and.b32 %b, %n, 2; shl.b32 %t, %t, %b;")
    assert low == 1 and high >= 4
    assert figures(1, "add.u32 %b, %n, 0; shl.b32 %t, %t, %b;")[1] == 32
