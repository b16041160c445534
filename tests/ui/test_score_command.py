"""`ptxaudit score` and `ptxaudit machines`: their text, their JSON, their errors, and the map they draw."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import run

from ptxaudit.hardware import banks, machines
from ptxaudit.ui.render.bankmap import bank_map


def test_score_prints_figure_groups_reason_and_map():
    assert run("score", "LDS", "--addresses", "0:256:8").stdout.splitlines() == [
        (
            "LDS on sm_90: 2 wavefronts, ideal 1, excess 1, 2 ways  (measured,"
            f" {machines.get('sm_90').measurements.requests['LDS']}"
            " requests)"
        ),
        "  one group of 32 lanes",
        "  lanes 0-31 take 2 wavefronts: bank 0 has 2 words, 0x0 (lane 0), 0x80 (lane 16)",
        "  rule: whole warp: the largest number of distinct 4-byte words in one bank; equal words are broadcast",
        "",
        "lanes 0-31: 2 wavefronts",
        (
            "  bank  0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15"
            "  16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31"
        ),
        (
            "     1  0!      1!      2!      3!      4!      5!      6!      7!      8!      9!     10!     11!     12!"
            "     13!     14!     15!"
        ),
        (
            "     2 16!     17!     18!     19!     20!     21!     22!     23!     24!     25!     26!     27!     28!"
            "     29!     30!     31!"
        ),
        "! collides",
    ]


def test_score_explains_merges_ranges_and_lines():
    merged = run("score", "LDS.64", "--addresses", ",".join(str(8 * (lane // 2)) for lane in range(32))).stdout
    assert (
        "1 wavefront, ideal 1" in merged
        and "every active lane i agrees with lane i^1" in merged
        and "+ more lanes on the same word" in merged
    )
    apart = run("score", "LDS.64", "--addresses", "0:256:8").stdout
    assert "not merged, because lanes 0 and 1 differ (i^1), and lanes 0 and 2 (i^2)" in apart
    unknown = run("score", "cp.async.ca.shared.global 16", "--addresses", "0:512:16").stdout
    assert "4 to 32 wavefronts" in unknown and "the source addresses are not specified" in unknown
    bypass = run("score", "cp.async.cg.shared.global 16", "--addresses", "0:4608:144").stdout
    assert "k = 8, ideal 1" in bypass and "no hardware counter covers" in bypass and "46.6 to 56.2 cycles" in bypass
    some = run("score", "cp.async.cg.shared.global 16", "--addresses", "0:4608:144", "--zero-filled", "0xffff").stdout
    assert "k = 4, ideal 1" in some and "mod 4: k = 4" in some and "stored apart: 2 wavefronts" in some
    assert (
        "(measured, 4 requests)"
        in run("score", "atom.relaxed.cta.shared::cta.add.f64", "--addresses", "0:256:8").stdout
    )
    assert "no lane is active" in run("score", "LDS", "--addresses", "0*32", "--active", "0").stdout
    assert "compare-and-swap takes every wavefront 2 times" in run("score", "ATOMS.CAS", "--addresses", "0*32").stdout
    tesla = run("score", "ld.shared.u8", "--addresses", "0:32", "--machine", "tesla").stdout
    assert "8 wavefronts, ideal 2, excess 6, 4 ways" in tesla
    assert "ATOMS.POPC.INC" in run("score", "red.shared.add.u32 1", "--addresses", "0*32").stdout
    assert (
        "which PTX leaves undefined"
        in run("score", "LDSM.16.M88.4", "--addresses", "0:512:16", "--active", "0xff").stdout
    )
    assert (
        "write zeros"
        in run(
            "score", "LDGSTS.E.128", "--addresses", "0:512:16", "--sources", "0:512:16", "--zero-filled", "0xf0"
        ).stdout
    )


def test_score_as_json():
    result = json.loads(run("score", "LDS.128", "--addresses", "0:1024:32", "--format", "json").stdout)
    assert (
        result["schema"],
        result["wavefronts"],
        result["bounds"],
        result["ideal"],
        result["excess"],
        result["ways"],
    ) == ("ptxaudit/score/1", 8, [8, 8], 4, 4, 2)
    assert [group["wavefronts"] for group in result["groups"]] == [2] * 4
    assert result["groups"][0]["slots"][0] == {
        "slot": 0,
        "words": [{"address": 0, "lanes": [0]}, {"address": 128, "lanes": [4]}],
    }
    ranged = json.loads(run("score", "LDGSTS.E.128", "--addresses", "0:512:16", "--format", "json").stdout)
    assert (ranged["wavefronts"], ranged["excess"], ranged["ways"], ranged["bounds"]) == (None, None, None, [4, 32])
    lines = json.loads(run("score", "LDGSTS.E.BYPASS.128", "--addresses", "0*32", "--format", "json").stdout)
    assert (lines["bounds"], lines["line_class_max"], lines["lines_ideal"]) == (None, 4, 1)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["LDS", "--addresses", "0,4"], "2 addresses for 32 lanes"),
        (["LDS", "--addresses", "0:128:0"], "--addresses: '0:128:0'"),
        (["LDS", "--addresses", "a,b"], "'a' is not a number"),
        (["LDS", "--addresses", "1:2:3:4"], "'1:2:3:4'"),
        (["LDS", "--addresses", "0*99999999999"], "more than 1024 numbers"),
        (["LDS", "--addresses", "0:99999999999999"], "more than 1024 numbers"),
        (["LDS", "--addresses", ""], "0 addresses"),
        (["LDS", "--addresses", "0*32", "--active", "all"], "'all' is not a mask"),
        (["LDS", "--addresses", "0*32", "--active", "0x1ffffffff"], "beyond the 32 lanes"),
        (["LDS.3", "--addresses", "0*32"], "opcode 'LDS.3'"),
        (["LDS", "--addresses", "0*32", "--arch", "sm_12345"], "there is no machine"),
        (["LDS.64", "--addresses", "0:128:4"], "not a multiple of 8"),
    ],
)
def test_score_rejects_bad_input_with_status_2(arguments, says):
    result = run("score", *arguments, status=2)
    assert says in result.stderr and "Traceback" not in result.output and result.stdout == ""


def test_map_has_every_active_lane_of_a_word_once():
    rng = np.random.default_rng(2)
    for opcode in ("LDS", "LDS.64", "LDS.128", "ATOMS.ADD", "LDSM.16.M88.4", "LDGSTS.E.64"):
        access = banks.classify(opcode)
        row, active = rng.integers(0, 64, 32) * access.width, np.ones(32, bool)
        drawn = bank_map(machines.get("sm_90"), access, row, active).plain
        groups = banks.groups(machines.get("sm_90"), access, row, active)
        rows = [line for line in drawn.splitlines() if line[:6].strip().isdigit()]
        assert len(rows) == sum(group.wavefronts for group in groups)  # one row per wavefront
        for width in (40, 79):
            narrow = bank_map(machines.get("sm_90"), access, row, active, width=width).plain.splitlines()
            assert max(len(line) for line in narrow if line[:6].strip().isdigit() or "bank" in line) <= width


def test_machines_prints_a_list_and_a_table():
    listed = run("machines").stdout
    assert (
        all(name in listed for name in machines.names())
        and f"{len(machines.get('sm_90').measurements.requests)} opcodes measured" in listed
    )
    table = run("machines", "sm_90").stdout
    assert (
        f"LDS.64 {machines.get('sm_90').measurements.requests['LDS.64']}" in table
        and "no hardware counter covers it" in table
        and "single requests by hardware counter" in table
    )
    assert (
        "takes a lock" in run("machines", "fermi").stdout
        and "Machine code is not scored" in run("machines", "sm_60").stdout
    )
    for name in (*machines.names(), "banks=12,threads=32,broadcast=one"):
        data = json.loads(run("machines", name, "--format", "json").stdout)
        assert data["name"] == machines.get(name).name and len(data["rules"]) == len(machines.get(name).rules)
    assert len(json.loads(run("machines", "--format", "json").stdout)["machines"]) == len(machines.names())
    assert "two bank modes" in run("machines", "sm_37", status=2).stderr
