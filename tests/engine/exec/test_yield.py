"""Requests after a YIELD of some lanes: lanes that wait for them may continue without them, so that no request
certainly has all lanes.
"""

import pytest
from convergence_programs import MORE, T, _Kernel
from machine_code import STATED
from sass_text import function_of

import ptxaudit
from ptxaudit.engine.answer.result import Status
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir

LANE, LEFT, MASK, COUNT, ADDRESS = (ir.Reg(f"R{n}", 32) for n in (0, 9, 10, 11, 4))
B0 = ir.Reg("B0", 32)


def claim(*behind: str, trips=(LANE, ir.Const(1)), stride=128, counted=False):
    """The claims about a store after a loop with a YIELD that each lane runs (a & b) + 1 times; trips: a, b.

    behind: the instructions before the store. counted: the address, in words, is the number of active lanes times the
    lane's number.
    """
    k = _Kernel()
    k.put("S2R R0, SR_TID.X", ir.Op("mov", (LANE,), (ir.Special("tid.x"),)))
    k.put("LOP3", ir.Op("and", (LEFT,), trips), ir.Op("add", (LEFT,), (LEFT, ir.Const(1))))
    k.put("IMAD R4, R0, stride, RZ", ir.Op("mul", (ADDRESS,), (LANE, ir.Const(stride))))
    k.put("BSSY B0", control=ir.Control("open", (7,), None, B0))
    k.put("YIELD", control=ir.Control("yield"))
    k.put(
        "IADD3 R9, R9, -0x1, RZ",
        ir.Op("add", (LEFT,), (LEFT, ir.Const(0xFFFFFFFF))),
        ir.Op("setp.ne", (MORE,), (LEFT, ir.Const(0)), 32),
    )
    k.put("@P1 BRA", control=ir.Control("branch", (4,), ir.Guard(MORE)))
    k.put("BSYNC B0", control=ir.Control("sync", (), None, B0))
    for text in behind:
        k.put(text, control=ir.Control("warpsync"))
    if counted:
        k.put("VOTE.ANY R10, PT, PT", ir.Op("vote.ballot", (MASK,), (ir.Const(1, 1),)))
        k.put(
            "POPC R11, R10",
            ir.Op("popc", (COUNT,), (MASK,)),
            ir.Op("mul", (T,), (COUNT, LANE)),
            ir.Op("shl", (ADDRESS,), (T, ir.Const(2))),
        )
    store = len(k.out)
    k.put(
        "STS [R4], RZ",
        ir.Op("store", (), (ADDRESS, ir.Const(0)), 32, space="shared"),
        site=with_access(ir.Site("STS", ADDRESS), ()),
    )
    k.put("EXIT", control=ir.Control("exit"))
    function = ir.Function("program", "sass", "sm_90", tuple(k.out), shared_static=8192, **STATED)
    result = evaluate(
        function,
        graph.build(function),
        launch=Launch("program", grid=(1,), block=(32,), param_bytes=b""),
        machine=machines.get("sm_90"),
    )
    return next(site for site in result.sites if site.index == store)


def test_request_after_yield_costs_between_one_and_all_lanes():
    site = claim()
    assert site.status is not Status.EXACT
    assert site.per_request == (1, 32)


def test_counted_request_after_yield_is_not_exact():
    site = claim(counted=True)
    assert site.status is not Status.EXACT
    assert site.per_request is None or site.per_request[0] <= 1


@pytest.mark.parametrize("counted", [False, True])
def test_warpsync_all_after_yield_makes_the_request_exact(counted):
    site = claim("WARPSYNC.ALL", counted=counted)
    assert (site.status, site.requests, site.wavefronts) == (Status.EXACT, 1, 32)


def test_uniform_yield_keeps_lanes_converged():
    site = claim(trips=(ir.Const(1), ir.Const(1)))
    assert (site.status, site.requests, site.wavefronts) == (Status.EXACT, 1, 32)


def test_conflict_free_store_after_yield_takes_one_wavefront():
    assert claim(stride=4).per_request == (1, 1)


SLEEPING = """
extern "C" __global__ void k(unsigned* out) {{
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, v = 0;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    if ({condition}) {{ v = s[t * 2]; __nanosleep(t); s[t * 3] = v; }} else {{ s[t * 4] = 1; v = s[t + 1]; }}
    v += s[t * 5];
    __syncthreads();
    out[t] = v + s[t * 6];
}}
"""


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("condition, known", [("t & 1", False), ("t < 32", True)])
def test_nanosleep_of_some_lanes_diverges_requests_after_bsync(tmp_path, isa, condition, known):
    """Measured (bench/adversary/kernels, 9008 and 9041): other lanes do not wait for them at the following BSYNC, but
    at a WARPSYNC.ALL and at a barrier of the block.
    """
    path = tmp_path / "k.cu"
    path.write_text(SLEEPING.format(condition=condition))
    report = ptxaudit.audit(path, arch="sm_90", isa=isa, launches=[ptxaudit.Launch("k", grid=1, block=64)])
    assert all(site.requests is not None for site in report.sites) == known
    assert (report.sites[-1].status, report.sites[-1].requests) == ("exact", 2)


SLEEPING_PERHAPS = """
extern "C" __global__ void k(unsigned* out, unsigned n) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    if (t & 1) for (unsigned i = 0; i < n; i++) __nanosleep(t);
    unsigned v = s[t * 5];
    __syncthreads();
    out[t] = v + s[t * 6];
}
"""


@pytest.mark.parametrize("trips", [3, None])
def test_nanosleep_in_a_branch_outside_the_slice_diverges_lanes(tmp_path, trips):
    """A branch that decides no address is not executed, but lanes may still yield in it."""
    path = tmp_path / "k.cu"
    path.write_text(SLEEPING_PERHAPS)
    launch = ptxaudit.Launch("k", grid=1, block=64, params=[None, trips])
    *_, behind, last = ptxaudit.audit(path, arch="sm_90", isa="ptx", launches=[launch]).sites
    assert behind.requests is None
    assert (last.status, last.requests) == ("exact", 2)


YIELDING_PERHAPS = """
S2R R0, SR_TID.X
LOP3.LUT R1, R0, LANES, !PT
ISETP.NE.AND P1, PT, R1, RZ, PT
IMAD.SHL.U32 R8, R0, 0x80, RZ
MOV R9, c[0x0][0x210]
BSSY B0, 0xb0
@!P1 BRA 0xa0
ISETP.EQ.AND P0, PT, R9, RZ, PT
@P0 BRA 0xa0
YIELD
BSYNC B0
STS [R8], RZ
EXIT
"""


@pytest.mark.parametrize("lanes, requests", [("0x1, RZ, 0xc0", None), ("0x1f, RZ, 0xc0", None), ("0x1, RZ, 0xfc", 1)])
def test_yield_after_an_undecided_branch_diverges_lanes(lanes, requests):
    """Measured (seed 710070 of bench/adversary/random_ptx): lanes that wait at BSYNC continue before the arrival of
    lanes that yield after a branch on a parameter: two requests per warp. If no lane waits there is one.
    """
    function = function_of(YIELDING_PERHAPS.replace("LANES", lanes))
    launch = ptxaudit.Launch("k", grid=1, block=32)
    (store,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert store.requests == requests


IN_TRIPS = """
S2R R0, SR_TID.X
LOP3.LUT R9, R0, LANES, RZ, 0xc0, !PT
IMAD.SHL.U32 R8, R0, 0x4, RZ
IADD3 R10, R9, 0x3, RZ
BSSY B0, 0x90
YIELD
IADD3 R9, R9, -0x1, RZ
ISETP.GE.AND P0, PT, R9, RZ, PT
@P0 BRA 0x50
BSYNC B0
BSSY B1, 0x110
GIVES_WAY
STS [R8], RZ
IADD3 R8, R8, 0x20, RZ
IADD3 R10, R10, -0x1, RZ
ISETP.GE.AND P0, PT, R10, RZ, PT
@P0 BRA 0xb0
BSYNC B1
EXIT
"""


@pytest.mark.parametrize("told", [True, False], ids=["launch", "no launch"])
@pytest.mark.parametrize(
    "lanes, gives_way, together", [("0x7", True, False), ("0x7", False, False), ("0x0", True, True)]
)
def test_groups_of_lanes_in_different_trips_of_a_yielding_loop(lanes, gives_way, together, told):
    """Lane l stores to bank l + 8·t in trip t, one wavefront if all are in the same trip; lanes reach the loop in
    groups, as those that left the previous loop continue when the others yield. (If none yields in this loop, its
    barrier is set again while lanes are in it, after which it is not known which lanes continue together.)
    """
    text = IN_TRIPS.replace("LANES", lanes).replace("GIVES_WAY", "YIELD" if gives_way else "NOP")
    function = function_of(text, block=(32, 1, 1))
    launch = ptxaudit.Launch("k", grid=1, block=32) if told else None
    (store,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert (store.per_request == (1, 1)) == together


SLEEPING_IN_TRIPS = """
extern "C" __global__ void __launch_bounds__(32) k(unsigned* out, unsigned n, unsigned m) {
    __shared__ volatile unsigned s[1024];
    unsigned t = threadIdx.x;
    if (t & 1) __nanosleep(t);
#pragma unroll 1
    for (unsigned i = 0; i < n; i++) {
        s[t + 8 * i] = i;
        if (i & m) SLEEP;
    }
    out[t] = n;
}
"""


@pytest.mark.parametrize("sleep, together", [("__nanosleep(t)", False), ("__threadfence()", True)])
def test_nanosleep_that_decides_no_address_separates_trips(tmp_path, sleep, together):
    """Neither branch around a sleep decides an address: lanes diverge at the first, and reach different trips of the
    loop if they sleep in it. Lane l stores to bank l + 8·i.
    """
    path = tmp_path / "k.cu"
    path.write_text(SLEEPING_IN_TRIPS.replace("SLEEP", sleep))
    launch = ptxaudit.Launch("k", grid=1, block=32, params=[None, None, None])
    (store,) = ptxaudit.audit(path, arch="sm_90", isa="ptx", launches=[launch]).sites
    assert (store.per_request is not None and store.per_request.high == 1) == together


def behind_a_collective(inner: str, gives_way: bool = True):
    """Requests of a store after BSSY B0; WARPSYNC.COLLECTIVE; BSYNC B0. All lanes come from a BSYNC, at which those
    that have not yielded wait, between BSSY and BSYNC of the inner barrier. None where they are not counted.
    """
    k = _Kernel()
    outer, own = ir.Reg("B6", 32), ir.Reg(inner, 32)
    k.put(
        "S2R R0, SR_TID.X",
        ir.Op("mov", (LANE,), (ir.Special("tid.x"),)),
        ir.Op("and", (T,), (LANE, ir.Const(1))),
        ir.Op("setp.ne", (MORE,), (T, ir.Const(0)), 32),
        ir.Op("shl", (ADDRESS,), (LANE, ir.Const(2))),
    )
    k.put("BSSY B6", control=ir.Control("open", (6,), None, outer))
    k.put("@!P1 BRA", control=ir.Control("branch", (6,), ir.Guard(MORE, True)))
    k.put("BSSY", control=ir.Control("open", (5,), None, own))
    k.put("YIELD", control=ir.Control("yield") if gives_way else None)
    k.put("BSYNC", control=ir.Control("sync", (), None, own))
    k.put("BSYNC B6", control=ir.Control("sync", (), None, outer))
    k.put("BSSY B0", control=ir.Control("open", (10,), None, B0))
    k.put("WARPSYNC.COLLECTIVE", control=ir.Control("warpsync", (10,)))
    k.put("ENDCOLLECTIVE")
    k.put("BSYNC B0", control=ir.Control("sync", (), None, B0))
    k.put(
        "STS [R4], RZ",
        ir.Op("store", (), (ADDRESS, ir.Const(0)), 32, space="shared"),
        site=with_access(ir.Site("STS", ADDRESS), ()),
    )
    k.put("EXIT", control=ir.Control("exit"))
    function = ir.Function("program", "sass", "sm_90", tuple(k.out), shared_static=8192, **STATED)
    launch = Launch("program", grid=(1,), block=(32,), param_bytes=b"")
    (site,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    return site.requests


def test_barriers_set_again_after_a_collective_leave_requests_unknown():
    """Measured (bench/adversary/kernels/9023 at -G): two requests, if lanes that yielded reach a BSYNC of the barrier
    that the lanes which continued without them have set meanwhile; and if each group sets it separately, at one later
    BSSY (seed 6045 at -G).
    """
    assert behind_a_collective("B0") is None
    assert behind_a_collective("B1") is None


def test_collective_without_yield_keeps_lanes_converged():
    assert behind_a_collective("B1", gives_way=False) == 1


ENDS_PERHAPS = """
S2R R0, SR_TID.X
MOV R9, c[0x0][0x210]
IMAD.SHL.U32 R8, R0, 0x80, RZ
ISETP.GE.U32.AND P1, PT, R0, 0x8, PT
ISETP.EQ.AND P0, PT, R9, RZ, PT
@P1 BRA 0xb0
MOV R10, 0x3
@P0 EXIT
IADD3 R10, R10, -0x1, RZ
ISETP.NE.AND P2, PT, R10, RZ, PT
@P2 BRA 0x70
STS [R8], RZ
EXIT
"""


def test_suspended_lanes_resume_when_other_lanes_exit_under_an_unknown_guard():
    """The analysis gives up eight lanes at an EXIT guarded by a parameter, in a loop; the others still execute the
    store. By cases of the parameter, one request has 24 lanes, and where the eight do not exit, another has these.
    """
    function = function_of(ENDS_PERHAPS)
    launch = ptxaudit.Launch("k", grid=1, block=32)
    (store,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert store.requests is None
    assert store.per_request == (8, 24)
    assert [(case.requests, case.low) for case in store.cases] == [(1, 24), (2, 32)]


MASKS = """
S2R R0, SR_TID.X
MOV R9, MASK
IMAD.SHL.U32 R8, R0, 0x80, RZ
ISETP.GE.U32.AND P1, PT, R0, LANES, PT
@P1 BRA 0x70
MOV R9, c[0x0][0x210]
NOP
WARPSYNC R9
STS [R8], RZ
EXIT
"""


@pytest.mark.parametrize(
    "lanes, mask, requests",
    [("0x8", "c[0x0][0x210]", None), ("0x80", "c[0x0][0x210]", 1), ("0x80", "0xffffffff", 1), ("0x0", "0xffffffff", 1)],
)
def test_unknown_member_mask_may_release_any_lanes(lanes, mask, requests):
    """Measured (seed 742662 of bench/adversary/random_ptx): an unknown mask was taken for an empty one, so that
    diverged lanes continued one by one. A mask that is known in the active lanes is known, whatever other lanes hold.
    """
    function = function_of(MASKS.replace("LANES", lanes).replace("MASK", mask))
    launch = ptxaudit.Launch("k", grid=1, block=32)
    (store,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert store.requests == requests


SPINNING = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R8, R0, 0x80, RZ
MOV R10, c[0x0][0x210]
ISETP.NE.AND P1, PT, R0, RZ, PT
MOV R9, c[0x0][0x214]
ISETP.EQ.AND P2, PT, R9, RZ, PT
STS [R8], RZ
@P2 BRA 0xe0
@P1 BRA 0xd0
LDG.E R3, desc[UR6][R4.64]
NANOSLEEP 0x28
ISETP.NE.AND P0, PT, R3, RZ, PT
@P0 BRA 0x90
SYNC
IADD3 R10, R10, -0x1, RZ
ISETP.NE.AND P3, PT, R10, RZ, PT
@P3 BRA 0x60
EXIT
"""


@pytest.mark.parametrize("sync, low", [("WARPSYNC.ALL", 32), ("NOP", 1)])
def test_lanes_are_together_in_a_loop_in_which_all_wait_for_one_that_sleeps(sync, low):
    """A parameter decides whether a thread spins on a lock, and how often."""
    function = function_of(SPINNING.replace("SYNC", sync))
    launch = ptxaudit.Launch("k", grid=1, block=32)
    (store,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert store.per_request == (low, 32)


TRIPS_UNKNOWN = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R8, R0, 0x80, RZ
ISETP.GE.U32.AND P1, PT, R0, 0x8, PT
BSSY B0, 0xc0
VOTE.ANY R9, PT, PT
BSSY B1, 0x90
@P1 BRA 0x80
WARPSYNC NAMED
BSYNC B1
LDG.E R7, desc[UR4][R8.64]
ISETP.NE.AND P0, PT, R7, RZ, PT
@P0 BRA 0x40
BSYNC B0
STS [R8], RZ
EXIT
"""


@pytest.mark.parametrize(
    "named, before, requests",
    [
        ("R9", "VOTE.ANY R9, PT, PT", None),  # of all lanes that were active before the branch
        ("R9", "NOP", 1),
        ("0xff", "VOTE.ANY R9, PT, PT", 1),
    ],
)
def test_lanes_waiting_at_a_warpsync_let_others_continue(named, before, requests):
    """Measured (bench/languages/kernels/9536 at -O0): where eight lanes of a loop wait for all that were active before a
    branch, the others go on without them, at the barrier behind the branch and at that behind the loop.

    The loop's trips are unknown. NOP: the mask is instead that of the lanes at the WARPSYNC.
    """
    text = TRIPS_UNKNOWN.replace("NAMED", named).replace("VOTE.ANY R9, PT, PT", before)
    if before == "NOP":
        text = text.replace("@P1 BRA 0x80\nWARPSYNC R9", "VOTE.ANY R9, PT, PT\nWARPSYNC R9")
    function = function_of(text)
    launch = ptxaudit.Launch("k", grid=1, block=32)
    sites = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert sites[-1].requests == requests
