"""Local memory in loops with unknown trip counts: locations that a trip does not store to keep one value, and a stored
value differs between lanes that leave in different trips. The interpreter of tests/support/twin provides the expected
results.
"""

from __future__ import annotations

import pytest
from telling_twin import TOLD, hold

import ptxaudit

KERNEL = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
{{
    .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<5>; .reg .b16 %h<3>;
    .shared .align 128 .b8 s[16384];
    .local .align 16 .b8 a[64];
    ld.param.u64 %d1, [in]; ld.param.u32 %r15, [n]; and.b32 %r15, %r15, 7;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3]; and.b32 %r2, %r2, 7; add.u32 %r14, %r2, 1;
    mov.u64 %d4, a; mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4; mad.lo.u32 %r9, %r1, 128, %r4;
    st.local.u32 [%d4], %r3; st.local.u32 [%d4+4], %r3; st.local.u32 [%d4+8], %r3; st.local.u32 [%d4+12], %r9;
    mov.u32 %r5, 0; mov.u32 %r13, 0;
    {body}
    ret;
}}
"""
AGAIN = "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, {}; @%p1 bra L;"
TOGETHER, APART = AGAIN.format("%r15"), AGAIN.format("%r14")  # lanes leave in the same trip; in any trip
USE = "ld.local.u32 %r8, [%d4{}]; st.shared.u32 [%r8], %r1;"
PICK = "ld.local.u32 %r8, [%d4{}]; and.b32 %r8, %r8, 0x3ffc; add.u32 %r8, %r8, %r4; st.shared.u32 [%r8], %r1;"
COUNTED = (
    "ld.local.u32 %r10, [%d4]; shl.b32 %r6, %r10, 7; and.b32 %r6, %r6, 0x1f80; mad.lo.u32 %r8, %r1, 8, %r6;"
    " add.u32 %r8, %r8, %r4; st.shared.u32 [%r8], %r1;"
)
TRIP = "shl.b32 %r6, %r5, 7; st.local.u32 [%d4], %r6;"

BODIES = {  # the body, and how many of its sites have one cost per request
    "beside": (f"L: {TRIP} {USE.format('+4')} {TOGETHER} {USE.format('+8')}", 2),
    "trip": (f"L: {TRIP} {TOGETHER} {PICK.format('')}", 1),
    "trip, apart": (f"L: {TRIP} {APART} {PICK.format('')}", 0),
    "break": (f"L: {TRIP} setp.eq.u32 %p2, %r5, %r2; @%p2 bra X; {AGAIN.format(8)} X: {PICK.format('')}", 0),
    "second trip": (
        f"L: {USE.format('')} setp.eq.u32 %p2, %r5, 1; @%p2 st.local.u32 [%d4], %r9; {TOGETHER} {USE.format('')}",
        0,
    ),
    "chain": (
        f"L: {USE.format('')} ld.local.u32 %r10, [%d4+4]; st.local.u32 [%d4], %r10; ld.local.u32 %r10, [%d4+8];"
        f" st.local.u32 [%d4+4], %r10; ld.local.u32 %r10, [%d4+12]; st.local.u32 [%d4+8], %r10; {TOGETHER}",
        0,
    ),
    "swap": (
        "st.local.u32 [%d4+4], %r9; L: ld.local.u32 %r10, [%d4]; ld.local.u32 %r11, [%d4+4]; st.shared.u32 [%r10], %r1;"
        f" st.local.u32 [%d4], %r11; st.local.u32 [%d4+4], %r10; {TOGETHER}",
        0,
    ),
    "inner": (
        f"O: {USE.format('')} mov.u32 %r5, 0; L: st.local.u32 [%d4], %r9; {TOGETHER} add.u32 %r13, %r13, 1;"
        f" setp.lt.u32 %p2, %r13, %r15; @%p2 bra O; {USE.format('+4')}",
        1,
    ),
    "outer, apart": (
        f"O: shl.b32 %r6, %r13, 7; mov.u32 %r5, 0; L: st.local.u32 [%d4+4], %r6; {APART} {PICK.format('+4')}"
        f" add.u32 %r13, %r13, 1; setp.lt.u32 %p2, %r13, %r14; @%p2 bra O; {PICK.format('+4')}",
        0,
    ),
    "counter": (  # a trip counter in local memory: uniform
        f"st.local.u32 [%d4], 0; L: {COUNTED} add.u32 %r10, %r10, 1; st.local.u32 [%d4], %r10;"
        f" setp.lt.u32 %p1, %r10, %r15; @%p1 bra L; {COUNTED}",
        2,
    ),
    "counter, apart": (
        "st.local.u32 [%d4], 0; L: ld.local.u32 %r10, [%d4]; add.u32 %r10, %r10, 1; setp.eq.u32 %p2, %r10, %r14;"
        f" @%p2 bra X; st.local.u32 [%d4], %r10; bra L; X: {COUNTED}",
        0,
    ),
    "counter and its double": (  # two cells, one derived from the other: 4 per trip, in steps of 8 and 16
        "st.local.u32 [%d4], 0; st.local.u32 [%d4+4], 0; L: ld.local.u32 %r10, [%d4]; ld.local.u32 %r11, [%d4+4];"
        " add.u32 %r11, %r11, %r10; add.u32 %r10, %r10, 128; st.local.u32 [%d4], %r10; st.local.u32 [%d4+4], %r11;"
        " mad.lo.u32 %r8, %r1, 4, %r11; and.b32 %r8, %r8, 0x3ffc; add.u32 %r8, %r8, %r4; st.shared.u32 [%r8], %r1;"
        f" {TOGETHER}",
        1,
    ),
    "moves by lane": (
        "st.local.u32 [%d4], 0; mul.lo.u32 %r7, %r1, 4; L: ld.local.u32 %r10, [%d4]; and.b32 %r8, %r10, 0x3ffc;"
        f" add.u32 %r8, %r8, %r4; st.shared.u32 [%r8], %r1; add.u32 %r10, %r10, %r7; st.local.u32 [%d4], %r10; {TOGETHER}",
        0,
    ),
    "place by trip": (
        f"L: mul.wide.u32 %d5, %r5, 4; add.u64 %d6, %d5, %d4; st.local.u32 [%d6], %r9; {USE.format('+8')} {TOGETHER}",
        0,
    ),
    "byte by trip": (
        f"L: cvt.u64.u32 %d5, %r5; add.u64 %d6, %d5, %d4; st.local.u8 [%d6], 64; {PICK.format('+4')} {TOGETHER}",
        0,
    ),
    "half": (f"L: {PICK.format('')} cvt.u16.u32 %h1, %r1; st.local.u16 [%d4], %h1; {TOGETHER}", 0),
    "pointer": (
        "cvta.local.u64 %d5, %d4; ld.global.u64 %d6, [%d1+4096]; and.b64 %d6, %d6, 12; add.u64 %d5, %d5, %d6;"
        f" L: {PICK.format('')} st.u32 [%d5], %r9; {TOGETHER}",
        1,
    ),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("name", BODIES)
def test_local_memory_in_loops_agrees_with_the_interpreter(name, told):
    body, alike = BODIES[name]
    hold(KERNEL.format(body=body.replace("; ", ";\n")), told, alike, seed=7)


def test_reason_names_the_location_in_local_memory():
    """The effect of a loop on a cell in a function's frame, or in an array, is reported with that location."""
    squared = "mul.lo.u32 %r10, %r10, %r10; st.local.u32 [%d4+8], %r10;"
    body = f"L: {USE.format('+8')} ld.local.u32 %r10, [%d4+8]; {squared} {TOGETHER}"
    (site,) = ptxaudit.audit(KERNEL.format(body=body), isa="ptx").sites
    assert "local memory [a + 8] changes in a loop" in site.reason, site.reason
