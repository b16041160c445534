"""No claim about the kernels of a measured set contradicts what a GPU counted (bench/adversary)."""

from __future__ import annotations

from functools import lru_cache

import against_counts
import pytest

from bench.adversary import truth

# (content of a set, its folder, what is specified, minimum number of equal sites)
SETS = (
    ("answers of barriers, draws from a counter, digits, tables and searches", "agreed_sm90", "placed", 533),
    ("answers of barriers, draws from a counter, digits, tables and searches", "agreed_sm90", "shape", 265),
    ("printf, malloc and free, called by some lanes and in loops", "runtime_calls_sm90", "told", 110),
    ("printf, malloc and free, called by some lanes and in loops", "runtime_calls_sm90", "shape", 20),
    ("loops, tables, roles and collectives of algorithms", "algorithms_sm90", "told", 401),
    ("loops, tables, roles and collectives of algorithms", "algorithms_sm90", "shape", 253),
    ("addresses that data decide within bounds", "bounds_sm90", "placed", 455),
    ("addresses that data decide within bounds", "bounds_sm90", "shape", 196),
    ("random PTX, lanes that yield among it", "random_sm90", "told", 138),
    ("random PTX, lanes that yield among it", "random_sm90", "shape", 78),
    ("algorithms, control flow and arithmetic by hand", "written_sm90", "placed", 1_261),
    ("algorithms, control flow and arithmetic by hand", "written_sm90", "shape", 349),
    ("groups of lanes, barriers, warps and blocks that hand over", "sync_sm90", "told", 135),
    ("groups of lanes, barriers, warps and blocks that hand over", "sync_sm90", "shape", 68),
    ("what libraries have, by hand", "libraries_sm90", "told", 500),
    ("what libraries have, by hand", "libraries_sm90", "shape", 293),
    ("kernels by earlier compilers", "releases_sm90", "told", 601),
    ("kernels by earlier compilers", "releases_sm90", "shape", 287),
    ("kernels in C, PTX and Python, by hand", "languages_sm90", "placed", 1_087),
    ("kernels in C, PTX and Python, by hand", "languages_sm90", "shape", 650),
    ("indices in memory that the kernel writes as well", "stores_sm90", "told", 150),
    ("64-bit counts of tiles, and carries in some lanes", "tiles_sm90", "placed", 64),
    ("layouts that Triton chooses", "triton_sm90", "told", 1_049),
    ("layouts that Triton chooses", "triton_sm90", "shape", 757),
    ("layouts that cuda.tile chooses", "tile_sm90", "told", 613),
    ("layouts that cuda.tile chooses", "tile_sm90", "shape", 512),
)


@lru_cache(maxsize=1)
def launches_of(folder: str) -> list[truth.Truth]:
    """The measured launches of a set, which all that is specified of them shares: code, graphs and slices."""
    return against_counts.load(folder)


@pytest.mark.parametrize("what, folder, how, equal", SETS)
def test_no_claim_about_a_measured_set_is_wrong(what: str, folder: str, how: str, equal: int) -> None:
    against_counts.assert_right(against_counts.checked(launches_of(folder), how), equal)
