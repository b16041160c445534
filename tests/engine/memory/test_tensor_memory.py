"""Kernels that allocate tensor memory.

ptxas's code for tcgen05.alloc and tcgen05.dealloc checks that they are called in order, and otherwise traps in a
routine of its own.
"""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import from_ptx

import ptxaudit
from ptxaudit.engine.domain.value import Uniform, Value
from ptxaudit.engine.memory.registers import fill
from ptxaudit.ir import aborts

ALLOCATING = """
.visible .entry k(.param .u64 p) {
    .reg .b64 %d<2>; .reg .b32 %r<9>; .reg .pred %p<2>; .shared .align 16 .b8 s[1024];
    ld.param.u64 %d1, [p]; mov.u32 %r7, s; mov.u32 %r8, %tid.x; setp.gt.u32 %p1, %r8, 31;
    @%p1 bra wait;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 128;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
wait:
    bar.sync 0;
    ld.shared.u32 %r4, [%r7]; st.global.u32 [%d1], %r4;
    @%p1 bra done;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 128;
done:
    ret;
}
"""


@pytest.mark.parametrize("block", [32, 64, 384])
def test_tensor_memory_allocation_by_one_warp_is_exact(block):
    report = ptxaudit.audit(from_ptx(ALLOCATING, "sm_100a"), launches=[ptxaudit.Launch("k", grid=4, block=block)])
    (kernel,) = report.kernels
    reached = [s for s in kernel.sites if str(s.status) != "unreached"]
    assert {(str(s.status), s.wavefronts == s.requests) for s in reached} == {("exact", True)}
    assert {s.requests for s in reached if s.opcode.startswith(("ATOMS", "STS"))} == {4}
    assert [s.requests for s in reached if s.opcode == "LDS"].count(block // 32 * 4) >= 1
    assert {s.opcode for s in kernel.sites} >= {"ATOMS.OR", "ATOMS.AND"} and aborts.NOTE in kernel.notes


ELECTED = """
.version 8.7
.target sm_90
.address_size 64
.visible .entry k() {
    .reg .b32 %r<5>; .reg .pred %p<4>; .shared .align 16 .b8 s[1024];
    mov.u32 %r1, %tid.x; mov.u32 %r2, 5; mov.u32 %r3, s; setp.gt.u32 %p1, %r1, 31;
    @%p1 bra done;
    ld.shared.u8 %r2, [%r3+16]; setp.ne.u32 %p2, %r2, 0;
    @%p2 bra done;
    elect.sync %r4|%p3, 0xffffffff;
    @%p3 atom.shared.or.b32 %r4, [%r3+64], %r1;
done:
    mad.lo.u32 %r2, %r2, 4, %r3; st.shared.u32 [%r2], %r1;
    ret;
}
"""


def test_registers_of_other_warps_do_not_diverge_a_warp():
    """All lanes of the warp that reaches the branch take the same side, whatever the registers of other warps hold."""
    read, elected, _ = ptxaudit.audit(ELECTED, launches=[ptxaudit.Launch("k", grid=2, block=128)]).sites
    assert (str(read.status), read.requests) == ("exact", 2)
    assert (str(elected.status), elected.per_request.low, elected.per_request.high) == ("invariant", 1, 1)


def test_inactive_warps_are_filled_with_the_active_value():
    """So that the result of an operation on them is one value."""
    mask = np.zeros((3, 32), bool)
    mask[1] = True
    mask[1, 0] = False
    symbol = Uniform("n", 32, 0, 0, 9, key="n")
    here = np.array([[0], [1], [0]], np.uint32)
    held = fill(Value(np.array([[5], [0], [7]], np.uint32), ((symbol, here),)), mask)
    assert held.uniform and [(u.name, set(c.flat)) for u, c in held.terms] == [("n", {1})]
    assert set(held.base.flat) == {0}
    each = np.arange(96, dtype=np.uint32).reshape(3, 32)
    assert (fill(Value(each), mask).base == np.where(mask, each, each[1, 1])).all()
