"""The cause of a conflict in words, from requests whose conflicting lanes are known."""

from __future__ import annotations

import numpy as np
import pytest

from ptxaudit.engine.answer.result import Pattern, SiteResult, Status
from ptxaudit.hardware import banks, machines
from ptxaudit.report.cause import cause_of, stride_text
from ptxaudit.report.memory_words import memory_cause

LANES = np.arange(32)


def cause(addresses, opcode="ld.shared.b32", active=None, arch="sm_90"):
    """The sentence for a site with this one request."""
    machine = machines.get(arch)
    addresses, active = np.asarray(addresses, np.int64), np.ones(32, bool) if active is None else np.asarray(active)
    scores = banks.score(machine, banks.classify(opcode), addresses[None], active[None], None)
    low, high, ideal, ways = (int(array[0]) for array in (scores.low, scores.high, scores.ideal, scores.ways))
    lines = None if scores.lines is None else int(scores.lines[0])
    pattern = Pattern(addresses, active, 1, low, high, ideal, ways)
    return cause_of(
        machine,
        banks.classify(opcode),
        SiteResult(0, Status.EXACT, patterns=(pattern,), line_class_max=lines, line_class_proved=lines),
    )


@pytest.mark.parametrize(
    "addresses, opcode, said",
    [
        (4 * LANES, "ld.shared.b32", ""),
        (128 * LANES, "ld.shared.b32", "32 lanes (0-31) conflict in one bank: stride 128 bytes"),
        (8 * LANES, "st.shared.b32", "lanes 0 and 16 conflict in one bank: stride 8 bytes"),
        (32 * LANES, "ld.shared.b32", "8 lanes (0, 4, 8 … 28) conflict in one bank: stride 32 bytes"),
        (
            LANES % 16 * 64 + LANES // 16 * 4,
            "ld.shared.b32",
            "8 lanes (0, 2, 4 … 14) conflict in one bank: stride 64 bytes within 16 lanes, 4 bytes to the next 16",
        ),
        (
            LANES // 2 * 128,
            "ld.shared.b32",
            "16 lanes (0, 2, 4 … 30) conflict in one bank: one address within 2 lanes, 128 bytes to the next 2",
        ),
        (LANES * LANES * 128, "ld.shared.b32", "32 lanes (0-31) conflict in one bank"),
        (
            LANES % 2 * 16 + LANES // 2 * 64,
            "st.shared.v4.b32",
            "lanes 0 and 4 conflict in one bank: stride 16 bytes within 2 lanes, 64 bytes to the next 2",
        ),
        (
            LANES * 128,
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16",
            "8 lanes (0-7), each with the address of a matrix row, conflict in one bank: stride 128 bytes",
        ),
        (0 * LANES, "atom.shared.exch.b32", "32 lanes (0-31) access one word and are serialised"),
        (128 * LANES, "atom.shared.exch.b32", "32 lanes (0-31) conflict in one bank: stride 128 bytes"),
    ],
)
def test_cause_names_the_conflicting_lanes_and_the_stride(addresses, opcode, said):
    assert cause(addresses, opcode) == said


def test_cause_does_not_name_inactive_lanes():
    said = cause(128 * LANES, active=LANES % 8 == 3)
    assert said == "lanes 3, 11, 19 and 27 conflict in one bank"


@pytest.mark.parametrize("pitch, k", [(128, 1), (144, 2)])
def test_cause_of_cp_async_cg_is_in_steps(pitch, k):
    said = cause(LANES % 8 * 16 + LANES // 8 * pitch, "cp.async.cg.shared.global 16")
    assert said.startswith(f"{k} step") and "cycles" in said
    assert ("as cp.async.ca, from consecutive sources: at most 4 wavefronts, about 5.5 cycles" in said) == (k > 1)


def test_unknown_site_has_no_cause():
    machine = machines.get("sm_90")
    for access in (banks.classify("ld.shared.b32"), banks.classify("cp.async.cg.shared.global 16"), None):
        assert cause_of(machine, access, SiteResult(0, Status.UNKNOWN)) == ""


def test_strides_as_text():
    def stride(addresses, active=None):
        return stride_text(
            Pattern(np.asarray(addresses), np.ones(32, bool) if active is None else active, 1, 1, 1, 1, 1)
        )

    assert stride(-4 * LANES) == "stride -4 bytes"
    assert stride(LANES**2) == ""
    assert stride(4 * LANES, LANES < 1) == ""


@pytest.mark.parametrize(
    "addresses, active, said",
    [
        (128 * LANES, LANES >= 0, "lanes are 128 bytes apart"),
        (-128 * LANES + 4096, LANES >= 0, "lanes are 128 bytes apart"),
        (16 * LANES, LANES % 3 == 0, "lanes are 16 bytes apart"),
        (LANES // 3 * 128, LANES % 3 == 0, "active lanes are 128 bytes apart"),  # 42 2/3 bytes from lane to lane
        (LANES // 3 * 128, LANES >= 0, "lanes are scattered"),
    ],
)
def test_distance_of_lanes_is_not_rounded(addresses, active, said):
    worst = Pattern(np.where(active, addresses, 0), active, 1, 11, 11, 2, 1)
    result = SiteResult(0, Status.EXACT, patterns=(worst,))
    assert memory_cause(result, "global", 4) == f"{said}: 11 sectors for the bytes of 2"
