"""No claim about generated kernels contradicts what an H200 counted (bench/adversary)."""

from __future__ import annotations

import against_counts
import pytest
from against_counts import assert_right

from bench.adversary import telling, truth
from ptxaudit.ir.link import link

FOLDER = "adversary_sm90"


@pytest.fixture(scope="module")
def measured() -> list[truth.Truth]:
    return against_counts.load(FOLDER)


def test_specified_parameters_equal_the_launched_ones(measured: list[truth.Truth]) -> None:
    for one in measured:
        function = link(one.module, one.module.functions[one.entry["kernel"]])
        data, known = telling.told(one.entry, function).buffer(function)
        launched = bytes.fromhex(one.entry["param_bytes"])
        assert sum(known) == sum(p["size"] for p in one.entry["parameters"])
        assert all(a == b for a, b, told in zip(data, launched, known, strict=True) if told), str(one)


@pytest.mark.parametrize("how", against_counts.tellings(FOLDER))
def test_no_claim_about_generated_kernels_is_wrong(measured: list[truth.Truth], how: str) -> None:
    assert_right(FOLDER, how, measured)


def test_no_claim_about_formerly_wrong_kernels_is_wrong() -> None:
    """Lanes that a YIELD inside a branch diverges, and an offset that is the same in all blocks of the cluster; kernels
    that lock in a recursion, mix state spaces in generic atomics, and access vectors in loops built with goto.
    """
    folder = "adversary_more_sm90"
    assert_right(folder, "told", against_counts.load(folder, chosen=True))


def test_no_claim_about_tile_collectives_is_wrong() -> None:
    """Lanes that pass the masks of tiles, and lanes that arrive diverged."""
    measured = against_counts.load("collectives_sm90")
    for how in against_counts.tellings("collectives_sm90"):
        assert_right("collectives_sm90", how, measured)
    of_tiles = [one for one in measured if one.entry["seed"] == 6089]
    votes = [c for one in of_tiles for _, c in one.placed() if c.text.startswith("VOTE.ANY")]
    assert len(votes) == 2 and all(c.threads <= 8 * c.warps for c in votes)  # one tile at a time
