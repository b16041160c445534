"""The rules, compared with the measured requests: every exact figure is the counter's, every range contains it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict

import numpy as np
import pytest
from paths import DATA

from bench.calibrate import forms
from ptxaudit import score_request, score_requests
from ptxaudit.hardware import machines
from ptxaudit.hardware.banks import classify

REQUESTS = json.loads(gzip.decompress((DATA / "requests_sm90.json.gz").read_bytes()))["requests"]
CYCLES = [json.loads(line) for line in (DATA / "cp_async_cycles_sm90.jsonl").read_text().splitlines()]
BYPASS = "LDGSTS.E.BYPASS.128"
SOURCE_LINE = 128


def by(key: str) -> dict[str, list[dict]]:
    found = defaultdict(list)
    for request in REQUESTS:
        if request.get(key):
            found[request[key]].append(request)
    return found


def scores_of(opcode: str, requests: list[dict]):
    sources = [r["sources"] for r in requests] if "sources" in requests[0] else None
    return score_requests(opcode, [r["addresses"] for r in requests], [r["active"] for r in requests], "sm_90", sources)


def reads_one_line_a_group(request: dict, width: int) -> bool:
    group = SOURCE_LINE // width
    return all(
        len(
            {
                request["sources"][lane] // SOURCE_LINE
                for lane in range(start, start + group)
                if request["active"] >> lane & 1
            }
        )
        <= 1
        for start in range(0, len(request["sources"]), group)
    )


def test_measured_files_match_the_records():
    from bench.calibrate.tables import counted

    assert len(REQUESTS) == 2590
    names = (
        "requests_sm90.json.gz",
        "calibration_sm90.json.gz",
        "sparse_sm90.json.gz",
        "zeros_sm90.json.gz",
        "regular_zeros_sm90.json.gz",
        "timing_sm90.json.gz",
        "cp_async_cycles_sm90.jsonl",
    )
    assert counted([DATA / name for name in names]) == machines.get("sm_90").measurements.requests


@pytest.mark.parametrize("key", ["sass", "ptx"])
def test_scores_match_every_measured_request(key):
    exact = ranged = 0
    for opcode, requests in by(key).items():
        if "BYPASS" in requests[0]["sass"]:
            continue
        scores = scores_of(opcode, requests)
        counter = np.array([r["wavefronts"] for r in requests])
        assert (scores.low <= counter).all() and (counter <= scores.high).all(), opcode
        assert scores.evidence == "measured"
        known = scores.low == scores.high
        exact, ranged = exact + int(known.sum()), ranged + int((~known).sum())
        if not requests[0]["sass"].startswith("LDGSTS"):
            assert known.all(), opcode
            continue
        width = {"LDGSTS.E": 4, "LDGSTS.E.64": 8, "LDGSTS.E.128": 16}[requests[0]["sass"]]
        for request, is_known in zip(requests, known, strict=True):
            assert is_known or not reads_one_line_a_group(request, width)
    assert exact + ranged == len([r for r in REQUESTS if r.get(key) and "BYPASS" not in r["sass"]])
    assert ranged == 113  # of 365 cp.async.ca, 203 read one line per group; 49 more ranges are one number


def test_single_and_batched_scores_are_equal():
    for requests in by("sass").values():
        for request in requests[::7]:
            one = score_request(
                request["sass"], request["addresses"], request["active"], "sm_90", request.get("sources")
            )
            if request["wavefronts"] is None:
                assert one.wavefronts is None and one.bounds is None and one.line_class_max >= one.lines_ideal
            else:
                assert one.bounds[0] <= request["wavefronts"] <= one.bounds[1]
                assert one.wavefronts in (None, request["wavefronts"])


def test_scores_without_sources_contain_the_counts():
    for opcode in ("LDGSTS.E", "LDGSTS.E.64", "LDGSTS.E.128"):
        requests = by("sass")[opcode]
        scores = score_requests(opcode, [r["addresses"] for r in requests], [r["active"] for r in requests])
        counter = np.array([r["wavefronts"] for r in requests])
        assert (scores.low <= counter).all() and (counter <= scores.high).all()


# --- cp.async.cg: cycles step with k --------------------------------------------------------


def test_cp_async_cg_cycles_match_their_line_class():
    machine = machines.get("sm_90")
    seen = set()
    for row in CYCLES:
        k = score_request(BYPASS, row["off"]).line_class_max
        low, high = machine.cycles_of(k)
        assert low <= row["cg"] <= high, row["pattern"]
        seen.add(k)
    assert len(CYCLES) == 108
    assert seen == {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 32}


def test_cp_async_cg_cycles_increase_with_line_class():
    rows = machines.get("sm_90").measurements.line_cycles
    assert all(a[3] < b[2] for a, b in zip(rows[:5], rows[1:6], strict=True))
    assert machines.get("sm_90").cycles_of(5)[0] > 2.5 * machines.get("sm_90").cycles_of(4)[1]
    assert machines.get("sm_90").cycles_of(14) == (56.6, 73.9)  # not measured: between its neighbours
    assert machines.get("sm_90").cycles_of(33) is None
    assert machines.get("sm_80").cycles_of(1) is None


def _timed(kernels: tuple[str, ...]) -> list[dict]:
    document = json.loads(gzip.decompress((DATA / "timing_sm90.json.gz").read_bytes()))
    return [one for one in document["timed"] if one["kernel"] in kernels]


def test_cp_async_cg_cycles_of_uncached_sources():
    rows = _timed(("cg_far", "cg_far_waits"))
    assert len(rows) == 40
    for one in rows:
        k = score_request(BYPASS, one["addresses"]).line_class_max
        low, high = machines.get("sm_90").cycles_of(k, fresh=True)
        assert low <= one["cycles"] <= high, one["pattern"]
    assert machines.get("sm_80").cycles_of(1, fresh=True) is None


def test_cp_async_cg_cycles_of_a_single_block():
    """No jump, where a block rereads the same sources: 9.5 cycles, plus one for each further k, within 3.2."""
    rows = [one for one in _timed(("cg",)) if one["active"] == 0xFFFF_FFFF]
    assert len(rows) == 114 and {score_request(BYPASS, one["addresses"]).line_class_max for one in rows} == set(
        range(1, 33)
    )
    for one in rows:
        assert abs(one["cycles"] - (8.5 + score_request(BYPASS, one["addresses"]).line_class_max)) < 3.2


def test_zero_filled_cp_async_cg_takes_the_cycles_of_sts_128():
    """A copy of zeros alone takes as long as an STS.128 of them, whatever its k would be."""
    rows = [one for one in _timed(("cg_size",)) if one["pattern"].endswith("zeros") and not any(one["values"])]
    assert len(rows) == 10
    for one in rows:
        stored = score_request("STS.128", one["addresses"]).wavefronts
        assert abs(one["cycles"] - (stored + 3.1)) < 0.7
        assert score_request(BYPASS, one["addresses"], zero_filled=0xFFFF_FFFF).line_class_max == 0


def test_cp_async_ca_cycles_follow_its_wavefronts():
    """About 1.08 cycles per wavefront plus 1.2, for every pattern: the counters' rule also holds for time."""
    for row in CYCLES:
        wavefronts = score_request("LDGSTS.E.128", row["off"], sources=range(0, 512, 16)).wavefronts
        assert abs(row["ca"] - (1.08 * wavefronts + 1.2)) < 1.5


def test_pitch_144_is_conflict_free_but_line_class_8_with_cg():
    addresses = [144 * lane for lane in range(32)]
    assert score_request("LDGSTS.E.128", addresses, sources=range(0, 512, 16)).excess == 0
    assert score_request(BYPASS, addresses).line_class_max == 8
    rows = [128 * (lane // 8) + 16 * (lane % 8) for lane in range(32)]
    padded = [144 * (lane // 8) + 16 * (lane % 8) for lane in range(32)]
    swizzled = [128 * (lane // 8) + 16 * ((lane % 8) ^ (lane // 8)) for lane in range(32)]
    assert [score_request(BYPASS, a).line_class_max for a in (rows, swizzled, padded)] == [1, 1, 2]


# --- accesses without a figure: their reasons were measured ------------------------------------


def _tensor() -> list[dict]:
    return json.loads(gzip.decompress((DATA / "tensor_sm90.json.gz").read_bytes()))["launches"]


def test_wgmma_charge_depends_on_operand_bytes_not_layout():
    launches = [one for one in _tensor() if one["kernel"].startswith("wgmma")]
    assert {(one["n"], one["a"] == "registers") for one in launches} == {
        (n, r) for n in (8, 64, 256) for r in (False, True)
    }
    for one in launches:
        charge = classify(f"HGMMA.64x{one['n']}x16.F32").charge
        assert (
            one["counters"]["op_gmma"] == charge[one["a"] != "registers"] and one["counters"]["conflicts_op_gmma"] == 0
        )
    assert classify("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16").charge == (32, 48)
    assert (
        classify("QGMMA.64x256x32.F32.E4M3.E4M3").charge == (64, 80)
        and "64 wavefronts per warpgroup" in classify("QGMMA.64x256x32.F32.E4M3.E4M3").unscored
    )


def test_wgmma_cycles_do_not_depend_on_the_layout():
    cycles = defaultdict(set)
    for one in json.loads(gzip.decompress((DATA / "timing_sm90.json.gz").read_bytes()))["timed"]:
        if one["kernel"].startswith("timed_wgmma"):
            cycles[one["n"], one["a"] == "registers"].add(one["cycles"])
    assert len(cycles) == 6 and all(len(found) == 1 for found in cycles.values())


def test_bulk_copies_have_no_wavefronts():
    assert {one["counters"]["wavefronts"] for one in _tensor() if one["kernel"].startswith("copy")} == {9}
    assert {one["counters"]["wavefronts"] for one in _tensor() if one["kernel"].startswith("store")} == {8}
    assert {one["counters"]["wavefronts"] for one in _tensor() if one["kernel"].startswith("reduce")} == {8}
    for dimensions in (3, 4, 5):
        rows = [one for one in _tensor() if one["kernel"].startswith(f"tensor{dimensions}")]
        assert {(one["kernel"][8:], one["counters"]["wavefronts"]) for one in rows} == {("in", 9), ("out", 8)}


# the kernels of timed operations on barriers -> the machine instructions that ptxas makes from each
BARRIERS = {
    "arrive": "SYNCS.ARRIVE.TRANS64.A1T0",
    "arrive_sink": "SYNCS.ARRIVE.TRANS64.RED.A1T0",
    "test_wait": "SYNCS.PHASECHK.TRANS64",
    "try_wait": "SYNCS.PHASECHK.TRANS64.TRYWAIT",
    "barrier_expect_tx": "SYNCS.ARRIVE.TRANS64.RED.A0TR",
    "barrier_complete_tx": "SYNCS.ARRIVE.TRANS64.RED.A0TX",
    "barrier_arrive_expect_tx": "SYNCS.ARRIVE.TRANS64",
    "barrier_arrive_drop": "SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0",
    "barrier_arrive_count": "SYNCS.ARRIVE.TRANS64.ART0",
    "barrier_arrive_count_sink": "SYNCS.ARRIVE.TRANS64.RED.ART0",
    "barrier_arrive_drop_expect_tx": "SYNCS.ARRIVE.TRANS64.OPTOUT",
    "barrier_copies": "ARRIVES.LDGSTSBAR.64.ARVCNT",
    "barrier_copies_counted": "SYNCS.ARRIVE.TRANS64.RED.A0T1 ARRIVES.LDGSTSBAR.64.TRANSCNT",
    "barrier_inval": "",  # SYNCS.CCTL.IV names no access
    "cluster_arrive": "SYNCS.ARRIVE.TRANS64.RED.A1T0",
    "cluster_arrive_expect_tx": "SYNCS.ARRIVE.TRANS64.RED",
    "cluster_arrive_complete_tx": "SYNCS.ARRIVE.TRANS64.RED.A0TX",
}


@pytest.mark.parametrize("kernel", BARRIERS)
def test_mbarrier_operations_have_no_wavefronts(kernel):
    """Operations on barriers count nothing but op_misc.

    All lanes initialise the launch's barriers, which counts 1 per barrier (and per block of a cluster). Apart from
    that, a launch of eight operations counts the same, whichever lanes perform them on whichever barriers.
    """
    rows = _timed((kernel,))
    blocks = 2 if kernel.startswith("cluster") else 1
    rest = {one["counters"][""] - blocks * len({*one["addresses"]}) for one in rows}
    assert len(rows) >= 12 and len(rest) == 1
    assert all(one["counters"][kind] == 0 for one in rows for kind in ("op_ld", "op_st", "op_atom"))
    assert all(one["counters"]["op_misc"] == one["counters"][""] for one in rows)
    for opcode in BARRIERS[kernel].split():
        assert machines.get("sm_90").charge(classify(opcode), None) == 0
        assert machines.get("sm_90").evidence(classify(opcode)) == "measured"


def _forms() -> list[dict]:
    return json.loads(gzip.decompress((DATA / "forms_sm90.json.gz").read_bytes()))["forms"]


def test_charge_of_each_form_matches_the_counters():
    """16 issues in a launch instead of one add 15 times the stated charge, to one counter or to none."""
    machine = machines.get("sm_90")
    for form in _forms():
        once, often = form["counters"]["1"], form["counters"]["16"]
        ptx, sass = classify(form["ptx"]), classify(form["sass"])
        first = "shared" if form["name"].endswith("a_shared") else "registers"
        charge = machine.charge(sass, first)
        assert machine.charge(ptx, first) == charge and machine.evidence(sass) == "measured", form["name"]
        added = {"": charge, "op_gmma": charge} if charge else {}
        assert {n: often[n] - once[n] for n in once if often[n] != once[n]} == {n: 15 * k for n, k in added.items()}
        if charge:
            assert once["op_gmma"] == charge and ptx.sass == form["sass"]


def test_measured_forms_match_the_launched_forms():
    assert [(one["name"], one["ptx"]) for one in _forms()] == [(one.name, one.opcode) for one in forms.FORMS.values()]


def test_uncounted_opcodes_were_measured():
    copies = {form["sass"] for form in _forms() if "GMMA" not in form["sass"]}
    assert {"UBLKCP.G.S", "UBLKRED.S.S.ADD", "UTMALDG.1D", "UTMALDG.3D.IM2COL.MULTICAST", "UTMAREDG.5D.XOR"} <= copies
    assert machines.get("sm_90").measurements.uncounted == copies.union(
        *map(str.split, BARRIERS.values()), {"SYNCS.EXCH.64"}
    )
    for opcode in ("UTMALDG.2D.GATHER4", "UTMALDG.2D.2CTA", "UTMAREDG.3D.NOTHING", "ATOMS.ARRIVE.64"):
        assert machines.get("sm_90").charge(classify(opcode), None) is None
    assert machines.get("sm_100").charge(classify("SYNCS.PHASECHK.TRANS64"), None) is None


@pytest.mark.parametrize(
    "opcode, charge",
    [
        ("mbarrier.arrive.expect_tx.shared::cta.b64", 0),
        ("mbarrier.try_wait.parity.shared::cta.b64", 0),
        ("cp.async.mbarrier.arrive.noinc.shared.b64", 0),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", 0),
        ("cp.async.bulk.global.shared::cta.bulk_group", 0),
        ("mbarrier.init.shared.b64", 0),
        ("mbarrier.arrive.noComplete.shared.b64", None),
        ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", 0),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", 0),
        ("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes", None),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2", None),
        ("cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes", None),
        ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask", None),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32", 0),
    ],
)
def test_uncounted_ptx_opcodes(opcode, charge):
    assert machines.get("sm_90").charge(classify(opcode), None) == charge
    assert machines.get("sm_80").charge(classify(opcode), None) is None


def test_unmeasured_bulk_copy_has_its_own_reason():
    assert "was not measured" in classify("UTMALDG.2D.GATHER4").unscored
    assert "no wavefront counter includes it" in classify("UTMALDG.2D").unscored


def test_arrival_that_completes_no_phase_counts_op_misc():
    """A launch of 8 counts 8 more than one of other arrivals, whatever the lanes and barriers.

    The instruction (SYNCS.ARRIVE.TRANS64.TMASK) counts, or one of those that ptxas writes after it, so it has no
    figure.
    """
    for one in _timed(("barrier_arrive_no_complete", "barrier_arrive_drop_no_complete")):
        assert one["counters"]["op_misc"] == one["counters"][""] == len({*one["addresses"]}) + 4 + 8
    for opcode in ("SYNCS.ARRIVE.TRANS64.TMASK.ART0", "mbarrier.arrive.noComplete.shared.b64"):
        assert machines.get("sm_90").charge(classify(opcode), None) is None
        assert "completes no phase" in classify(opcode).unscored


def test_mbarrier_init_counts_op_misc_once_per_barrier():
    for one in _timed(("barrier_init",)):
        barriers = {a for lane, a in enumerate(one["addresses"]) if one["active"] >> lane & 1}
        assert one["counters"]["op_misc"] == one["counters"][""] == 8 * len(barriers) + 4
    for opcode in ("SYNCS.EXCH.64", "mbarrier.init.shared::cta.b64"):
        assert machines.get("sm_90").charge(classify(opcode), None) == 0
        assert "op_misc" in classify(opcode).unscored


def test_remote_shared_memory_is_not_counted_and_local_is():
    unroll, figures = (
        8,
        {
            "cluster_ld": ("op_ld", "LDS"),
            "cluster_ld_v2": ("op_ld", "LDS.64"),
            "cluster_ld_v4": ("op_ld", "LDS.128"),
            "cluster_st": ("op_st", "STS"),
            "cluster_st_v4": ("op_st", "STS.128"),
            "cluster_atom": ("op_atom", "ATOMS.ADD"),
        },
    )
    for one in _timed(tuple(figures)):
        counter, opcode = figures[one["kernel"]]
        if one["whose"] == "own":
            expected = score_request(opcode, one["addresses"], one["active"]).wavefronts
        else:
            expected = int(counter == "op_atom")
        assert one["counters"][counter] == unroll * expected, (one["kernel"], one["pattern"], one["whose"])
    for one in _timed(("arrive", "arrive_sink", "test_wait", "cluster_st_async", "cluster_st_async_v4")):
        assert one["counters"]["op_st"] == one["counters"]["op_atom"] == 0


def test_zero_filled_lanes_may_merge_with_copies_of_their_word():
    """Measured on an H100: 16, 18 and, with the source in L1, both (kernels of seed 160015, tests/data/releases_sm90)."""
    pairs, ignored = [8 * (lane ^ 2) for lane in range(32)], 0x55555555
    score = lambda **more: (
        score_request("LDGSTS.E.64", pairs, None, "sm_90", [16] * 32, zero_filled=ignored, **more).bounds
    )
    assert score() == score(in_l1=True) == (16, 18)
    assert score(in_l1=False) == (18, 18)
