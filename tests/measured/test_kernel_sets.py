"""No claim about the kernels of a measured set contradicts what a GPU counted (bench/adversary)."""

from __future__ import annotations

from functools import lru_cache

import against_counts
import pytest

from bench.adversary import truth

SETS = {
    "agreed_sm90": "answers of barriers, draws from a counter, digits, tables and searches",
    "runtime_calls_sm90": "printf, malloc and free, called by some lanes and in loops",
    "algorithms_sm90": "loops, tables, roles and collectives of algorithms",
    "bounds_sm90": "addresses that data decide within bounds",
    "random_sm90": "random PTX, lanes that yield among it",
    "written_sm90": "algorithms, control flow and arithmetic by hand",
    "sync_sm90": "groups of lanes, barriers, warps and blocks that hand over",
    "libraries_sm90": "what libraries have, by hand",
    "releases_sm90": "kernels by earlier compilers",
    "languages_sm90": "kernels in C, PTX and Python, by hand",
    "stores_sm90": "indices in memory that the kernel writes as well",
    "tiles_sm90": "64-bit counts of tiles, and carries in some lanes",
    "triton_sm90": "layouts that Triton chooses",
    "tile_sm90": "layouts that cuda.tile chooses",
    "trips_sm90": "lanes of one warp in different trips of a loop",
    "returns_sm90": "lanes that return diverged from recursive functions",
}


@lru_cache(maxsize=1)
def launches_of(folder: str) -> list[truth.Truth]:
    """The measured launches of a set, which all that is specified of them shares: code, graphs and slices."""
    return against_counts.load(folder, chosen=True)


@pytest.mark.parametrize(
    "what, folder, how",
    [(what, folder, how) for folder, what in SETS.items() for how in against_counts.tellings(folder)],
)
def test_no_claim_about_a_measured_set_is_wrong(what: str, folder: str, how: str) -> None:
    against_counts.assert_right(folder, how, launches_of(folder))
