"""A loop that no lane leaves ends the execution at once, with the reason; earlier counts are kept."""

from __future__ import annotations

import pytest
from machine_code import from_ptx

import ptxaudit
from ptxaudit.engine.exec.endless import left_at_once_or_never
from ptxaudit.frontend.ptx import parse
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.ir.graph import build

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PTX = """
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    mov.u32 %r7, 0;
    setp.ge.u32 %p1, %r1, %r5;
    @%p1 bra fine;
spin:
    ld.volatile.shared.u32 %r6, [%r3+4];
    IN_THE_LOOP
    @%p2 bra spin;
fine:
    ld.volatile.shared.u32 %r8, [%r3+8];
    add.u32 %r8, %r8, %r6;
    st.global.u32 [%rd1], %r8;
    ret;
}
"""
FOR_EVER = "setp.lt.u32 %p2, %r1, %r5;"
TWENTY = "add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 20;"
STAYS_FOR_TWENTY = "setp.lt.u32 %p2, %r7, 19; @%p2 bra more; more: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 20;"


def sites(inside: str, isa: str, lanes: int):
    text = PTX.replace("IN_THE_LOOP", inside)
    launch = ptxaudit.Launch("k", grid=2, block=64, params=[None, lanes])
    report = ptxaudit.audit(HEAD + text if isa == "ptx" else from_ptx(text), isa=isa, launches=[launch], cache=False)
    return sorted(report.sites, key=lambda s: (s.access != "store", s.ptx_line or s.offset))


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("lanes", [1, 40, 1000])
def test_loop_without_exit_leaves_later_sites_unreached(isa, lanes):
    before, *others = sites(FOR_EVER, isa, lanes)
    assert (str(before.status), before.requests, before.wavefronts) == ("exact", 4, 8)
    for site in others:
        assert str(site.status) != "exact"
        assert str(site.status) == "unreached" or "does not end in this launch" in site.reason
    assert any(str(site.status) != "unreached" for site in others)
    assert (lanes == 1000) is any(str(site.status) == "unreached" for site in others)


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("inside", [TWENTY, STAYS_FOR_TWENTY])
@pytest.mark.parametrize("lanes, warps", [(0, 0), (1, 1), (40, 2), (1000, 2)])
def test_loop_with_exit_is_counted(isa, inside, lanes, warps):
    found = sites(inside, isa, lanes)
    assert all(str(site.status) in ("exact", "unreached") for site in found)
    assert sum(site.active_requests for site in found) == 4 + 2 * warps * 20 + 4


WITHOUT_END = """
.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 caught)
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<5>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [out]; ld.param.u32 %r5, [n]; ld.param.u32 %r6, [caught];
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4;
    st.shared.u32 [%r3], %r1;
    setp.ne.u32 %p3, %r5, 8;
    @%p3 bra not_eight;
    st.shared.u32 [%r3+2048], %r1;
not_eight:
    setp.lt.u32 %p1, %r1, %r6;
    setp.ne.u32 %p2, %r5, 7;
    and.pred %p1, %p1, %p2;
    @%p1 bra spin;
    ld.shared.u32 %r8, [%r3+8];
    BARRIER
    ld.shared.u32 %r7, [%r3+16];
    add.u32 %r8, %r8, %r7;
    STORES
    ret;
spin:
    st.global.u32 [%rd1], %r1;
    bra spin;
}
"""


def of_loop_without_end(isa: str, n: int, caught: int, barrier: str = ""):
    stores = " ".join(f"st.global.u32 [%rd1+{4 * k}], %r8;" for k in range(24))  # too many for ptxas to predicate
    text = WITHOUT_END.replace("BARRIER", barrier).replace("STORES", stores)
    launch = ptxaudit.Launch("k", grid=1, block=64, params=[None, n, caught])
    report = ptxaudit.audit(HEAD + text if isa == "ptx" else from_ptx(text), isa=isa, launches=[launch], cache=False)
    loads = [site for site in report.sites if site.access == "load"]
    stores = [site for site in report.sites if site.access == "store"]
    return [note for note in report.kernels[0].notes if "does not end" in note], stores, loads


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_unreached_sites_name_the_endless_loop(isa):
    (note,), (before, never), loads = of_loop_without_end(isa, 3, 64, "bar.sync 0;")
    assert note.startswith("the loop at ") and "does not end in this launch" in note
    assert (str(before.status), before.requests, never.wavefronts) == ("exact", 2, 0)
    assert "loop" not in never.reason  # for any outcome
    assert loads and all(site.status == "unreached" and site.reason.endswith(note.partition(":")[0]) for site in loads)


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("caught", [1, 32, 33])
def test_lanes_outside_an_endless_loop_continue_to_the_next_barrier(isa, caught):
    """In machine code, the other lanes of the same warp wait for the caught lanes first, at a WARPSYNC."""
    _, (before, _), (first, second) = of_loop_without_end(isa, 3, caught, "bar.sync 0;")
    assert (str(before.status), before.requests) == ("exact", 2)
    if isa == "ptx" or caught == 32:
        assert (str(first.status), first.requests) == ("exact", 1 if caught >= 32 else 2)
    else:
        assert first.requests is None and "does not end in this launch" in first.reason
    assert str(second.status) != "exact" and second.requests is None and "does not end in this launch" in second.reason


@pytest.mark.parametrize("isa, caught", [("ptx", 1), ("ptx", 32), ("ptx", 33), ("sass", 32)])
def test_lanes_outside_an_endless_loop_are_counted_without_a_barrier(isa, caught):
    (note,), _, loads = of_loop_without_end(isa, 3, caught)
    assert "does not end in this launch" in note
    assert [(str(site.status), site.requests) for site in loads] == [("exact", 2 - caught // 32)] * 2


def test_predicated_barrier_waits_for_lanes_in_an_endless_loop():
    """If there is little other code, ptxas emits no branch around it: warp 1 still waits there for warp 0."""
    text = WITHOUT_END.replace("BARRIER", "bar.sync 0;").replace("STORES", "st.global.u32 [%rd1], %r8;")
    launch = ptxaudit.Launch("k", grid=1, block=64, params=[None, 3, 33])
    report = ptxaudit.audit(from_ptx(text), launches=[launch], cache=False)
    before, _, first, second = sorted(report.sites, key=lambda site: (site.access == "load", site.offset))
    assert first.text.startswith("@") and (before.requests, first.requests, second.requests) == (2, 2, None)


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("n, caught", [(7, 64), (3, 0)])
def test_endless_loop_that_no_lane_enters_has_no_note(isa, n, caught):
    notes, _, loads = of_loop_without_end(isa, n, caught, "bar.sync 0;")
    assert not notes and all((str(site.status), site.requests) == ("exact", 2) for site in loads)


UNTIL_SEVEN = """
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<5>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4;
    st.shared.u32 [%r3], %r1;
    setp.ge.u32 %p2, %r1, 40;
    ENTRY
again:
    st.global.u32 [%rd1], %r1;
    add.u32 %r6, %r5, 1;
    setp.ne.u32 %p1, %r6, 8;
    @%p1 bra again;
past:
    bar.sync 0;
    ld.shared.u32 %r8, [%r3];
    st.global.u32 [%rd1], %r8;
    ret;
}
"""


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("entry", ["", "@%p2 bra past;"])
@pytest.mark.parametrize("n", [7, 3])
def test_endless_loop_outside_the_slice_is_noted(n, entry, isa):
    """Its termination is checked nevertheless: n = 3 is never 7."""
    text = UNTIL_SEVEN.replace("ENTRY", entry)
    launch = ptxaudit.Launch("k", grid=2, block=64, params=[None, n])
    report = ptxaudit.audit(HEAD + text if isa == "ptx" else from_ptx(text), isa=isa, launches=[launch], cache=False)
    store, load = sorted(report.sites, key=lambda s: s.access != "store")
    assert (str(store.status), store.requests, store.wavefronts) == ("exact", 4, 8)
    said = [note for note in report.kernels[0].notes if "does not end in this launch" in note]
    if n == 7:
        assert not said and (str(load.status), load.requests, load.wavefronts) == ("exact", 4, 8)
    else:
        assert said and str(load.status) != "exact"


@pytest.mark.parametrize(
    "inside, asked",
    [
        ("mov.u32 %r7, 3;", True),
        ("add.u32 %r7, %r7, 1;", False),
        ("ld.global.u32 %r7, [%rd1];", False),
        ("@%p2 mov.u32 %r7, 3;", False),
        ("mov.u32 %r7, %clock;", True),
    ],
)
def test_loops_that_change_their_exit_condition_are_not_checked(inside, asked):
    text = UNTIL_SEVEN.replace("ENTRY", "mov.u32 %r7, 0;")
    text = text.replace("add.u32 %r6, %r5, 1;", f"{inside} add.u32 %r6, %r5, %r7;")
    (function,) = lift_module(parse.parse_module(HEAD + text)).functions.values()
    assert bool(left_at_once_or_never(build(function), frozenset())) is asked


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_loop_on_the_clock_may_end(isa):
    text = UNTIL_SEVEN.replace("ENTRY", "").replace("add.u32 %r6, %r5, 1;", "mov.u32 %r6, %clock;")
    launch = ptxaudit.Launch("k", grid=2, block=64, params=[None, 3])
    report = ptxaudit.audit(HEAD + text if isa == "ptx" else from_ptx(text), isa=isa, launches=[launch], cache=False)
    assert not any("does not end in this launch" in note for note in report.kernels[0].notes)
