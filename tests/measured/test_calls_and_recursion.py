"""Claims about kernels that call through pointers or recurse, compared with the counters of an H100."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from paths import DATA

from bench.adversary import report, truth
from bench.adversary.check import Checked, audit
from bench.adversary.claims import Verdict

KEPT = DATA / "calls_sm90"
EQUAL = 449  # minimum number of sites with exactly the counted requests and wavefronts; may only grow


PARTS = 8


class Audits(Sequence):
    """One audit per launch, made on first access."""

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
def test_no_claim_about_measured_calls_is_wrong(checked, part):
    some = [checked[at] for at in range(part, len(checked), PARTS)]
    assert some and list(report.failures(some)) == [] and list(report.wrong(some)) == []


def test_every_measured_access_of_a_callee_is_listed(checked):
    assert not [f.text for c in checked for f in c.findings if f.kind == "unlisted"]


def test_minimum_number_of_sites_is_exact(checked):
    assert sum(f.verdict is Verdict.EQUAL for c in checked for f in c.findings) >= EQUAL


ITSELF = (908, 910, 914)  # recursive functions, some through a table; at -O3 they save barriers
RANGES = 67  # minimum number of their sites with a count or a range


def test_recursive_functions_that_save_barriers_have_ranges(checked):
    """None of their accesses is missing or wrong, and most have at least a range."""
    found = [f for c in checked if c.seed in ITSELF for f in c.findings]
    assert not [f for f in found if f.verdict is Verdict.WRONG]
    assert sum(f.verdict in (Verdict.EQUAL, Verdict.WITHIN) for f in found) >= RANGES
