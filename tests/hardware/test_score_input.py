"""Requests given by hand: one clear InputError for each bad one, and the right answer for those that only look odd."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import ptxaudit
from ptxaudit import InputError, score_request, score_requests
from ptxaudit.hardware import banks, machines

WORDS = [4 * lane for lane in range(32)]
QUADS = [16 * lane for lane in range(32)]
COPY = "cp.async.ca.shared.global 16"


@pytest.mark.parametrize(
    "given, says",
    [
        ({"opcode": "ld.shared.v4.b32", "addresses": WORDS}, "lane 1's address 4 is not a multiple of 16"),
        ({"opcode": "LDS.64", "addresses": [4] + QUADS[1:]}, "lane 0's address 4 is not a multiple of 8"),
        ({"opcode": "LDSM.16.M88.4", "addresses": [8 * lane for lane in range(32)]}, "lane 1's address 8"),
        ({"opcode": "LDS", "addresses": [-4] + WORDS[1:]}, "lane 0's address is -4"),
        ({"opcode": "LDS", "addresses": [1 << 32] + WORDS[1:]}, "lane 0's address is 4294967296"),
        ({"opcode": "LDS", "addresses": [1 << 80] + WORDS[1:]}, "not integers"),
        ({"opcode": "LDS", "addresses": [2**63] + WORDS[1:]}, "not integers"),
        ({"opcode": "LDS", "addresses": [0.5] * 32}, "not integers"),
        ({"opcode": "LDS", "addresses": ["0"] * 32}, "not integers"),
        ({"opcode": "LDS", "addresses": [True] * 32}, "not integers"),
        ({"opcode": "LDS", "addresses": [None] * 32}, "not integers"),
        ({"opcode": "LDS", "addresses": 7}, "not integers"),
        ({"opcode": "LDS", "addresses": WORDS[:31]}, "31 addresses for 32 lanes"),
        ({"opcode": "LDS", "addresses": WORDS + [0]}, "33 addresses for 32 lanes"),
        ({"opcode": "LDS", "addresses": []}, "0 addresses for 32 lanes"),
        ({"opcode": "LDS", "addresses": [WORDS]}, "nested addresses"),
        ({"opcode": "LDS", "addresses": [WORDS, [0]]}, "not integers"),
        ({"opcode": "LDS", "addresses": WORDS, "active": 1 << 32}, "beyond the 32 lanes"),
        ({"opcode": "LDS", "addresses": WORDS, "active": -1}, "beyond the 32 lanes"),
        ({"opcode": "LDS", "addresses": WORDS, "active": 1.0}, "is not an integer"),
        ({"opcode": "LDS", "addresses": WORDS, "active": "0xff"}, "is not an integer"),
        (
            {"opcode": "ld.shared.f32", "addresses": [0, 4, 8, 12], "active": 0x1F, "machine": "banks=4,threads=4"},
            "beyond the 4 lanes",
        ),
        ({"opcode": "LDS.7", "addresses": WORDS}, "opcode 'LDS.7'"),
        ({"opcode": "", "addresses": WORDS}, "not an opcode"),
        ({"opcode": None, "addresses": WORDS}, "not an opcode"),
        ({"opcode": "HGMMA.64x64x16.F32", "addresses": WORDS}, "not scored"),
        ({"opcode": "LDS", "addresses": WORDS, "arch": "sm_91"}, "there is no machine 'sm_91'"),
        ({"opcode": "LDS", "addresses": WORDS, "arch": "gfx90a"}, "there is no machine"),
        ({"opcode": "LDS", "addresses": WORDS, "arch": 90}, "not the name of a machine"),
        ({"opcode": "LDS", "addresses": WORDS, "arch": "sm_35"}, "two bank modes"),
        ({"opcode": "LDS", "addresses": WORDS, "arch": "sm_90", "machine": "tesla"}, "both arch and machine"),
        ({"opcode": "LDS", "addresses": WORDS, "machine": "tesla"}, "audit the PTX"),
        ({"opcode": "LDS", "addresses": WORDS, "arch": "sm_70"}, "audit the PTX"),
        ({"opcode": "ldmatrix.sync.aligned.m8n8.x1.shared.b16", "addresses": QUADS, "arch": "sm_70"}, "before sm_75"),
        ({"opcode": "stmatrix.sync.aligned.m8n8.x1.shared.b16", "addresses": QUADS, "arch": "sm_89"}, "before sm_90"),
        ({"opcode": COPY, "addresses": QUADS, "arch": "sm_75"}, "before sm_80"),
        ({"opcode": "atom.shared.add.u32", "addresses": WORDS, "machine": "kepler-8byte"}, "takes a lock"),
        (
            {"opcode": "atom.shared.add.u32", "addresses": [0] * 4, "machine": "banks=4,threads=4"},
            "loads and stores only",
        ),
        ({"opcode": "LDS", "addresses": WORDS, "sources": WORDS}, "has no source addresses"),
        ({"opcode": COPY, "addresses": QUADS, "sources": WORDS}, "source 4 is not a multiple of 16"),
        ({"opcode": COPY, "addresses": QUADS, "sources": [-16] + QUADS[1:]}, "source address is -16"),
        ({"opcode": COPY, "addresses": QUADS, "sources": QUADS[:8]}, "8 sources for 32 lanes"),
        ({"opcode": COPY, "addresses": QUADS, "zero_filled": 1 << 40}, "zero-filled mask"),
        ({"opcode": "atom.shared.add.u32", "addresses": WORDS, "operand": "1"}, "operand '1'"),
        ({"opcode": "atom.shared.add.u32 09", "addresses": WORDS}, "the operand after an atomic is the constant"),
    ],
)
def test_invalid_request_is_rejected(given, says):
    with pytest.raises(InputError) as error:
        score_request(**given)
    assert says in str(error.value)
    assert error.value.what


@pytest.mark.parametrize(
    "name, says",
    [
        ("banks=0,word=4,threads=32,broadcast=any", "banks is '0'"),
        ("banks=-4,threads=32", "banks is '-4'"),
        ("banks=4,threads=0", "threads is '0'"),
        ("banks=4,word=0,threads=4", "word is '0'"),
        ("banks=4,word=3,threads=4", "a word of 3 bytes"),
        ("banks=4.5,threads=4", "banks is '4.5'"),
        ("banks=4", "lacks threads"),
        ("threads=4", "lacks banks"),
        ("banks=4,threads=4,broadcast=maybe", "broadcast is 'maybe'"),
        ("banks=4,banks=8,threads=4", "given twice"),
        ("banks=4,threads=4,lanes=4", "'lanes=4'"),
        ("banks=4,,threads=4", "''"),
        ("banks=99999,threads=4", "exceeds the limits"),
        ("", "there is no machine ''"),
    ],
)
def test_invalid_machine_is_rejected(name, says):
    with pytest.raises(InputError) as error:
        machines.get(name)
    assert says in str(error.value) and error.value.hint


def test_addresses_of_inactive_lanes_are_ignored():
    odd = [3, -8, 1 << 50] + QUADS[3:]
    assert score_request("LDS.128", odd, 0xFFFF_FFF8).wavefronts == 4
    assert score_request("LDSM.16.M88", QUADS[:8] + [1] * 24).wavefronts == 1  # only eight lanes supply rows
    assert score_request(COPY, QUADS, 0xFFFF_FFFE, sources=[7] + QUADS[1:]).wavefronts == 4


def test_integers_of_every_type_are_accepted():
    expected = score_request("LDS", WORDS)
    assert (
        expected
        == score_request("LDS", range(0, 128, 4))
        == score_request("LDS", tuple(WORDS))
        == score_request("LDS", iter(WORDS))
    )
    for dtype in (np.int16, np.uint8, np.uint32, np.uint64, np.int64):
        assert score_request("LDS", np.array(WORDS, dtype)) == expected
    assert score_request("LDS", WORDS, np.uint32(0xFFFF_FFFF)) == score_request("LDS", WORDS, [True] * 32) == expected


def test_scoring_does_not_modify_its_arguments():
    rows = np.arange(64, dtype=np.int64).reshape(2, 32)[:, ::-1] * 4
    before = rows.copy()
    score_requests("LDS", rows)
    assert (rows == before).all()


def test_partial_matrix_accesses_are_ranges():
    """PTX leaves it undefined if a lane is inactive: from nothing, as measured, to every row."""
    score = score_request("LDSM.16.M88.4", QUADS, 0xFFFF_FFFE)
    assert score.wavefronts is None and score.bounds == (0, 5) and score.evidence == "by rule"
    assert score_request("LDSM.16.M88.4", QUADS, 0xFF).bounds == (0, 25)
    assert score_request("LDSM.16.M88", QUADS, 0xFF).bounds == (0, 1)
    assert score_request("LDSM.16.M88", QUADS, 0).wavefronts == 0


def test_zero_filled_lanes_may_take_their_own_pass_if_sources_miss_l1():
    one_line = [16 * (lane % 8) for lane in range(32)]
    score = score_request(COPY, QUADS, sources=one_line, zero_filled=0xF0)
    assert (score.bounds, score.ideal) == ((4, 5), 4)
    assert score_request(COPY, QUADS, sources=one_line, zero_filled=0xF0, in_l1=False).wavefronts == 5
    assert score_request(COPY, QUADS, sources=one_line, zero_filled=0xF0, in_l1=True).bounds == (4, 5)
    # lanes 0 and 1 name the same source slot; lane 0 writes a zero, so lane 1, which copies, may wait for it or not
    two = score_request(COPY, QUADS, 0b11, sources=[0] * 32, zero_filled=0b01, in_l1=True)
    assert two.bounds == (1, 2)
    assert score_request(COPY, QUADS, 0b11, sources=[0] * 32, zero_filled=0b10, in_l1=True).bounds == (1, 2)
    assert score_request(COPY, QUADS, sources=QUADS, zero_filled=0xFF).wavefronts == 4
    with pytest.raises(InputError, match="no zero-filled lanes"):
        score_request("LDS", QUADS, zero_filled=1)
    assert score_request("LDGSTS.E.128.ZFILL", QUADS, sources=QUADS).bounds == (4, 4)  # specified: none
    k = score_request("cp.async.cg.shared.global 16", [0] * 32, zero_filled=0xFF)
    assert k.line_class_max == 3 and "stored apart: 1 wavefront," in k.note
    assert score_request("cp.async.cg.shared.global 16", QUADS, zero_filled=0x0F).line_class_max == 1
    untold = banks.score(
        machines.get("sm_90"), banks.classify("LDGSTS.E.BYPASS.128.ZFILL"), np.array([QUADS]), np.ones((1, 32), bool)
    )
    assert (untold.lines_low[0], untold.lines[0]) == (0, 1)
    nothing = score_requests("LDGSTS.E.BYPASS.128.ZFILL", [QUADS], zero_filled=[0xFFFF_FFFF])
    assert (nothing.lines[0], nothing.lines_ideal[0], nothing.low[0]) == (
        0,
        0,
        -1,
    )  # the zeros have a cost: not exactly nothing


def test_scores_state_whether_they_are_exact():
    exact = score_request("LDS", WORDS)
    assert (exact.wavefronts, exact.bounds, exact.excess, exact.evidence, exact.line_class_max) == (
        1,
        (1, 1),
        0,
        "measured",
        None,
    )
    ranged = score_request(COPY, QUADS)
    assert ranged.wavefronts is None and ranged.excess is None and ranged.ways is None and ranged.bounds == (4, 32)
    assert score_request("LDS.U.32", WORDS).evidence == "by rule"
    assert score_request("LDS", WORDS, arch="sm_100").evidence == "by rule"
    assert (
        score_request("LDS", WORDS, arch="sm_90a").evidence
        == score_request("LDS", WORDS, arch="compute_90").evidence
        == "measured"
    )
    assert score_request("atom.shared.add.u32", [0] * 32).note.startswith("as ATOMS.ADD")
    assert score_request("atom.shared.add.u32", WORDS).note == ""
    assert score_request("atom.shared.add.u32", [0] * 32, operand=1).bounds == (1, 32)
    assert score_request("atom.shared.add.u32 01", [0] * 32).bounds == (1, 32)  # octal, as in PTX


# --- many requests --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, says",
    [
        ({"addresses": WORDS}, "shape (32,)"),
        ({"addresses": np.zeros((2, 31), int)}, "shape (2, 31)"),
        ({"addresses": np.zeros((2, 32))}, "not integers"),
        ({"addresses": np.full((2, 32), 2)}, "lane 0's address 2"),
        ({"addresses": np.full((2, 32), -4)}, "address is -4"),
        ({"addresses": np.zeros((2, 32), int), "active": [1]}, "for 2 requests"),
        ({"addresses": np.zeros((2, 32), int), "active": [1, 1 << 32]}, "beyond the 32 lanes"),
        ({"addresses": np.zeros((2, 32), int), "active": [1, -1]}, "beyond the 32 lanes"),
        ({"addresses": np.zeros((2, 32), int), "active": np.ones((2, 31), bool)}, "for 2 requests"),
        ({"addresses": np.zeros((2, 32), int), "active": np.ones((2, 32), int)}, "for 2 requests"),
        ({"addresses": np.zeros((2, 32), int), "active": [0.5, 1]}, "for 2 requests"),
        ({"addresses": np.zeros((2, 32), int), "active": [[True], [True, False]]}, "different lengths"),
    ],
)
def test_invalid_arrays_are_rejected(given, says):
    with pytest.raises(InputError) as error:
        score_requests("LDS", **given)
    assert says in str(error.value)


def test_active_masks_of_many_requests():
    rows = np.tile(128 * np.arange(32), (3, 1))
    masks = [0xF, 0, 0xFFFF_FFFF]
    for active in (
        masks,
        np.array(masks),
        np.array(masks, np.uint32),
        np.array(masks, object),
        np.array([[m >> i & 1 for i in range(32)] for m in masks], bool),
    ):
        assert score_requests("LDS", rows, active).low.tolist() == [4, 0, 32]
    assert score_requests("LDS", rows, 0xFF).low.tolist() == [8, 8, 8]
    assert score_requests("LDS", rows).low.tolist() == [32] * 3
    wide = machines.get("banks=64,threads=64")
    assert score_requests(
        "ld.shared.f32", np.zeros((2, 64), int), [(1 << 64) - 1, 1 << 63], machine=wide
    ).low.tolist() == [1, 1]


def test_empty_arrays_score_to_empty_results():
    scores = score_requests("LDS.128", np.zeros((0, 32), int))
    assert [len(a) for a in (scores.low, scores.high, scores.ideal, scores.ways)] == [0] * 4
    for opcode in ("LDGSTS.E.128", "LDGSTS.E.BYPASS.128", "atom.shared.add.f32"):
        assert len(score_requests(opcode, np.zeros((0, 32), int)).ideal) == 0
    assert len(score_requests("ld.shared.f32", np.zeros((0, 32), int), machine="tesla").low) == 0


def test_score_functions_are_exported():
    assert ptxaudit.score_request is score_request and ptxaudit.score_requests is score_requests


def test_classification_does_not_import_numpy():
    code = (
        "import sys; from ptxaudit.hardware import banks; banks.classify('LDS.64'); banks.get_machine('sm_90');"
        " assert 'numpy'"
        " not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
