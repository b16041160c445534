"""Kernels that write numbers to shared memory and read them back as an index, with the verdict of the twin.

Each has 64 threads in two warps, a table, and an array `s` that the table's numbers index. The last site is the access
that they decide.
"""

from __future__ import annotations

from functools import cache

from twin import compare

from ptxaudit.engine import evaluate as engine
from ptxaudit.frontend.launch.launch import Launch

TURNS = (None, 1, 2)  # orders of the warps

HEAD = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 p) {
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<60>; .reg .b64 %rd<20>;
.shared .align 16 .b8 table[1024]; .shared .align 16 .b8 s[16384];
mov.u32 %r1, %tid.x; mov.u32 %r2, table; mov.u32 %r3, s; ld.param.u32 %r4, [n]; ld.param.u64 %rd1, [p];
mad.lo.u32 %r5, %r1, 4, %r2;
shr.u32 %r6, %r1, 5; setp.eq.u32 %p1, %r6, 0; setp.eq.u32 %p2, %r1, 0;
mul.lo.u32 %r7, %r1, 33; and.b32 %r8, %r1, 7; xor.b32 %r9, %r1, 1; mad.lo.u32 %r10, %r9, 4, %r2;
xor.b32 %r11, %r1, 32; mad.lo.u32 %r12, %r11, 4, %r2; sub.u32 %r13, 63, %r1;
"""
USE = """
mad.lo.u32 %r21, %r20, 4, %r3;
ld.shared.u32 %r22, [%r21];
ret; }
"""


@cache
def answered(text: str, grid):
    """(function, graph, launch, the engine's answer), whatever the order of the twin's warps."""
    function, flow = compare.lifted(text, "k")
    launch = Launch("k", grid=grid, block=(64, 1, 1), params=[9, None])
    return function, flow, launch, engine.evaluate(function, flow, launch=launch, machine=compare.MACHINE)


def told(body: str, turn: int | None = None, grid=(1, 1, 1)):
    """(verdict, site) of the last access."""
    text = HEAD + body + USE
    function, flow, launch, result = answered(text, grid)
    verdict = compare.launched(text, function, flow, launch, answer=compare.figures(function, result), turns=turn)
    return verdict, result.sites[-1]


def sites_of(body: str, grid=(1, 1, 1), n=9, p=None, **options):
    """The engine's answers, in order."""
    function, flow = compare.lifted(HEAD + body + USE, "k")
    return engine.evaluate(
        function,
        flow,
        launch=Launch("k", grid=grid, block=(64, 1, 1), params=[n, p]),
        machine=compare.MACHINE,
        **options,
    ).sites
