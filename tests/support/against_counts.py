"""Holds the claims about measured launches against what a GPU counted (bench/adversary)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from paths import DATA

from bench.adversary import report, telling, truth
from bench.adversary.check import Checked, audit
from bench.adversary.claims import Verdict

WHOLE = ("told", "placed")  # tellings that specify everything that decides a count
SOME = 2  # with less specified, which takes longer, one launch of so many of each build of a kernel


def load(folder: str) -> list[truth.Truth]:
    """The launches of a folder of tests/data."""
    measured = DATA / folder
    return list(truth.load(measured, [measured / "launches.json.gz"]))


def checked(measured: Iterable[truth.Truth], how: str) -> list[Checked]:
    """The launches to which a telling applies, audited with as much specified as it says."""
    of = [one for one in measured if telling.applies(how, one.entry, one.module.functions[one.entry["kernel"]])]
    if how not in WHOLE:
        builds = groupby(of, lambda one: (one.entry["seed"], one.entry["build"]))
        of = [one for _, launches in builds for one in list(launches)[::SOME]]
    return [audit(one, how, "sass") for one in of]


def assert_right(found: list[Checked], equal: int) -> None:
    """No claim is wrong, and at least `equal` sites have exactly the counted requests and wavefronts."""
    assert list(report.wrong(found)) == [] and list(report.failures(found)) == []
    assert sum(one.verdict is Verdict.EQUAL for launch in found for one in launch.findings) >= equal
