"""A kernel that takes many steps to execute, and the head of others."""

from __future__ import annotations

from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.hardware import machines
from ptxaudit.ir.link import link

MACHINE = machines.get("sm_90")

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
.reg .b32 %r<9999>;
.reg .b64 %rd<99>;
.reg .pred %p<999>;
.shared .align 16 .b8 s[16384];
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
mad.lo.u32 %r3, %r1, 8, %r2;
ld.param.u32 %r4, [k_param_1];
"""

# A loop whose end is unknown without executing it, between two accesses.
LONG = (
    HEAD
    + """st.shared.u32 [%r3], %r1;
mov.u32 %r5, 1;
L:
mad.lo.u32 %r5, %r5, 1664525, 1013904223;
and.b32 %r6, %r5, 4092;
add.u32 %r6, %r6, %r2;
and.b32 %r7, %r5, 31;
setp.eq.u32 %p2, %r7, %r1;
@%p2 st.shared.u32 [%r6], %r1;
setp.ne.u32 %p1, %r5, 77;
@%p1 bra L;
ld.shared.u32 %r8, [%r3];
ret;
}
"""
)


def kernel(text: str):
    module = lift_module(parse_module(text, "k.ptx"))
    return link(module, module.functions["k"])
