"""Loops that some lanes run while others of their block wait: also in closed form, with exact counts."""

from __future__ import annotations

import numpy as np
import pytest
from convergence_programs import MORE, T, _Kernel
from machine_code import STATED, from_cuda
from sass_text import function_of, instructions

import ptxaudit
from ptxaudit.base.work import Account
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.rounds import NotAffine, Round
from ptxaudit.engine.domain.value import Uniform, constant, opaque, unknown
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.engine.exec.effects import execute_in_round
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.engine.memory.registers import Registers, View
from ptxaudit.engine.memory.rows import environment
from ptxaudit.hardware import machines
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.graph import build
from ptxaudit.ir.reasons import Kind, Reason

SOURCE = """
extern "C" __global__ void k(const int* __restrict__ in, int* out, int n) {
    __shared__ int s[4096];
    const int x = threadIdx.x;
    if (WHO)
        for (int i = 0; i < n; i++)
            s[(i * 32 + x % 32 * STRIDE) & 1023] = in[i];
    __syncthreads();
    out[x] = s[x * 2 & 1023];
}
"""


def figures(who: str, stride: int, trips: int) -> tuple[list[str], int, int]:
    """(statuses, requests, wavefronts) of the loop's stores, over all blocks."""
    source = SOURCE.replace("WHO", who).replace("STRIDE", str(stride))
    launch = ptxaudit.Launch("k", grid=2, block=96, params=[None, None, trips])
    sites = ptxaudit.audit(from_cuda(source), launches=[launch], cache=False).sites
    stores = [s for s in sites if s.access == "store" and str(s.status) != "unreached"]
    return (
        sorted({str(s.status) for s in stores}),
        sum(s.active_requests or 0 for s in stores),
        sum(s.wavefronts or 0 for s in stores),
    )


@pytest.mark.parametrize("trips", [5, 1_000, 3_000_001])
@pytest.mark.parametrize(
    "who, stride, warps, ways",
    [
        ("x == 0", 0, 1, 1),
        ("x == 37", 1, 1, 1),
        ("x % 32 == 5", 2, 3, 1),
        ("x % 32 < 4", 32, 3, 4),  # four words of one bank
        ("x >= 64 && x % 2 == 0", 16, 1, 16),
        ("x < 40", 1, 2, 1),
    ],
)
def test_every_trip_of_a_divergent_loop_is_counted(who, stride, warps, ways, trips):
    statuses, requests, wavefronts = figures(who, stride, trips)
    assert statuses == ["exact"]
    assert (requests, wavefronts) == (2 * warps * trips, 2 * warps * trips * ways)


def test_value_unknown_in_all_trips_does_not_refute_the_closed_form():
    """The carry of an unspecified address: it refutes an attempt only if it was known in earlier trips."""
    code = instructions(["IADD3 R2, P2, PT, R2, 0x20, RZ", "EXIT"])
    function = ir.Function("k", "sass", "sm_90", code, True, (), **STATED)
    env = environment(function, ptxaudit.Launch("k", grid=1, block=32), Facts(), (32, 1, 1))
    symbols = [unknown(Uniform(name, 32, key=name)) for name in ("p", "k")]
    registers = Registers(1, {"R2": affine.add(*symbols), "P2": opaque(1, Reason(Kind.UNKNOWN_CARRY))})
    view = View(registers, env, None, np.ones((1, 32), bool), True)
    (op,) = code[0].ops
    execute_in_round(op, Round(0, symbols[1].terms[0][0], 1, 64), view, 0)
    assert view.read(ir.Reg("P2", 1)).poison.all() and not view.read(ir.Reg("R2", 32)).poison
    registers.values["P2"] = constant(0, 1)
    with pytest.raises(NotAffine):
        execute_in_round(op, Round(0, symbols[1].terms[0][0], 1, 64), view, 0)


@pytest.mark.parametrize("trips", [3, 100])
def test_uniform_register_written_in_a_loop_changes_for_waiting_lanes(trips):
    """One lane adds four to UR4 in every trip: after the loop UR4 is uniform, and no two lanes use one bank."""
    lane, left, address = (ir.Reg(f"R{n}", 32) for n in (0, 9, 4))
    shared_by_all, barrier = ir.Reg("UR4", 32, uniform=True), ir.Reg("B0", 32)
    k = _Kernel()
    k.put(
        "S2R R0, SR_TID.X",
        ir.Op("mov", (lane,), (ir.Special("tid.x"),)),
        ir.Op("mov", (left,), (ir.Const(trips),)),
        ir.Op("mov", (shared_by_all,), (ir.Const(0),)),
        ir.Op("setp.eq", (MORE,), (lane, ir.Const(5)), 32),
    )
    k.put("BSSY B0", control=ir.Control("open", (5,), None, barrier))
    k.put("@!P1 BRA", control=ir.Control("branch", (5,), ir.Guard(MORE, True)))
    k.put(
        "UIADD3 UR4, UR4, 0x4, URZ",
        ir.Op("add", (shared_by_all,), (shared_by_all, ir.Const(4))),
        ir.Op("add", (left,), (left, ir.Const(0xFFFFFFFF))),
        ir.Op("setp.ne", (MORE,), (left, ir.Const(0)), 32),
    )
    k.put("@P1 BRA", control=ir.Control("branch", (3,), ir.Guard(MORE)))
    k.put("BSYNC B0", control=ir.Control("sync", (), None, barrier))
    k.put(
        "LEA R4, R0, UR4, 0x2",
        ir.Op("shl", (T,), (lane, ir.Const(2))),
        ir.Op("add", (address,), (T, shared_by_all)),
    )
    site = with_access(ir.Site("STS", address), ())
    k.put("STS [R4], RZ", ir.Op("store", (), (address, ir.Const(0)), 32, space="shared"), site=site)
    k.put("EXIT", control=ir.Control("exit"))
    function = ir.Function("program", "sass", "sm_90", tuple(k.out), shared_static=8192, **STATED)
    launch = ptxaudit.Launch("program", grid=(1,), block=(32,), param_bytes=b"")
    (found,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert (str(found.status), found.requests, found.wavefronts) == ("exact", 1, 1)


REUSES = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R8, R0, 0x4, RZ
MOV R2, c[0x0][0x210]
MOV R3, c[0x0][0x214]
MOV R9, RZ
MOV R11, RZ
BSSY B0, 0x100
ISETP.GE.AND P1, PT, R0, LANES, PT
@P1 BRA 0x100
IMAD.WIDE.U32 R6, R9, 0x4, R2
LDG.E R11, [R6.64]
IMAD R7, R9, 0x80, R8
STS [R7], R11
IADD3 R9, R9, 0x1, RZ
ISETP.LT.AND P0, PT, R9, TRIPS, PT
@P0 BRA 0x90
BSYNC B0
LOP3.LUT R12, R11, 0x3fc, RZ, 0xc0, !PT
LDS R4, [R12]
EXIT
"""


@pytest.mark.parametrize("trips", [2, 3, 40, 1_003, 1_000_005])
@pytest.mark.parametrize("lanes", [1, 7, 32])
def test_register_written_before_it_is_read_needs_no_step(trips, lanes):
    """R7 is the upper half of an unspecified pointer, and then an address in shared memory."""
    text = REUSES.replace("LANES", hex(lanes)).replace("TRIPS", hex(trips))
    function = function_of(text)
    launch = ptxaudit.Launch("k", grid=1, block=32)
    machine, account = machines.get("sm_90"), Account.for_budget(0.5)
    result = evaluate(function, build(function), launch=launch, machine=machine, account=account)
    store, load = result.sites
    assert (str(store.status), store.requests, store.active_requests) == ("exact", trips, trips)
    assert load.requests == 1 and str(load.status) == ("exact" if lanes == 32 else "data-dependent")


UNDECIDED_INSIDE = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
    .reg .b32 %r<9>; .reg .b64 %rd<6>; .reg .pred %p<4>;
    .shared .align 16 .b8 s[131072];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4;
    mov.u32 %r7, 0;
again:
    CONDITION
    @%p1 bra other;
    INSIDE
other:
    st.shared.u32 [%r3], %r1;
    add.u32 %r3, %r3, 128;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p2, %r7, %r5;
    @%p2 bra again;
    ret;
}
"""
OF_ALL = "setp.eq.u64 %p1, %rd1, 0;"
OF_DATA = "ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p1, %r6, 0;"
OF_LANES = "mad.wide.u32 %rd3, %r1, 4, %rd1; ld.global.u32 %r6, [%rd3]; setp.eq.u32 %p1, %r6, 0;"
ELSEWHERE = "red.global.add.u32 [%rd2], 1;"
SHARED = "ld.shared.u32 %r8, [%r4]; red.global.add.u32 [%rd2], %r8;"


@pytest.mark.parametrize("trips", [3, 40, 1_000_005])
@pytest.mark.parametrize(
    "condition, inside, statuses",
    [
        (OF_ALL, ELSEWHERE, ["exact"]),
        (OF_DATA, ELSEWHERE, ["exact"]),
        (OF_ALL, SHARED, ["exact", "invariant"]),
        (OF_DATA, SHARED, ["exact", "invariant"]),
        (OF_LANES, ELSEWHERE, ["exact"]),
    ],
)
def test_undecided_branch_in_a_loop_is_skipped_in_every_trip(condition, inside, statuses, trips):
    text = UNDECIDED_INSIDE.replace("CONDITION", condition).replace("INSIDE", inside)
    launch = ptxaudit.Launch("k", grid=2, block=64, params=[None, None, trips])
    sites = ptxaudit.audit(text, launches=[launch], cache=False, budget=2.0).sites
    assert sorted(str(s.status) for s in sites) == statuses
    for site in sites:
        assert "budget" not in (site.reason or "")
        assert str(site.status) != "exact" or (site.requests, site.wavefronts) == (4 * trips, 8 * trips)
