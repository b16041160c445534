"""Holds the claims about measured launches against what a GPU counted (bench/adversary)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from paths import DATA

from bench.adversary import report, telling, truth
from bench.adversary.check import Checked, audit
from bench.adversary.claims import Verdict

WHOLE = ("told", "placed")  # tellings that specify everything that decides a count
# One launch of so many of each build of a kernel; with less specified, which takes longer, of each kernel, of one build or
# another. `make adversary-check` compares all of them.
OF_BUILD, OF_KERNEL = 2, 6


def load(folder: str) -> list[truth.Truth]:
    """The launches of a folder of tests/data."""
    measured = DATA / folder
    return list(truth.load(measured, [measured / "launches.json.gz"]))


def checked(measured: Iterable[truth.Truth], how: str, space: str = "shared") -> list[Checked]:
    """Some of the launches to which a telling applies, audited with as much specified as it says."""
    of = [one for one in measured if telling.applies(how, one.entry, one.module.functions[one.entry["kernel"]])]
    return [audit(one, how, "sass", space) for one in _some(of, how in WHOLE)]


def _some(launches: Iterable[truth.Truth], whole: bool) -> Iterator[truth.Truth]:
    """whole: see `WHOLE`."""
    step = OF_BUILD if whole else OF_KERNEL
    same = lambda one: (one.entry["seed"], one.entry["build"] if whole else "")
    for (seed, _), group in groupby(launches, same):
        of_one = list(group)
        yield from of_one[seed % min(step, len(of_one)) :: step]


def assert_right(found: list[Checked], equal: int) -> None:
    """No claim is wrong, and at least `equal` sites have exactly the counted requests and wavefronts."""
    assert list(report.wrong(found)) == [] and list(report.failures(found)) == []
    assert sum(one.verdict is Verdict.EQUAL for launch in found for one in launch.findings) >= equal
