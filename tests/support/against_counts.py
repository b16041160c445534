"""Holds the claims about measured launches against what a GPU counted (bench/adversary).

Every test run audits some launches of each set, by tests/measured/launches.json (choose_launches.py), in which each
branch and line that more of them reach is reached; `make adversary-check` audits all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from paths import DATA, ROOT

from bench.adversary import report, truth
from bench.adversary.check import audit
from bench.adversary.claims import Verdict

LAUNCHES = ROOT / "tests" / "measured" / "launches.json"

# (folder of tests/data, what is specified, the memory whose accesses are checked)
TELLINGS = (
    *((folder, how, "shared") for folder, hows in (
        ("agreed_sm90", ("placed", "shape")),
        ("runtime_calls_sm90", ("told", "shape")),
        ("algorithms_sm90", ("told", "shape")),
        ("bounds_sm90", ("placed", "shape")),
        ("random_sm90", ("told", "shape")),
        ("written_sm90", ("placed", "shape")),
        ("sync_sm90", ("told", "shape")),
        ("libraries_sm90", ("told", "shape")),
        ("releases_sm90", ("told", "shape")),
        ("languages_sm90", ("placed", "shape")),
        ("stores_sm90", ("told",)),
        ("tiles_sm90", ("placed",)),
        ("triton_sm90", ("told", "shape")),
        ("tile_sm90", ("told", "shape")),
        ("trips_sm90", ("told", "shape")),
        ("returns_sm90", ("told", "shape", "nothing")),
        ("adversary_sm90", ("told", "bytes", "shape", "nothing")),
        ("adversary_by_hand_sm90", ("told", "shape", "nothing")),
        ("adversary_more_sm90", ("told",)),
        ("collectives_sm90", ("told", "shape")),
    ) for how in hows),
    *(("spaces_sm90", how, "all") for how in ("told", "aligned", "shape", "nothing")),
)  # fmt: skip


def tellings(folder: str) -> list[str]:
    """What is specified of the launches of a folder, in turn."""
    return [how for of, how, _ in TELLINGS if of == folder]


def key(one: truth.Truth) -> tuple[str, int]:
    """A launch of a set: its cubin, and its number."""
    return one.entry["cubin"], one.entry["number"]


@cache
def _chosen() -> dict[tuple[str, str], dict[str, Any]]:
    """(folder, telling) -> its row of the file."""
    return {(row["folder"], row["telling"]): row for row in json.loads(LAUNCHES.read_text())}


def load(folder: str, chosen: bool = False) -> list[truth.Truth]:
    """The launches of a folder of tests/data. chosen: only of the cubins of which a test run audits launches."""
    only = (
        {cubin for (of, _), row in _chosen().items() if of == folder for cubin in row["launches"]} if chosen else set()
    )
    measured = DATA / folder
    return list(truth.load(measured, [measured / "launches.json.gz"], frozenset(only)))


def assert_right(folder: str, how: str, measured: Iterable[truth.Truth]) -> None:
    """The chosen launches of the folder, audited with as much specified as a telling says: no claim is wrong, and no
    fewer sites than when they were chosen have exactly the counted requests and wavefronts.
    """
    row = _chosen()[folder, how]
    of = [one for one in measured if one.entry["number"] in row["launches"].get(one.entry["cubin"], ())]
    found = [audit(one, how, "sass", row["memory"]) for one in of]
    assert len(found) == sum(map(len, row["launches"].values()))
    assert list(report.wrong(found)) == [] and list(report.failures(found)) == []
    assert sum(one.verdict is Verdict.EQUAL for launch in found for one in launch.findings) >= row["equal"]
