"""What is claimed of kernels that call through pointers and themselves, against what an H100 counted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.adversary import report, truth  # noqa: E402
from bench.adversary.check import Checked, audit  # noqa: E402
from bench.adversary.claims import Verdict  # noqa: E402

KEPT = ROOT / "tests" / "data" / "calls_sm90"
EQUAL = 450  # sites at least with exactly the counted requests and wavefronts; the share only grows


PARTS = 8


class Audits(Sequence):
    """One a launch, each made when it is asked for first."""

    def __init__(self) -> None:
        self._launches = list(truth.load(KEPT, [KEPT / "launches.json.gz"]))
        self._made: dict[int, Checked] = {}

    def __len__(self) -> int:
        return len(self._launches)

    def __getitem__(self, at: int) -> Checked:
        one = self._launches[at]
        if at not in self._made:
            self._made[at] = audit(one, "told", "sass")
        return self._made[at]


@pytest.fixture(scope="module")
def checked() -> Audits:
    return Audits()


@pytest.mark.parametrize("part", range(PARTS))
def test_no_claim_is_wrong(checked, part):
    some = [checked[at] for at in range(part, len(checked), PARTS)]
    assert some and list(report.failures(some)) == [] and list(report.wrong(some)) == []


def test_no_access_of_what_is_called_is_left_out(checked):
    assert not [f.text for c in checked for f in c.findings if f.kind == "unlisted"]


def test_most_that_is_known_is_exact(checked):
    assert sum(f.verdict is Verdict.EQUAL for c in checked for f in c.findings) >= EQUAL


ITSELF = (908, 910, 914)  # functions that call themselves, or each other through a table; at -O3 they save barriers
RANGES = 67  # of their sites at least have a count or a range


def test_functions_that_call_themselves_and_keep_barriers_are_followed(checked):
    """Nothing that they access is left out or claimed wrongly; in most there is at least a range."""
    found = [f for c in checked if c.seed in ITSELF for f in c.findings]
    assert not [f for f in found if f.verdict is Verdict.WRONG]
    assert sum(f.verdict in (Verdict.EQUAL, Verdict.WITHIN) for f in found) >= RANGES
