"""Comparisons that the difference of two values decides, and those that it does not."""

from __future__ import annotations

import pytest
from machine_code import PROLOGUE

import ptxaudit
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.comparisons import compare
from ptxaudit.engine.domain.value import MAX_TERMS, Uniform, constant, unknown

BLOCK = unknown(Uniform("ctaid", 32, 0, 0, 10, "block", ("ctaid", 0)))
BEFORE = affine.subtract(BLOCK, constant(1, 32))  # in block 0 the largest unsigned number
KERNEL = """.visible .entry k() .reqntid 32, 1, 1
{ .reg .b32 %x, %y, %s; .reg .pred %p; .shared .align 128 .b8 s[512];
 mov.u32 %x, %ctaid.x; sub.u32 %y, %x, 1; setp.lt.SIGN32 %p, %y, %x; selp.b32 %s, 4, 8, %p;
 mov.u32 %x, %tid.x; mov.u32 %y, s; mad.lo.u32 %y, %x, %s, %y; st.shared.u32 [%y], %x; ret; }
"""


@pytest.mark.parametrize(("relation", "holds"), [("lt.s", True), ("lt.u", None), ("ge.u", None), ("ne", True)])
def test_predecessor_is_less_unless_it_wraps_around(relation, holds):
    found = compare(relation, BEFORE, BLOCK)
    assert (None if found is None else bool(found.base.all())) == holds


def test_difference_of_too_many_unknowns_is_not_taken_for_zero():
    first, second = (
        [unknown(Uniform(f"{side}{i}", 32, kind="loop", key=(side, i))) for i in range(MAX_TERMS)] for side in "ab"
    )
    for one in (first, second):
        for other in one[1:]:
            one[0] = affine.add(one[0], other)
    assert compare("eq", first[0], second[0]) is None


@pytest.mark.parametrize(("sign", "high"), [("s", 1), ("u", 2)])
def test_stride_chosen_by_the_block_index_gives_a_range(sign, high):
    content = PROLOGUE.format(arch="sm_90") + KERNEL.replace("SIGN", sign)
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90").sites
    assert (site.per_request.low, site.per_request.high) == (1, high), site.reason
