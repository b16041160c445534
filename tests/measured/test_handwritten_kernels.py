"""No claim about handwritten kernels contradicts what a GPU counted (bench/adversary)."""

from __future__ import annotations

import against_counts
import pytest

from bench.adversary import truth
from bench.adversary.check import audit
from bench.adversary.claims import Verdict

LANES = 32
GOTO = (9001, 9002, 9003)
FOLDER = "adversary_by_hand_sm90"


@pytest.fixture(scope="module")
def measured() -> list[truth.Truth]:
    return against_counts.load(FOLDER)


@pytest.mark.parametrize("how", against_counts.tellings(FOLDER))
def test_no_claim_about_handwritten_kernels_is_wrong(measured: list[truth.Truth], how: str) -> None:
    """Each covers a bug that occurred once, or a construct that the generator does not produce."""
    against_counts.assert_right(FOLDER, how, measured)


def test_loops_joined_by_goto_are_exact(measured: list[truth.Truth]) -> None:
    """Diverged groups of lanes share one convergence barrier, at -O0, -O1, -O3 and -G."""
    of_goto = [one for one in measured if one.entry["seed"] in GOTO]
    assert {one.entry["build"] for one in of_goto} >= {"nvcc-O0", "nvcc-O1", "nvcc-O3", "nvcc-G"}
    for one in of_goto:
        assert any(c.text.startswith("BSYNC") and c.warps * LANES > c.threads for _, c in one.placed()), str(one)
    some = [one for one in of_goto if one.entry["seed"] == GOTO[0]][::2]
    found = [finding.verdict for one in some for finding in audit(one, "told", "sass").findings]
    assert len(found) > 25 and set(found) == {Verdict.EQUAL}
