"""`ptxaudit calibrate`: the committed data agree exactly, disagreements are shown, and files of another kind are
rejected.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from paths import DATA

from ptxaudit import score_request
from ptxaudit.base.errors import InputError
from ptxaudit.hardware.calibration import compare, read
from ptxaudit.hardware.spin import play
from ptxaudit.ui.cli import main

FILES = [DATA / f"{name}_sm90.json.gz" for name in ("requests", "calibration", "sparse")]
# (instruction, situation) without a single figure for every request, and why
NOT_EXACT = {
    ("atom.shared.cas.b16", "all passes"): "what it compares with decides",
    ("LDGSTS.E.BYPASS.128.ZFILL", "sources not in L1, source sizes"): "lanes that copy a part of their bytes",
    **{
        (f"LDGSTS.E{size}", "some sources in L1"): "which of several lines are in L1 is not specified"
        for size in ("", ".64", ".128")
    },
    **{
        (f"{matrix}.16.{shape}{x}", "part of a warp"): "undefined by PTX"
        for matrix in ("LDSM", "STSM")
        for shape in ("M88", "MT88")
        for x in ("", ".2", ".4")
    },
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_rules_agree_with_the_committed_measurements(file):
    agreements = compare(read(file))
    assert len(agreements) > (5 if file == FILES[2] else 20)
    assert not [one for one in agreements if one.wrong]
    assert {(one.opcode, one.situation) for one in agreements if one.exact != one.requests} <= set(NOT_EXACT)
    assert sum(one.exact for one in agreements) > 0.8 * sum(one.requests for one in agreements)


# requests in which at most one lane of every pair, i^1 or i^2, is active
SPARSE = {"LDS.64": 1758, "LDS.128": 1892, "STS.64": 151, "STS.128": 147, "LD.E.64": 92, "LD.E.128": 93}


def _one_lane_a_pair(mask: int) -> bool:
    """At most one lane is active in every pair i, i^1, or in every pair i, i^2."""
    return not mask & mask >> 1 & 0x5555_5555 or not mask & mask >> 2 & 0x3333_3333


def test_wide_accesses_with_inactive_lanes_agree_with_measurements():
    """A load serves groups twice as large where partners agree or are inactive, for any mask; a store and a generic
    load never do.
    """
    merged, kept = {"LDS.64": 16, "LDS.128": 8}, {"STS.64": 16, "STS.128": 8, "LD.E.64": 16, "LD.E.128": 8}
    seen = dict.fromkeys((*merged, *kept), 0)
    for one in read(FILES[2]).requests:
        opcode, mask, lanes = one["sass"], one["active"], (merged | kept)[one["sass"]]
        if not _one_lane_a_pair(mask):
            continue
        size = 2 * lanes if opcode in merged else lanes
        groups = [
            {one["addresses"][lane] for lane in range(start, start + size) if mask >> lane & 1}
            for start in range(0, 32, size)
        ]
        worst = [
            max(Counter(address // (128 // lanes) % lanes for address in group).values(), default=0) for group in groups
        ]
        assert one["wavefronts"] == sum(worst)
        seen[opcode] += 1
    assert seen == SPARSE


def test_copy_from_one_source_line_per_group_is_exact():
    requests = [r for r in read(FILES[1]).requests if r["pattern"] == "one line a group"]
    assert len(requests) == 42 and {r["in_l1"] for r in requests} == {"some"}
    for one in requests:
        assert score_request(one["sass"], one["addresses"], sources=one["sources"]).wavefronts == one["wavefronts"]


def test_predicated_off_and_exited_lanes_cost_nothing():
    seen = {
        r.get("off", "exit")
        for r in read(FILES[1]).requests
        if r["sass"] in ("LDS", "LDS.64", "LDS.128", "STS", "ATOMS.ADD") and r["active"] != 0xFFFF_FFFF
    }
    assert seen == {"exit", "guard"}


def run(*arguments):
    return CliRunner().invoke(main, ["calibrate", *map(str, arguments)])


def altered(tmp_path, change) -> Path:
    document = json.loads(gzip.decompress(FILES[0].read_bytes()))
    document["requests"] = document["requests"][:30]
    change(document)
    path = tmp_path / "altered.json"
    path.write_text(json.dumps(document))
    return path


def test_calibrate_prints_a_line_per_instruction():
    result = run("--results", FILES[0])
    assert result.exit_code == 0
    assert "NVIDIA H200" in result.stdout and "2,462 requests: 2,462 exact" in result.stdout
    row = next(line for line in result.stdout.splitlines() if line.startswith("LDS.128 "))
    assert "86 of 86" in row


def test_disagreeing_measurements_are_listed(tmp_path):
    def change(document):
        document["requests"][3]["wavefronts"] += 1

    file = altered(tmp_path, change)
    result = run("--results", file)
    assert result.exit_code == 1
    assert "29 exact, 1 wrong" in result.stdout and "request 3 was counted as" in result.stdout
    document = json.loads(run("--results", file, "--format", "json").stdout)
    assert document["files"][0]["instructions"][0]["wrong"][0]["request"] == 3


@pytest.mark.parametrize(
    "change, what",
    [
        (lambda d: d.pop("requests"), "no requests"),
        (lambda d: d["requests"][2].pop("active"), "request 2 lacks active"),
        (lambda d: d.update(requests=["x"]), "request 0 lacks"),
        (lambda d: d.update(device="a GPU"), "does not name the architecture"),
        (lambda d: d.update(device="a GPU (sm_9999)"), "there is no machine"),
        (lambda d: d["requests"][0].update(addresses=[1, 2]), "addresses"),
        (lambda d: d["requests"][0].update(sass="FADD"), "not a shared-memory instruction"),
    ],
)
def test_invalid_results_files_are_rejected(tmp_path, change, what):
    result = run("--results", altered(tmp_path, change))
    assert result.exit_code == 2
    assert what in " ".join(result.stderr.split())


def test_missing_file_and_invalid_json_are_rejected(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read(tmp_path / "none")
    for data in (b"", b"\x1f\x8b12", b"[1]", b"{"):
        (tmp_path / "x").write_bytes(data)
        with pytest.raises(InputError):
            read(tmp_path / "x")


# --- loops --------------------------------------------------------------------------------------

LANES = range(32)


def test_atomic_loop_repeats_per_lane_on_a_bank():
    apart, one, column = [4 * lane for lane in LANES], [0] * 32, [128 * lane for lane in LANES]
    ones = [1] * 32
    assert play(4, "add", apart, ones).wavefronts == 3  # one for the load, 2 for the compare-and-spin
    assert (play(4, "add", one, ones).loads, play(4, "add", one, ones).atomics) == (32, 64)
    assert (play(4, "add", column, ones).loads, play(4, "add", column, ones).atomics) == (32 * 33 // 2, 64)


def test_atomic_loop_without_a_change_takes_one_pass():
    both = [8 * (lane % 16) for lane in LANES]
    assert play(8, "add", both, [1] * 32).passes == 2
    assert play(8, "add", both, [0] * 32).passes == 1
    assert play(8, "min", both, [0] * 32).atomics == 0


def test_sixteen_bit_atomics_contend_for_words():
    halves = [2 * lane for lane in LANES]
    played = play(2, "add", halves, [1] * 32)
    assert (played.loads, played.passes, played.atomics) == (1, 2, 2 * 2 + 2)
    assert play(2, "add", halves, [1] * 32, active=0x55555555).passes == 1
