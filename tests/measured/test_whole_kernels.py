"""Whole kernels against a GPU's counts, site by site: the reason to trust a figure called exact.

Every launch of tests/data/*_sm90 is audited with its parameters specified. Known errors of the profiler's
per-instruction metric are resolved by the hardware counters of the launch (`ptxaudit.review.compare`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import lru_cache

import measured_kernels
import numpy as np
import pytest
from measured_kernels import SETS, Measured

from ptxaudit.review.compare import Comparison, Total, Verdict

FIRST_RANDOM = [892, 280, 261]

# Minimum number of sites with exactly the counted requests and wavefronts.
EQUAL = {"kernels_sm90": 1_429, "samples_sm90": 4_600, "idioms_sm90": 2_525}

# Maximum number of sites without a figure, by kind. It may only decrease.
OPEN = {
    "kernels_sm90": {("unknown", "wgmma"): 88},
    "samples_sm90": {
        ("unknown", "mbarrier"): 30,
        ("unknown", "bulk copy"): 1,
        ("unknown", "load"): 1,  # generic, in shared memory for some lanes
        ("data-dependent", "atomic"): 2,
    },
    "idioms_sm90": {
        ("unknown", "mbarrier"): 20,
        ("unknown", "load"): 5,  # after a cuda::barrier or a per-lane Euclidean algorithm; in a recursive function
        ("unknown", "atomic"): 1,  # generic, on shared memory: served by a loop beside it
        ("data-dependent", "load"): 8,
        ("data-dependent", "atomic"): 4,
    },
}

# Maximum number of sites with a range that could be a number: all others depend on loaded data.
BOUNDED = {"kernels_sm90": 136, "samples_sm90": 1, "idioms_sm90": 23}

# Instructions for which the profiler and the hardware counter of the launch disagree.
DISPUTED = {
    "kernels_sm90": set(),
    "samples_sm90": {("v4_mixed_merges", "LDS.128"), ("v4_two_way", "LDS.128")},
    "idioms_sm90": set(),
}


@lru_cache
def comparisons(name: str) -> list[tuple[Measured, Comparison]]:
    return [(launch, launch.compare()) for launch in measured_kernels.load(name)]


def rows(name: str, *verdicts: Verdict):
    return [
        (launch, row) for launch, comparison in comparisons(name) for row in comparison.rows if row.verdict in verdicts
    ]


@pytest.mark.parametrize("name", SETS)
def test_every_site_matches_the_counters(name: str) -> None:
    wrong = [
        f"{launch} {row.offset:#x} {row.verdict}: {row.why}"
        for launch, row in rows(name, Verdict.DIFFERS, Verdict.UNLISTED)
    ]
    assert wrong == []
    assert len(rows(name, Verdict.EQUAL)) >= EQUAL[name]
    disputed = {(launch.launch.kernel, row.site.opcode) for launch, row in rows(name, Verdict.DISPUTED)}
    assert disputed == DISPUTED[name]
    without = Counter((str(row.site.status), row.site.access) for _, row in rows(name, Verdict.OPEN))
    assert {kind: count for kind, count in without.items() if count > OPEN[name].get(kind, 0)} == {}
    assert sum(row.site.status == "bounded" for _, row in rows(name, Verdict.WITHIN)) <= BOUNDED[name]
    for _, row in rows(name, Verdict.REQUESTS):
        assert ".BYPASS" in row.site.opcode or row.site.access in ("wgmma", "mbarrier", "bulk copy")
    floors = [f"{launch}: {total}" for launch, total in totals(name) if total.counted < total.low]
    assert floors == [], "a hardware counter below what the sites must cost"
    exact = [total for _, total in totals(name) if total.low == total.high]
    assert sum(total.counted == total.low for total in exact) >= 0.93 * len(exact)


def totals(name: str) -> list[tuple[Measured, Total]]:
    return [(launch, total) for launch, comparison in comparisons(name) for total in comparison.totals]


def test_no_claim_is_wrong_without_parameters() -> None:
    """Without the parameters figures are ranges and conditions, which include the counts."""
    for launch in measured_kernels.load("kernels_sm90"):
        shape = dataclasses.replace(launch, launch=dataclasses.replace(launch.launch, param_bytes=None))
        wrong = [
            f"{launch} {row.offset:#x}: {row.why}"
            for row in shape.compare().rows
            if row.verdict in (Verdict.DIFFERS, Verdict.UNLISTED)
        ]
        assert wrong == []


# Minimum number of sites with exactly the counted figures: with the data specified in launches where it decides any
# site, and without it in the others.
EXACT_WITH_DATA = {"samples_sm90": 4745, "idioms_sm90": 2913}


@pytest.mark.skipif(
    np.random.default_rng(20).integers(0, 1000, 3).tolist() != FIRST_RANDOM,
    reason="this NumPy draws other random numbers than the one that filled the buffers",
)
@pytest.mark.parametrize("name", EXACT_WITH_DATA)
def test_specified_data_makes_more_sites_exact(name: str) -> None:
    exact = 0
    for launch, untold in comparisons(name):
        found = untold
        if any(row.site and row.site.status in ("data-dependent", "invariant") for row in untold.rows):
            found = measured_kernels.with_data(launch).compare()
            assert [
                f"{launch} {row.offset:#x}: {row.why}" for row in found.rows if row.verdict is Verdict.DIFFERS
            ] == []
        exact += found.counts.get(Verdict.EQUAL, 0)
    assert exact >= EXACT_WITH_DATA[name]


def test_every_profiled_instruction_is_a_site() -> None:
    """Also instructions that never ran: the report has every instruction that the profiler lists."""
    for name in SETS:
        for launch, comparison in comparisons(name):
            sites = {site.offset for site in comparison.kernel.sites}
            missing = [entry for entry in launch.profile.counted if entry.offset not in sites]
            assert missing == [], str(launch)
