"""What is written under a predicate that is not known, where a branch on the same predicate tells which it was: on the
one way it is what was written, on the other what was there before. The interpreter of tests/twin says what is true.
"""

from __future__ import annotations

import pytest
from telling_twin import TOLD, hold

KERNEL = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
{{
    .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<5>;
    .shared .align 128 .b8 s[16384];
    ld.param.u64 %d1, [in]; ld.param.u32 %r15, [n]; and.b32 %r15, %r15, 7;
    mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2; mov.u32 %r4, s;
    ld.global.u32 %r2, [%d3]; shl.b32 %r7, %r2, 2; and.b32 %r7, %r7, 0x3ffc; add.u32 %r7, %r7, %r4;
    mad.lo.u32 %r3, %r1, 8, %r4; mad.lo.u32 %r9, %r1, 128, %r4; mov.u32 %r8, %r7;
    setp.gt.u32 %p1, %r15, 3; setp.gt.u32 %p3, %r15, 5; and.b32 %r10, %r2, 1; setp.eq.u32 %p2, %r10, 1;
    {body}
    ret;
}}
"""
STORE = "st.shared.u32 [%r8], %r1;"
BODIES = {  # what follows, and how many sites have one cost a request
    "taken": (f"@%p1 mov.u32 %r8, %r3; @%p1 bra L; bra.uni X; L: {STORE} X:", 1),
    "not taken": (f"@!%p1 mov.u32 %r8, %r3; @%p1 bra X; {STORE} X:", 1),
    "both": (f"mov.u32 %r8, %r9; @%p1 mov.u32 %r8, %r3; @%p1 bra L; {STORE} bra.uni X; L: {STORE} X:", 2),
    "the other way": (f"@%p1 mov.u32 %r8, %r3; @!%p1 bra L; bra.uni X; L: {STORE} X:", 0),
    "another predicate": (f"@%p1 mov.u32 %r8, %r3; @%p3 bra L; bra.uni X; L: {STORE} X:", 0),
    "predicate anew": (
        f"@%p1 mov.u32 %r8, %r3; setp.lt.u32 %p1, %r15, 6; @%p1 bra L; bra.uni X; L: {STORE} X:",
        0,
    ),
    "written again": (
        f"@%p1 mov.u32 %r8, %r3; @%p3 mov.u32 %r8, %r7; @%p1 bra L; bra.uni X; L: {STORE} X:",
        0,
    ),
    "by lane": (f"@%p2 mov.u32 %r8, %r3; @%p2 bra L; bra.uni X; L: {STORE} X:", 0),
    "by lane, and all": (f"@%p2 mov.u32 %r8, %r3; @%p2 bra L; bra.uni X; L: {STORE} X: {STORE}", 0),
    "by lane, within": (
        "setp.gt.u32 %p4, %r1, 19; @%p4 bra X; mov.u32 %r8, %r9; @%p2 mov.u32 %r8, %r3; @%p2 bra L; add.u32 %r8, %r8, 4;"
        f" bra.uni Y; L: add.u32 %r8, %r8, 8; Y: {STORE} X: {STORE}",
        0,
    ),
    "in a loop": (
        "mov.u32 %r5, 0; L: mov.u32 %r8, %r7; @%p1 mov.u32 %r8, %r3; add.u32 %r5, %r5, 1; @!%p1 bra M; "
        f"{STORE} M: setp.lt.u32 %p3, %r5, 3; @%p3 bra L;",
        1,
    ),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("name", BODIES)
def test_each_way_has_what_was_written_on_it(name, told):
    body, alike = BODIES[name]
    hold(KERNEL.format(body=body.replace("; ", ";\n")), told, alike, seed=3)
