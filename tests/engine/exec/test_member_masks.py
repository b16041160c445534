"""Votes, matches, reductions and elections of lanes that name different member masks.

Each group of lanes has its own result.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from machine_code import PROLOGUE

import ptxaudit
from ptxaudit.engine.domain.lanes import pack
from ptxaudit.engine.domain.value import Uniform, Value, constant, known, opaque, unknown
from ptxaudit.engine.exec.members import members, several
from ptxaudit.engine.exec.warp_step import gathers
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir.nodes import Control
from ptxaudit.ir.reasons import Kind, Reason

LANES = range(32)
ALL = np.ones((1, 32), bool)
TILES = {"halves": 0xFFFF, "eights": 0xFF, "pairs": 0x3, "whole": 0xFFFFFFFF}

KERNEL = """.visible .entry k(.param .u64 out, .param .u32 n)
{{ .reg .b64 %o; .reg .b32 %x, %m, %v, %r, %a, %n, %w<6>; .reg .pred %p, %q; .shared .align 16 .b8 s[8192];
 ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; mov.u32 %x, %laneid; and.b32 %w1, %x, {first}; shl.b32 %m, {mask}, %w1;
 mad.lo.u32 %v, %x, 5, 3; and.b32 %v, %v, {values}; and.b32 %w2, %v, 1; setp.ne.u32 %p, %w2, 0;
 {operation}
 mad.lo.u32 %a, %r, 128, %x; and.b32 %a, %a, 2044; mov.u32 %w3, s; add.u32 %a, %a, %w3; ld.shared.u32 %w4, [%a]; st.global.u32 [%o], %w4; ret; }}
"""


def value(lane: int, values: int) -> int:
    return (5 * lane + 3) & values


def group(lane: int, mask: int) -> list[int]:
    size = mask.bit_count()
    return [other for other in LANES if other // size == lane // size]


def signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


Meaning = Callable[[list[int], Callable[[int], int], int], int]
OPERATIONS: dict[str, tuple[str, Meaning]] = {
    "ballot": ("vote.sync.ballot.b32 %r, %p, %m;", lambda g, v, lane: sum(1 << o for o in g if v(o) & 1)),
    "any": (
        "vote.sync.any.pred %q, %p, %m; selp.u32 %r, 7, 2, %q;",
        lambda g, v, lane: 7 if any(v(o) & 1 for o in g) else 2,
    ),
    "all": (
        "vote.sync.all.pred %q, %p, %m; selp.u32 %r, 7, 2, %q;",
        lambda g, v, lane: 7 if all(v(o) & 1 for o in g) else 2,
    ),
    "uni": (
        "vote.sync.uni.pred %q, %p, %m; selp.u32 %r, 7, 2, %q;",
        lambda g, v, lane: 7 if len({v(o) & 1 for o in g}) == 1 else 2,
    ),
    "match any": ("match.any.sync.b32 %r, %v, %m;", lambda g, v, lane: sum(1 << o for o in g if v(o) == v(lane))),
    "match all": (
        "match.all.sync.b32 %r|%q, %v, %m; @!%q mov.u32 %r, 5;",
        lambda g, v, lane: sum(1 << o for o in g) if len({v(o) for o in g}) == 1 else 5,
    ),
    "add": ("redux.sync.add.u32 %r, %v, %m;", lambda g, v, lane: sum(map(v, g))),
    "max": ("redux.sync.max.u32 %r, %v, %m;", lambda g, v, lane: max(map(v, g))),
    "least": ("not.b32 %v, %v; redux.sync.min.s32 %r, %v, %m;", lambda g, v, lane: min(-1 - v(o) for o in g)),
    "or": ("redux.sync.or.b32 %r, %v, %m;", lambda g, v, lane: int(np.bitwise_or.reduce([v(o) for o in g]))),
    "elect": ("elect.sync %r|%q, %m; @%q add.u32 %r, %r, 3;", lambda g, v, lane: g[0] + 3 * (lane == g[0])),
}


def site(operation: str, mask: int, values: int, params: list) -> ptxaudit.report.model.Site:
    size = mask.bit_count()
    body = KERNEL.format(first=32 - size, mask=mask, values=values, operation=operation)
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,), params=params)
    (found,) = ptxaudit.audit(PROLOGUE.format(arch="sm_90") + body, isa="ptx", arch="sm_90", launches=[launch]).sites
    return found


def cost(results: list[int]) -> int:
    return ptxaudit.score_request(
        "ld.shared.u32", [(128 * r + lane) & 2044 for lane, r in enumerate(results)], arch="sm_90"
    ).wavefronts


@pytest.mark.parametrize("values", (0x3F, 0x8, 0))
@pytest.mark.parametrize("mask", TILES.values(), ids=TILES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_collective_result_of_each_member_group(name: str, mask: int, values: int) -> None:
    text, meaning = OPERATIONS[name]
    results = [meaning(group(lane, mask), lambda o: value(o, values), lane) for lane in LANES]
    found = site(text, mask, values, [None, None])
    assert (found.status, found.requests, found.wavefronts) == ("exact", 1, cost(results)), (found, results)


UNKNOWN = {
    "vote": "setp.eq.u32 %p, %w5, 0; vote.sync.any.pred %q, %p, %m; selp.u32 %r, %x, 0, %q;",
    "ballot": "setp.eq.u32 %p, %w5, 0; vote.sync.ballot.b32 %r, %p, %m; and.b32 %r, %r, 1; mul.lo.u32 %r, %r, %x;",
    "redux": "redux.sync.and.b32 %r, %w5, %m; and.b32 %r, %r, 1; mul.lo.u32 %r, %r, %x;",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_collective_result_is_one_value_per_group(name: str) -> None:
    """The index is 128 · lane in some tiles and 0 in others: 1 to 32 wavefronts, depending on the loaded data."""
    text = "shl.b32 %w5, %x, 2; cvt.u64.u32 %o, %w5; ld.global.u32 %w5, [%o];" + UNKNOWN[name]
    whole, tiles = (site(text, mask, 0x3F, [None, None]) for mask in (TILES["whole"], TILES["eights"]))
    for found in (whole, tiles):
        assert found.wavefronts is None and found.status == "data-dependent", found
    low, high = tiles.per_request.low, tiles.per_request.high
    mixed = [
        cost([lane if lane // 8 in chosen else 0 for lane in LANES])
        for chosen in ((), (0,), (0, 2), (0, 1, 2), (0, 1, 2, 3))
    ]
    assert low <= min(mixed) and max(mixed) <= high, tiles


def test_unknown_member_mask_forms_no_group() -> None:
    """match gives each group of lanes with equal data its own mask."""
    text = (
        "shl.b32 %w5, %x, 2; cvt.u64.u32 %o, %w5; ld.global.u32 %w5, [%o]; match.any.sync.b32 %m, %w5, 0xffffffff; "
        "vote.sync.ballot.b32 %r, %p, %m;"
    )
    assert site(text, 0xFFFF, 0x3F, [None, None]).wavefronts is None


def test_shuffle_from_another_group_is_unknown() -> None:
    within = site("shfl.sync.bfly.b32 %r, %v, 7, 0x1f, %m;", 0xFF, 0x3F, [None, None])
    assert (within.status, within.wavefronts) == ("exact", cost([value(lane ^ 7, 0x3F) for lane in LANES]))
    assert site("shfl.sync.bfly.b32 %r, %v, 8, 0x1f, %m;", 0xFF, 0x3F, [None, None]).wavefronts is None


def test_member_groups_of_known_masks() -> None:
    tile = known(np.array([[0xFF << (lane & 24) for lane in LANES]], np.uint32))
    active = ALL.copy()
    active[0, 3] = False
    groups = members(tile, active)
    assert groups is not None and several(groups)
    assert pack(groups)[0].tolist() == [(0xFF << (lane & 24)) & ~8 for lane in LANES]
    assert pack(members(constant(0xF0, 32), ALL)).tolist() == [[0xF0]]
    assert pack(members(None, active)).tolist() == [[0xFFFFFFF7]]
    outside = known(np.where(active, np.uint32(0xFF), np.uint32(1)))  # values in idle lanes do not affect the others
    assert pack(members(outside, active)).tolist() == [[0xF7]]


def test_member_groups_of_unknown_masks() -> None:
    n = Uniform("n", 32, key="n")
    assert pack(members(unknown(n), ALL)).tolist() == [[0xFFFFFFFF]]  # uniform, whatever its value
    per_lane = Value(np.zeros((1, 1), np.uint32), ((n, np.arange(32, dtype=np.uint32)[None]),))
    assert members(per_lane, ALL) is None
    assert members(opaque(32, Reason(Kind.LOADED)), ALL) is None


ASKED = {  # conditions that fail where a lane has exited
    "active mask": "activemask.b32 %r; setp.eq.u32 %p, %r, 0xffffffff;",
    "ballot": "vote.sync.ballot.b32 %r, 1, 0xffffffff; setp.eq.u32 %p, %r, 0xffffffff;",
    "election": "elect.sync %r|%p, 0xffffffff; setp.eq.u32 %p, %r, 0;",
    "reduction": "redux.sync.add.u32 %r, 1, 0xffffffff; setp.eq.u32 %p, %r, 32;",
    "match": "match.any.sync.b32 %r, 5, 0xffffffff; setp.eq.u32 %p, %r, 0xffffffff;",
}
SOME_END = """.visible .entry k(.param .u64 data)
{{ .reg .b64 %d; .reg .b32 %x, %a, %v, %r; .reg .pred %p; .shared .align 16 .b8 s[8192];
 ld.param.u64 %d, [data]; mov.u32 %x, %tid.x; mad.wide.u32 %d, %x, 4, %d; ld.global.u32 %v, [%d];
 mov.u32 %a, s; mad.lo.u32 %a, %x, 4, %a; setp.eq.u32 %p, %v, 0; {ends}
 {asked} @%p bra $L; bar.warp.sync 0xffffffff; ld.volatile.shared.u32 %r, [%a]; st.global.u32 [%d], %r; $L: ret; }}
"""


@pytest.mark.parametrize("asked", ASKED)
def test_collective_of_lanes_that_may_have_exited_is_unknown(tmp_path, asked):
    """Unknown data decide which lanes exit, so the operations of the other lanes have unknown results."""
    path = tmp_path / "k.ptx"
    path.write_text(PROLOGUE.format(arch="sm_90") + SOME_END.format(ends="@%p exit;", asked=ASKED[asked]))
    sites = ptxaudit.audit(path, isa="both", launches=[ptxaudit.Launch("k", grid=1, block=32)]).sites
    assert [(str(site.status), site.requests) for site in sites] == [("invariant", None)] * 2


@pytest.mark.parametrize("asked", ASKED)
def test_collective_of_lanes_that_cannot_have_exited_is_known(tmp_path, asked):
    path = tmp_path / "k.ptx"
    path.write_text(PROLOGUE.format(arch="sm_90") + SOME_END.format(ends="", asked=ASKED[asked]))
    (site,) = ptxaudit.audit(path, launches=[ptxaudit.Launch("k", grid=1, block=32)]).sites
    assert str(site.status) == "unreached"


GUARDED = """.visible .entry k(.param .u32 n)
{{ .reg .b32 %x, %m, %r, %a, %n, %w; .reg .pred %p, %q; .shared .align 16 .b8 s[8192];
 ld.param.u32 %n, [n]; mov.u32 %x, %laneid; and.b32 %w, %x, 24; shl.b32 %m, 255, %w; setp.ne.u32 %q, %n, 0;
 setp.lt.u32 %p, %x, 64; vote.sync.ballot.b32 %r, %p, %m; {gather}
 mov.u32 %a, s; mad.lo.u32 %a, %x, 4, %a; st.shared.u32 [%a], %r; ret; }}
"""


ALIGNED = ("bar.sync 0;", "barrier.sync.aligned 0;")
# To these, ptxas lets diverged groups come by a WARPSYNC.COLLECTIVE, and they go on diverged.
NOT_ALIGNED = ("bar.warp.sync -1;", "barrier.sync 0;", "barrier.cluster.arrive;")


@pytest.mark.parametrize("barrier", (*ALIGNED, *NOT_ALIGNED))
def test_only_aligned_unguarded_barriers_reconverge_the_groups(barrier):
    """The guard is false in this launch, so the groups of eight lanes may store separately."""

    def assumed(gather: str) -> bool:
        launch = ptxaudit.Launch("k", grid=1, block=32, params=[0])
        text = PROLOGUE.format(arch="sm_90") + GUARDED.format(gather=gather)
        (kernel,) = ptxaudit.audit(text, isa="ptx", launches=[launch]).kernels
        return any("member mask" in sentence for sentence in kernel.assumed)

    assert assumed("@%q " + barrier)
    assert assumed(barrier) == (barrier in NOT_ALIGNED)
    assert assumed("")


@pytest.mark.parametrize("barrier", (*ALIGNED, *NOT_ALIGNED))
def test_inference_does_not_reconverge_lanes_at_a_guarded_barrier(barrier):
    def control(gather: str) -> Control:
        text = PROLOGUE.format(arch="sm_90") + GUARDED.format(gather=gather)
        instructions = lift_module(parse_module(text)).functions["k"].instructions
        (found,) = (i.control for i in instructions if i.control is not None and i.control.kind != "ret")
        return found

    assert gathers(control(barrier), explicit=False) == (barrier in ALIGNED)
    assert not gathers(control("@%q " + barrier), explicit=False)
