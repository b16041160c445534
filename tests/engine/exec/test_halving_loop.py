"""A distance that is halved in every trip remains uniform, even if its initial value is not specified."""

from __future__ import annotations

import pytest
from twin import compare
from twin.code import flatten

from ptxaudit.engine import evaluate as engine

# s[t] += s[t + d] while d is halved: the tree reduction
KERNEL = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u32 a) .reqntid 64, 1, 1
{{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.shared .align 16 .b8 s[65536];
mov.u32 %r1, s;
mov.u32 %r2, %tid.x;
shl.b32 %r3, %r2, 2;
add.u32 %r4, %r1, %r3;
ld.param.u32 %r5, [a];
shl.b32 %r5, %r5, 4;
L: {shift} %r5, %r5, 1;
setp.ge.u32 %p1, %r2, %r5;
@%p1 bra N;
shl.b32 %r6, %r5, 2;
add.u32 %r7, %r4, %r6;
ld.shared.u32 %r8, [%r7];
N: bar.sync 0;
setp.ne.u32 %p2, %r5, 0;
@%p2 bra L;
ret;
}}
"""


@pytest.mark.parametrize("shift", ["shr.u32", "shr.s32"])
def test_halved_distance_remains_uniform(shift):
    text = KERNEL.format(shift=shift)
    function, flow = compare.lifted(text)
    (site,) = engine.evaluate(function, flow, machine=compare.MACHINE).sites
    assert site.per_request == (1, 1)
    codes, _ = flatten(text)
    (figure,) = compare.figures(function, engine.evaluate(function, flow, machine=compare.MACHINE))
    for distance in (0, 1, 2, 3, 7, 8, 15):
        seen, _ = compare.watch(text, "k", (1, 1, 1), (64, 1, 1), compare.parameter_buffer(codes["k"], (distance,)))
        assert not compare.ranges(figure, seen.get(figure.place, compare.Seen())), distance
