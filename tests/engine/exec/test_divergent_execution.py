"""Lanes of a warp that execute one instruction at different times: what is one number at a time may be several for them.

Kernels 9501, 9505, 9506, 9531 and 9555 to 9562 of bench/adversary have these constructs, measured (docs/truth.md).
"""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import PROLOGUE, from_cuda, ptx_of

import ptxaudit
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir import graph
from ptxaudit.ir.divergence import divergence
from ptxaudit.ir.gathering import reached_apart
from ptxaudit.ir.graph import Graph

LANES = 32
SPLIT = """
__device__ __forceinline__ unsigned at(void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k(unsigned* out, const unsigned* src) {
    __shared__ unsigned s[1024]; __shared__ unsigned long long bar; __shared__ volatile unsigned word;
    unsigned l = threadIdx.x, acc = 0, x = 0;
    s[l] = l;
    if (l == 0) { word = 4; asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&bar)) : "memory"); }
    __syncthreads();
    if (src[l] & 1) { acc = s[(l * 3) & 1023]; __nanosleep(30); acc += s[(l * 5) & 1023]; }
    RESULT
    __syncthreads();
    out[l] = acc + s[(l >> 1) + (x & 1) * 32];
}
"""
TEST = '{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(x) : "r"(at(&bar))'
RESULTS = {
    "an active mask": "x = __activemask();",
    "a vote of the active": "x = __ballot_sync(__activemask(), l & 2);",
    "a reduction of the active": "x = __reduce_max_sync(__activemask(), l);",
    "a match of the active": "x = __popc(__match_any_sync(__activemask(), l & 3));",
    "a test of a barrier": (
        f'asm volatile("{TEST} : "memory"); if (l == __ffs(__activemask()) - 1) '
        'asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at(&bar)) : "memory");'
    ),
    # ptxas moves the WARPSYNC of the next barrier above the store, if there is no loop in between
    "a load": "x = word; word = x + 1; for (unsigned i = 0; i < (src[0] & 7); ++i) acc ^= src[i];",
}
DATA = (np.arange(64) * 7 ^ 3).astype(np.uint32)


def last_load(code: str | bytes, told: bool) -> ptxaudit.Site:
    params = [np.zeros(64, np.uint32), DATA] if told else None
    launch = ptxaudit.Launch("k", grid=1, block=LANES, params=params)
    (kernel,) = ptxaudit.audit(code, launches=[launch], isa="ptx" if isinstance(code, str) else "sass").kernels
    return [site for site in kernel.sites if site.access == "load" and site.opcode.split(".")[0] in ("ld", "LDS")][-1]


@pytest.mark.parametrize("told", (True, False), ids=("told", "shape"))
@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("name", RESULTS)
def test_groups_of_lanes_have_results_of_their_own(name: str, isa: str, told: bool) -> None:
    source = SPLIT.replace("RESULT", RESULTS[name])
    site = last_load(ptx_of(source) if isa == "ptx" else from_cuda(source), told)
    assert site.requests == 1 and site.per_request is not None
    assert site.per_request.high == 2, "two lanes read words 32 apart if their groups had different results"


def test_groups_that_meet_before_either_stores_load_one_number() -> None:
    code = from_cuda(SPLIT.replace("RESULT", "x = word; if (l == __ffs(__activemask()) - 1) word = x + 1;"))
    site = last_load(code, told=True)
    assert (str(site.status), site.wavefronts) == ("exact", 1)


def test_converged_lanes_have_one_result() -> None:
    site = last_load(ptx_of(SPLIT.replace("__nanosleep(30);", "").replace("RESULT", "x = __activemask();")), False)
    assert (str(site.status), site.wavefronts) == ("exact", 1)


NAP = """.visible .entry k(.param .u64 in) { .reg .b64 %d; .reg .b32 %t, %a, %v; .reg .pred %p;
.shared .align 16 .b8 s[8192]; ld.param.u64 %d, [in]; mov.u32 %t, %tid.x; mad.wide.u32 %d, %t, 4, %d;
ld.global.u32 %v, [%d]; mov.u32 %a, s; mad.lo.u32 %a, %t, 8, %a; setp.gt.u32 %p, %v, 9;
@%p bra $L; nanosleep.u32 20; $L: MEETS ld.shared.u32 %v, [%a]; st.global.u32 [%d], %v; ret; }
"""


@pytest.mark.parametrize(
    "meets, together",
    [
        ("", False),
        ("bar.warp.sync -1;", False),
        ("barrier.sync 1;", False),
        ("barrier.sync.aligned 1;", True),
        ("bar.sync 0;", True),
    ],
)
def test_only_aligned_barriers_of_ptx_gather_what_a_nap_diverged(meets: str, together: bool) -> None:
    """32 lanes at words 2 apart take 2 wavefronts, 16 of them may take 1."""
    code = PROLOGUE.format(arch="sm_90") + NAP.replace("MEETS", meets)
    (kernel,) = ptxaudit.audit(code, launches=[ptxaudit.Launch("k", grid=1, block=LANES)]).kernels
    site = kernel.sites[0]
    assert (str(site.status) == "exact") == together
    assert site.per_request is not None and (site.per_request.low == 2) == together


CHANGED = """
extern "C" __global__ void k(unsigned* out, const unsigned* src) {
    __shared__ unsigned s[1024], box[64]; __shared__ unsigned* where[2];
    unsigned l = threadIdx.x & 31, w = threadIdx.x >> 5, acc = 0;
    for (unsigned k = threadIdx.x; k < 1024; k += 64) s[k] = k;
    box[threadIdx.x] = 1;
    if (threadIdx.x == 0) { where[0] = s; where[1] = box; }
    __syncthreads();
    if (w == 0) {
        asm volatile("bar.sync 4, 64;" ::: "memory");
        unsigned a = box[l];
        where[src[1] & 1][(src[l] & 7) + 32] = a;
        acc = s[(a * 16) & 1023];
    } else {
        box[l] = (l * 2) & 31;
        asm volatile("bar.arrive 4, 64;" ::: "memory");
    }
    __syncthreads();
    out[threadIdx.x] = acc;
}
"""


def test_store_to_an_unknown_address_hides_no_store_of_another_warp() -> None:
    """Warp 0 reads what warp 1 stores before the next barrier; in between, it stores to an unknown place."""
    launch = ptxaudit.Launch("k", grid=1, block=64)
    (kernel,) = ptxaudit.audit(from_cuda(CHANGED), launches=[launch]).kernels
    site = [site for site in kernel.sites if site.opcode == "LDS"][-1]
    assert site.wavefronts is None and site.per_request is not None and site.per_request.high == LANES


POLL = """.visible .entry k(.param .u64 out, .param .u64 in) { .reg .b64 %d; .reg .b32 %t, %a, %v; .reg .pred %p;
.shared .align 16 .b8 s[8192]; ld.param.u64 %d, [in]; mov.u32 %t, %tid.x; mov.u32 %a, s;
$L: LOAD %v, [%d]; setp.ne.u32 %p, %v, 77; @%p bra $L; mad.lo.u32 %a, %t, %v, %a; and.b32 %a, %a, 4092;
ld.shared.u32 %v, [%a]; ld.param.u64 %d, [out]; st.global.u32 [%d], %v; ret; }
"""
POLLS = {
    "ld.global.u32": False,
    "ld.volatile.global.u32": True,
    "ld.relaxed.gpu.global.u32": True,
    "ld.acquire.sys.global.u32": True,
}


@pytest.mark.parametrize("load", POLLS)
def test_memory_that_others_may_write_is_unknown(load: str) -> None:
    """The buffer holds other numbers when the kernel starts: only a plain load waits for ever."""
    code = PROLOGUE.format(arch="sm_90") + POLL.replace("LOAD", load)
    launch = ptxaudit.Launch("k", grid=1, block=LANES, params=[np.zeros(64, np.uint32), DATA])
    (kernel,) = ptxaudit.audit(code, launches=[launch]).kernels
    endless = any("does not end" in note for note in kernel.notes)
    assert endless != POLLS[load]
    assert (kernel.sites[0].wavefronts is None) == POLLS[load]


def flow_of(body: str) -> Graph:
    text = PROLOGUE.format(arch="sm_90") + body
    return graph.build(lift_module(parse_module(text)).functions["k"])


@pytest.mark.parametrize("load", POLLS)
def test_loops_that_wait_for_others_may_yield(load: str) -> None:
    assert bool(flow_of(POLL.replace("LOAD", load)).yielding) == POLLS[load]


BRANCH = """.visible .entry k() { .reg .b32 %t, %v; .reg .pred %p, %q; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 9;
@%p bra $L; nanosleep.u32 20; $L: MEETS activemask.b32 %v; setp.ne.u32 %q, %v, -1; @%q bra $M; nanosleep.u32 10; $M: ret; }
"""


@pytest.mark.parametrize("meets", ("", "bar.sync 0;"))
def test_branch_on_the_active_mask_diverges_between_diverged_groups(meets: str) -> None:
    flow = flow_of(BRANCH.replace("MEETS", meets))
    branches = [i.index for i in flow.function.instructions if i.control is not None and i.control.kind == "branch"]
    assert [divergence(flow).differs(k) for k in branches] == [True, not meets]
    behind = reached_apart(flow, [branches[0]])
    assert (branches[1] in behind) == (not meets)
