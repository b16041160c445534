"""Loops that some lanes run while others of their block wait: in closed form, too, and what they cost is counted."""

from __future__ import annotations

import numpy as np
import pytest
from convergence_programs import MORE, T, _Kernel
from machine_code import STATED, from_cuda
from test_sass_cases import instructions

import ptxaudit
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
    """(statuses, requests, wavefronts) of the stores of the loop, of all blocks."""
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
def test_each_trip_is_counted(who, stride, warps, ways, trips):
    statuses, requests, wavefronts = figures(who, stride, trips)
    assert statuses == ["exact"]
    assert (requests, wavefronts) == (2 * warps * trips, 2 * warps * trips * ways)


def test_what_was_known_in_no_trip_may_stay_so():
    """The carry of an address that is not specified: it ends no attempt unless trips before knew it."""
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
def test_a_register_of_the_warp_is_changed_for_the_lanes_that_wait_too(trips):
    """One lane adds four to UR4 so many times: behind the loop UR4 is the same for all, and no two are on one bank."""
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
