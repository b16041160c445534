"""No claim about the kernels of a measured set contradicts what a GPU counted (bench/adversary)."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.adversary import report, truth  # noqa: E402
from bench.adversary.check import audit  # noqa: E402
from bench.adversary.claims import Verdict  # noqa: E402

# (content of a set, its folder, what is specified, minimum number of equal sites)
SETS = (
    ("answers of barriers, draws from a counter, digits, tables and searches", "agreed_sm90", "placed", 1_040),
    ("answers of barriers, draws from a counter, digits, tables and searches", "agreed_sm90", "shape", 407),
    ("printf, malloc and free, called by some lanes and in loops", "runtime_calls_sm90", "told", 176),
    ("printf, malloc and free, called by some lanes and in loops", "runtime_calls_sm90", "shape", 51),
    ("loops, tables, roles and collectives of algorithms", "algorithms_sm90", "told", 736),
    ("loops, tables, roles and collectives of algorithms", "algorithms_sm90", "shape", 483),
    ("addresses that data decide within bounds", "bounds_sm90", "placed", 890),
    ("addresses that data decide within bounds", "bounds_sm90", "shape", 360),
    ("random PTX, lanes that yield among it", "random_sm90", "told", 134),
    ("random PTX, lanes that yield among it", "random_sm90", "shape", 78),
    ("algorithms, control flow and arithmetic by hand", "written_sm90", "placed", 2_500),
    ("algorithms, control flow and arithmetic by hand", "written_sm90", "shape", 1_042),
    ("groups of lanes, barriers, warps and blocks that hand over", "sync_sm90", "told", 327),
    ("groups of lanes, barriers, warps and blocks that hand over", "sync_sm90", "shape", 181),
    ("kernels by earlier compilers", "releases_sm90", "told", 1_042),
    ("kernels by earlier compilers", "releases_sm90", "shape", 590),
    ("kernels in C, PTX and Python, by hand", "languages_sm90", "placed", 2_160),
    ("kernels in C, PTX and Python, by hand", "languages_sm90", "shape", 1_528),
    ("layouts that Triton chooses", "triton_sm90", "told", 1_049),
    ("layouts that Triton chooses", "triton_sm90", "shape", 757),
    ("layouts that cuda.tile chooses", "tile_sm90", "told", 606),
    ("layouts that cuda.tile chooses", "tile_sm90", "shape", 512),
)


@lru_cache(maxsize=1)
def launches_of(folder: str) -> list[truth.Truth]:
    """The measured launches of a set, which all that is specified of them shares: code, graphs and slices."""
    measured = ROOT / "tests" / "data" / folder
    return list(truth.load(measured, [measured / "launches.json.gz"]))


@pytest.mark.parametrize("what, folder, how, equal", SETS)
def test_no_claim_about_a_measured_set_is_wrong(what: str, folder: str, how: str, equal: int) -> None:
    checked = [audit(one, how, "sass") for one in launches_of(folder)]
    assert list(report.wrong(checked)) == [] and list(report.failures(checked)) == [], what
    found = sum(found.verdict is Verdict.EQUAL for one in checked for found in one.findings)
    assert found >= equal, (what, found)
