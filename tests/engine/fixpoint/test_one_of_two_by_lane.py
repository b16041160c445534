"""Values of which lanes have one or the other, by a condition that is not known."""

import ptxaudit

APART = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u32 m)
{
.reg .pred %p<4>; .reg .b32 %r<30>; .reg .b64 %rd<4>;
.shared .align 16 .b8 s[49152];
ld.param.u32 %r1, [n];
ld.param.u32 %r2, [m];
mov.u32 %r3, %tid.x;
shr.u32 %r4, %r3, 4;
and.b32 %r5, %r3, 15;
mov.u32 %r6, s;
mad.lo.u32 %r7, %r5, 136, %r6;
mov.b64 %rd1, 0;
setp.ge.u32 %p1, %r3, %r1;
@%p1 bra SKIP;
add.u32 %r4, %r4, 16;
SKIP:
mov.u32 %r8, 0;
LOOP:
mad.lo.u32 %r9, %r4, 8, %r7;
st.shared.b64 [%r9], %rd1;
add.u32 %r4, %r4, 64;
add.u32 %r8, %r8, 1;
setp.lt.u32 %p2, %r8, %r2;
@%p2 bra LOOP;
ret;
}
"""


def test_lanes_whose_index_differs_by_a_multiple_of_sixteen_keep_their_banks():
    """8 bytes a lane: whichever lanes add 16 to their index, and whatever a trip adds, they move by 128 bytes."""
    (site,) = ptxaudit.audit(APART, launches=[ptxaudit.Launch("k", grid=1, block=32)]).kernels[0].sites
    assert (site.status, site.per_request.low, site.per_request.high) == ("invariant", 2, 2)


def test_lanes_whose_index_differs_by_four_may_share_banks():
    moved = APART.replace("add.u32 %r4, %r4, 16;", "add.u32 %r4, %r4, 4;")
    (site,) = ptxaudit.audit(moved, launches=[ptxaudit.Launch("k", grid=1, block=32)]).kernels[0].sites
    assert site.status != "invariant" and site.per_request.high > 2
