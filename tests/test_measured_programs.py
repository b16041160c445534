"""No claim about generated kernels contradicts what an H200 counted (bench/adversary)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.adversary import report, telling, truth  # noqa: E402
from bench.adversary.check import audit  # noqa: E402
from bench.adversary.claims import Verdict  # noqa: E402
from ptxaudit.ir.link import link  # noqa: E402

KEPT = ROOT / "tests" / "data" / "adversary_sm90"


@pytest.fixture(scope="module")
def measured() -> list[truth.Truth]:
    return list(truth.load(KEPT, [KEPT / "launches.json.gz"]))


def test_specified_parameters_equal_the_launched_ones(measured: list[truth.Truth]) -> None:
    for one in measured:
        function = link(one.module, one.module.functions[one.entry["kernel"]])
        data, known = telling.told(one.entry, function).buffer(function)
        launched = bytes.fromhex(one.entry["param_bytes"])
        assert sum(known) == sum(p["size"] for p in one.entry["parameters"])
        assert all(a == b for a, b, told in zip(data, launched, known, strict=True) if told), str(one)


# Minimum number of sites with exactly the counted requests and wavefronts; it may only grow.
EQUAL = {"told": 1_719, "bytes": 1_608, "shape": 720, "nothing": 0}


@pytest.mark.parametrize("how", EQUAL)
def test_no_claim_about_measured_kernels_is_wrong(measured: list[truth.Truth], how: str) -> None:
    checked = [
        audit(one, how, "sass")
        for one in measured
        if telling.applies(how, one.entry, one.module.functions[one.entry["kernel"]])
    ]
    assert list(report.wrong(checked)) == []
    assert list(report.failures(checked)) == []
    assert sum(found.verdict is Verdict.EQUAL for one in checked for found in one.findings) >= EQUAL[how]


MORE = ROOT / "tests" / "data" / "adversary_more_sm90"


def test_no_claim_about_formerly_wrong_kernels_is_wrong() -> None:
    """Lanes that a YIELD inside a branch diverges, and an offset that is the same in all blocks of the cluster; kernels
    that lock in a recursion, mix state spaces in generic atomics, and access vectors in loops built with goto.
    """
    checked = [audit(one, "told", "sass") for one in truth.load(MORE, [MORE / "launches.json.gz"])]
    assert list(report.wrong(checked)) == [] and list(report.failures(checked)) == []
    assert sum(found.verdict is Verdict.EQUAL for one in checked for found in one.findings) >= 151


COLLECTIVES = ROOT / "tests" / "data" / "collectives_sm90"


def test_no_claim_about_tile_collectives_is_wrong() -> None:
    """Lanes that pass the masks of tiles, and lanes that arrive diverged."""
    measured = list(truth.load(COLLECTIVES, [COLLECTIVES / "launches.json.gz"]))
    for how, equal in {"told": 299, "shape": 272}.items():
        checked = [audit(one, how, "sass") for one in measured]
        assert list(report.wrong(checked)) == [] and list(report.failures(checked)) == []
        assert sum(found.verdict is Verdict.EQUAL for one in checked for found in one.findings) >= equal
    of_tiles = [one for one in measured if one.entry["seed"] == 6089]
    votes = [c for one in of_tiles for _, c in one.placed() if c.text.startswith("VOTE.ANY")]
    assert len(votes) == 2 and all(c.threads <= 8 * c.warps for c in votes)  # one tile at a time
