"""No claim about handwritten kernels contradicts what a GPU counted (bench/adversary)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.adversary import report, telling, truth  # noqa: E402
from bench.adversary.check import Checked, audit  # noqa: E402
from bench.adversary.claims import Verdict  # noqa: E402

LANES = 32


BY_HAND = ROOT / "tests" / "data" / "adversary_by_hand_sm90"
GOTO = (9001, 9002, 9003)
EQUAL_BY_HAND = {"told": 1_367, "shape": 782, "nothing": 0}


@pytest.fixture(scope="module")
def by_hand_measured() -> list[truth.Truth]:
    return list(truth.load(BY_HAND, [BY_HAND / "launches.json.gz"]))


@pytest.fixture(scope="module")
def by_hand_checked(by_hand_measured: list[truth.Truth]) -> Callable[[str], list[Checked]]:
    @cache
    def checked(how: str) -> list[Checked]:
        return [
            audit(one, how, "sass")
            for one in by_hand_measured
            if telling.applies(how, one.entry, one.module.functions[one.entry["kernel"]])
        ]

    return checked


@pytest.mark.parametrize("how", EQUAL_BY_HAND)
def test_no_claim_about_handwritten_kernels_is_wrong(by_hand_checked, how: str) -> None:
    """Each covers a bug that occurred once, or a construct that the generator does not produce."""
    checked = by_hand_checked(how)
    assert list(report.wrong(checked)) == [] and list(report.failures(checked)) == []
    assert sum(found.verdict is Verdict.EQUAL for one in checked for found in one.findings) >= EQUAL_BY_HAND[how]


def test_loops_joined_by_goto_are_exact(by_hand_measured: list[truth.Truth], by_hand_checked) -> None:
    """Diverged groups of lanes share one convergence barrier, at -O0, -O1, -O3 and -G."""
    of_goto = [one for one in by_hand_measured if one.entry["seed"] in GOTO]
    assert {one.entry["build"] for one in of_goto} >= {"nvcc-O0", "nvcc-O1", "nvcc-O3", "nvcc-G"}
    for one in of_goto:
        assert any(c.text.startswith("BSYNC") and c.warps * LANES > c.threads for _, c in one.placed()), str(one)
    found = [f.verdict for one in by_hand_checked("told") if one.seed == GOTO[0] for f in one.findings]
    assert len(found) > 50 and set(found) == {Verdict.EQUAL}
