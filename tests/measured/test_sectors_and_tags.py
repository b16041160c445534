"""Sectors and tag requests of global and local memory, compared with counts by Nsight Compute on an H100.

The measurements are in tests/data/memory_sm90 and atomics_sm90.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from measured_memory import Counted, Measured, load
from paths import DATA

from ptxaudit.base.status import Status
from ptxaudit.engine.answer.result import Pattern, SiteResult
from ptxaudit.hardware import machines
from ptxaudit.hardware.memory import opcodes
from ptxaudit.hardware.memory.rules import MEASURED

SETTLED = (Status.EXACT, Status.UNREACHED)
READ_FROM_L2 = "lts__t_sectors_srcunit_tex_op_read"


@pytest.fixture(scope="module")
def audited() -> list[tuple[Measured, dict[tuple[int, str], SiteResult]]]:
    return [(launch, {key: site for key, (_, site) in launch.results().items()}) for launch in load()]


def of_memory(launch: Measured, found: dict, memory: str) -> list[tuple[Counted, SiteResult]]:
    return [(one, found[one.place, memory]) for one in launch.counted if (one.place, memory) in found]


def guarded_bypass(one: Counted) -> bool:
    """A predicated copy that bypasses L1, for which the profiler has no sectors per instruction (it reports 0)."""
    return one.sass.startswith("@") and "LDGSTS" in one.sass and "BYPASS" in one.sass


def test_every_counted_access_is_a_site(audited):
    for launch, found in audited:
        assert {place for place, _ in found} >= {one.place for one in launch.counted}, launch


def test_exact_figures_equal_the_counters(audited):
    told, wrong, open_ones = Counter(), [], []
    for launch, found in audited:
        for memory in ("global", "local"):
            for one, site in of_memory(launch, found, memory):
                if site.status not in SETTLED:
                    open_ones.append((launch.entry["kernel"], site.status))
                    continue
                told[one.head, memory] += 1
                if guarded_bypass(one):
                    equal = (site.lines, site.requests) == (one.tags, one.requests)
                elif memory == "global":
                    equal = (site.wavefronts, site.ideal, site.lines, site.requests) == (
                        one.sectors,
                        one.ideal,
                        one.tags,
                        one.requests,
                    )
                else:
                    equal = (site.wavefronts, site.requests) == (one.local, one.requests)
                if not equal:
                    wrong.append((str(launch), one, site))
    assert wrong == []
    assert told == {
        ("LDG", "global"): 1278,
        ("STG", "global"): 358,
        ("REDG", "global"): 118,
        ("ATOMG", "global"): 27,
        ("LDGSTS", "global"): 125,
        ("LD", "global"): 2,
        ("ST", "global"): 2,
        ("ATOM", "global"): 2,
        ("LD", "local"): 2,
        ("ST", "local"): 2,
        ("ATOM", "local"): 2,
        ("LDL", "local"): 729,
        ("STL", "local"): 814,
    }
    assert {kernel for kernel, _ in open_ones} == {"variable"}


def test_predicated_bypassing_copies_match_the_l2_requests(audited):
    """No other instruction of their launches reads global memory."""
    seen = 0
    for launch, found in audited:
        for one, site in of_memory(launch, found, "global"):
            if guarded_bypass(one):
                seen += 1
                assert one.sectors == 0
                assert site.wavefronts == launch.entry["hardware"].get(READ_FROM_L2, 0), launch
    assert seen == 48


def test_active_lanes_match_the_counters(audited):
    for launch, found in audited:
        for one, site in of_memory(launch, found, "global"):
            generic = one.head in ("LD", "ST", "ATOM")
            if site.status is Status.EXACT and not generic and "ZFILL" not in one.sass:
                assert site.lanes == one.lanes, (launch, one)


# --- counters of the unit ---------------------------------------------------------------------

UNIT = "l1tex__t_sectors_pipe_lsu_mem_{}"
APART = "red_transposed"  # lanes of one sector are in both halves of the warp, which are not always served together
FIRST, SECOND = slice(16), slice(16, None)
PLAIN = (
    ("LDG", "global", "global_op_ld"),
    ("STG", "global", "global_op_st"),
    ("LDL", "local", "local_op_ld"),
    ("STL", "local", "local_op_st"),
)


@pytest.mark.parametrize("head, memory, counter", PLAIN)
def test_loads_and_stores_sum_to_the_unit_counter(head, memory, counter):
    seen = 0
    for launch in load():
        ours = [one for one in launch.counted if one.head == head]
        generic = any(one.head in ("LD", "ST") for one in launch.counted)
        if ours and not generic:
            seen += 1
            assert sum(one.sectors if memory == "global" else one.local for one in ours) == launch.entry[
                "hardware"
            ].get(UNIT.format(counter), 0), launch
    assert seen > 20


def turns(pattern: Pattern, lanes: slice = slice(None)) -> int:
    """Sectors moved if lanes with equal addresses take turns: turn k has the k-th lane of every address."""
    return sectors_of_turns(pattern.addresses[lanes][pattern.active[lanes]].tolist())


def sectors_of_turns(addresses: list[int]) -> int:
    count = Counter(addresses)
    return sum(
        max(n for address, n in count.items() if address // 32 == sector)
        for sector in {address // 32 for address in count}
    )


@pytest.mark.parametrize("head, counter", [("REDG", "global_op_red"), ("ATOMG", "global_op_atom")])
def test_unit_counter_has_one_sector_per_atomic_pass(audited, head, counter):
    seen = more = 0
    for launch, found in audited:
        ours = [(one, site) for one, site in of_memory(launch, found, "global") if one.head == head]
        if ours and all(sum(p.count for p in site.patterns) == site.active_requests for _, site in ours):
            seen += 1
            predicted = sum(p.count * turns(p) for _, site in ours for p in site.patterns)
            counted = launch.entry["hardware"].get(UNIT.format(counter), 0)
            if launch.entry["kernel"] == APART:
                assert (
                    predicted
                    < counted
                    < sum(p.count * (turns(p, FIRST) + turns(p, SECOND)) for _, site in ours for p in site.patterns)
                )
            else:
                assert predicted == counted, launch
            more += predicted > sum(one.sectors for one, _ in ours)
    assert seen > 20 and more > 5


FEW_LINES, MORE_SECTORS = 4, 3


def test_atomic_sectors_equal_passes_for_few_lines():
    """tests/data/atomics_sm90: one warp, one instruction, with its addresses by lane."""
    equal = Counter()
    for _, offsets, counted, _ in atomics():
        on = [offset for offset in offsets if offset >= 0]
        few = len({offset // 128 for offset in on}) <= FEW_LINES
        assert 0 <= counted - sectors_of_turns(on) <= (0 if few else MORE_SECTORS), offsets
        equal[few, counted == sectors_of_turns(on)] += 1
    assert equal == {(True, True): 1131, (False, True): 107, (False, False): 49}


def test_equal_addresses_have_equal_counts():
    counted: dict[tuple, set] = {}
    for kernel, offsets, *figures in atomics():
        counted.setdefault((kernel, *offsets), set()).add(tuple(figures))
    assert all(len(found) == 1 for found in counted.values())


def test_transposed_atomics_match_single_warp_counts():
    """Adds up the warps of `red_transposed`, measured one by one: word 33·x + y, from word 4·warp + 8·block."""
    (launch,) = (launch for launch in load() if launch.entry["kernel"] == APART)
    alone = {offsets[0]: counted for kernel, offsets, counted, _ in atomics() if kernel == "red_f32"}
    warps = sum(alone[4 * (4 * warp + 8 * block)] for block in range(2) for warp in range(8))
    assert warps == launch.entry["hardware"][UNIT.format("global_op_red")] == 205


def atomics() -> list[list]:
    return json.loads(gzip.decompress((DATA / "atomics_sm90.json.gz").read_bytes()))["launches"]


def test_bypassing_copies_have_their_own_counter():
    bypassing = 0
    for launch in load():
        for marked, counter in (
            (True, "sm__sass_l1tex_m_xbar2l1tex_read_sectors_mem_global_op_ldgsts_cache_bypass"),
            (False, UNIT.format("global_op_ldgsts_cache_access")),
        ):
            ours = [one.sectors for one in launch.counted if one.head == "LDGSTS" and ("BYPASS" in one.sass) == marked]
            if ours:
                bypassing += marked
                assert sum(ours) == launch.entry["hardware"].get(counter, 0), launch
    assert bypassing > 10


# --- the table of measurements --------------------------------------------------------------------


def test_table_lists_the_measured_opcodes(audited):
    counted: dict[str, set] = {}
    for launch, found in audited:
        for memory in ("global", "local"):
            for one, site in of_memory(launch, found, memory):
                if site.status is Status.EXACT and site.wavefronts:
                    name = one.sass.split()[1 if one.sass.startswith("@") else 0]
                    counted.setdefault(opcodes.classify(name, memory).sass, set()).add(
                        (launch.entry["kernel"], one.place)
                    )
    assert MEASURED == {name: len(places) for name, places in sorted(counted.items())}
    assert machines.get("sm_90").memory_measured == MEASURED
    assert not machines.get("sm_80").memory_measured


def test_request_figures_do_not_exceed_their_lanes(audited):
    for _, found in audited:
        for site in found.values():
            for pattern in site.patterns:
                assert 0 < pattern.ideal <= pattern.low or not pattern.active.any()
                assert pattern.low <= 4 * np.count_nonzero(pattern.active)
