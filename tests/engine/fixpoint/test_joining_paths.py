"""Where paths join, lanes of one warp may have come by several of them, or all by one.

The branches on these paths at which each lane chooses for itself decide it. The interpreter of tests/support/twin is the
reference.
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
    .shared .align 128 .b8 s[32768];
    ld.param.u64 %d1, [in]; ld.param.u32 %r15, [n];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3]; ld.global.u32 %r16, [%d3+4096];
    mov.u32 %r4, s; mad.lo.u32 %r3, %r1, 4, %r4;
    and.b32 %r5, %r15, 1; setp.eq.u32 %p1, %r5, 0;
    and.b32 %r5, %r2, 1; setp.eq.u32 %p2, %r5, 0;
    and.b32 %r5, %r15, 2; setp.eq.u32 %p3, %r5, 0;
    and.b32 %r5, %r2, 2; setp.eq.u32 %p4, %r5, 0;
    mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r9, 0;
    {body}
    ret;
}}
"""
USE = "add.u32 %r8, %r3, %r6; st.shared.u32 [%r8], %r1;"
INNER = "mov.u32 %r7, 1; @%p2 bra K; mov.u32 %r7, 2; K: add.u32 %r9, %r9, %r7;"  # per lane, then joined

BODIES = {  # code, and the number of sites with one cost per request; p1, p3 are uniform, p2, p4 differ by lane
    "met before": (f"@%p1 bra J; {INNER} mov.u32 %r6, 64; J: {USE}", 1),
    "one of three": (f"@%p1 bra J; {INNER} mov.u32 %r6, 64; @%p3 bra J; mov.u32 %r6, 192; J: {USE}", 1),
    "what they chose": (f"@%p1 bra J; {INNER} mul.lo.u32 %r6, %r9, 64; J: {USE}", 0),
    "beside, a line apart": (f"@%p1 bra J; mov.u32 %r6, 64; @%p2 bra J; mov.u32 %r6, 192; J: {USE}", 1),
    "beside": (f"@%p1 bra J; mov.u32 %r6, 64; @%p2 bra J; mov.u32 %r6, 160; J: {USE}", 0),
    "beside, alike": (
        f"@%p1 bra J; mov.u32 %r6, 64; @%p2 bra J; mov.u32 %r7, 192; J: {USE} add.u32 %r8, %r3, %r7;"
        " st.shared.u32 [%r8], %r1;",
        1,
    ),
    "both": (f"@%p1 bra A; @%p2 bra A; mov.u32 %r6, 64; bra J; A: mov.u32 %r6, 128; J: {USE}", 0),
    "past": (
        f"@%p2 bra L; @%p1 bra J; mov.u32 %r6, 64; J: {USE} L: add.u32 %r6, %r6, 4; add.u32 %r8, %r4, %r6;"
        " st.shared.u32 [%r8], %r1;",
        1,
    ),
    "past another": (f"@%p1 bra J; @%p2 bra L; mov.u32 %r6, 64; J: {USE} add.u32 %r6, %r6, 32; L: {USE}", 0),
    "inside": (
        f"@%p2 bra L; mov.u32 %r6, 32; @%p1 bra J; {INNER.replace('%p2', '%p4')} mov.u32 %r6, 64; J: {USE} L: {USE}",
        1,
    ),
    "in a loop": (
        f"mov.u32 %r10, 0; L: @%p1 bra J; {INNER} add.u32 %r6, %r6, 64; J: {USE} shr.u32 %r5, %r15, %r10;"
        " and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 0; add.u32 %r10, %r10, 1; and.b32 %r5, %r15, 7;"
        " setp.lt.u32 %p3, %r10, %r5; @%p3 bra L;",
        1,
    ),
    "left in a loop": (
        f"mov.u32 %r10, 0; L: @%p1 bra J; and.b32 %r5, %r16, %r10; setp.eq.u32 %p4, %r5, 3; @%p4 bra J;"
        " add.u32 %r6, %r6, 64; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 8; @%p3 bra L;"
        f" J: {USE}",
        0,
    ),
    "again in a loop": (
        "mov.u32 %r10, 0; L: add.u32 %r10, %r10, 1; shr.u32 %r5, %r2, %r10; and.b32 %r5, %r5, 1; setp.eq.u32 %p4, %r5, 0;"
        f" @%p4 bra C; shr.u32 %r5, %r15, %r10; and.b32 %r5, %r5, 1; setp.eq.u32 %p3, %r5, 0; @%p3 bra J;"
        f" add.u32 %r6, %r6, 64; J: {USE} C: setp.lt.u32 %p3, %r10, 8; @%p3 bra L; {USE}",
        0,
    ),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("name", BODIES)
def test_values_at_joins_agree_with_the_interpreter(name, told):
    body, alike = BODIES[name]
    for seed in (7, 8):
        hold(KERNEL.format(body=body.replace("; ", ";\n")), told, alike, seed)
