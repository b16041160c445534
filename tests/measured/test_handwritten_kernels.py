"""No claim about handwritten kernels contradicts what a GPU counted (bench/adversary)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import against_counts
import pytest

from bench.adversary import truth
from bench.adversary.check import Checked
from bench.adversary.claims import Verdict

LANES = 32
GOTO = (9001, 9002, 9003)
EQUAL_BY_HAND = {"told": 623, "shape": 292, "nothing": 0}


@pytest.fixture(scope="module")
def by_hand_measured() -> list[truth.Truth]:
    return against_counts.load("adversary_by_hand_sm90")


@pytest.fixture(scope="module")
def by_hand_checked(by_hand_measured: list[truth.Truth]) -> Callable[[str], list[Checked]]:
    @cache
    def checked(how: str) -> list[Checked]:
        return against_counts.checked(by_hand_measured, how)

    return checked


@pytest.mark.parametrize("how", EQUAL_BY_HAND)
def test_no_claim_about_handwritten_kernels_is_wrong(by_hand_checked, how: str) -> None:
    """Each covers a bug that occurred once, or a construct that the generator does not produce."""
    against_counts.assert_right(by_hand_checked(how), EQUAL_BY_HAND[how])


def test_loops_joined_by_goto_are_exact(by_hand_measured: list[truth.Truth], by_hand_checked) -> None:
    """Diverged groups of lanes share one convergence barrier, at -O0, -O1, -O3 and -G."""
    of_goto = [one for one in by_hand_measured if one.entry["seed"] in GOTO]
    assert {one.entry["build"] for one in of_goto} >= {"nvcc-O0", "nvcc-O1", "nvcc-O3", "nvcc-G"}
    for one in of_goto:
        assert any(c.text.startswith("BSYNC") and c.warps * LANES > c.threads for _, c in one.placed()), str(one)
    found = [f.verdict for one in by_hand_checked("told") if one.seed == GOTO[0] for f in one.findings]
    assert len(found) > 25 and set(found) == {Verdict.EQUAL}
