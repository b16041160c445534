"""A few requests are counted in plain Python, many with arrays: both give the same figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.banks import copies, few
from ptxaudit.hardware.machine_model import Uncertainty

ROWS = 4


def both(machine, opcode, rows, active, sources=None, **more):
    """(figures by plain Python, figures by arrays); opcode may also be an access."""
    access = banks.classify(opcode) if isinstance(opcode, str) else opcode
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for most in (ROWS * rows.shape[1], -1):
            patch.setattr(few, "MOST", dict.fromkeys(few.MOST, most))
            patch.setattr(few, "MOST_OF_COPIES", most)
            scores = banks.score(machine, access, rows, active, sources, **more)
            found.append(
                [
                    None if a is None else a.tolist()
                    for a in (scores.low, scores.high, scores.ideal, scores.ways, scores.lines)
                ]
            )
    return found


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("in_l1", [None, False, True])
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    span=st.sampled_from([2, 8, 33, 600]),
    lines=st.sampled_from([1, 2, 3, 4, 6, 40]),
    far=st.booleans(),
    zeros=st.booleans(),
)
def test_few_copies_score_as_many(width, in_l1, seed, span, lines, far, zeros):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, span, (ROWS, 32)) * width
    places = np.sort(rng.choice(400, lines, replace=False)) * (1 << 20 if far else 1)
    sources = rng.choice(places, (ROWS, 32)) * 128 + rng.integers(0, 128 // width, (ROWS, 32)) * width
    active = rng.random((ROWS, 32)) < rng.choice([0.1, 0.6, 1.0], (ROWS, 1))
    more = {"zero_filled": rng.random((ROWS, 32)) < 0.3} if zeros else {}
    opcode = {4: "LDGSTS.E", 8: "LDGSTS.E.64", 16: "LDGSTS.E.128"}[width]
    one, other = both(machines.get("sm_90"), opcode, rows, active, sources, in_l1=in_l1, **more)
    assert one == other


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    count=st.integers(1, 40),
    threads=st.integers(1, 40),
    span=st.sampled_from([1, 3, 20, 90]),
)
def test_few_broadcast_steps_score_as_many(seed, count, threads, span):
    rng = np.random.default_rng(seed)
    machine = machines.get(f"banks={count},word=4,threads={threads},broadcast=one")
    rows = rng.integers(0, span, (ROWS, threads)) * 4 * rng.choice([1, count])
    active = rng.random((ROWS, threads)) < rng.choice([0.2, 1.0], (ROWS, 1))
    one, other = both(machine, "ld.shared.f32", rows, active)
    assert one == other


RULES = [
    (name, rule)
    for name in ("sm_100", "tesla", "fermi", "kepler-4byte", "kepler-8byte", "banks=12,word=8,threads=40,broadcast=any")
    for rule in machines.get(name).rules
    if rule.uncertainty is not Uncertainty.SOURCES
]


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    which=st.sampled_from(RULES),
    span=st.sampled_from([1, 3, 20, 90, 5000]),
    pairs=st.sampled_from([0, 0, 1, 2]),
)
def test_few_requests_of_every_other_rule_score_as_many(seed, which, span, pairs):
    rng = np.random.default_rng(seed)
    name, rule = which
    machine = machines.get(name)
    width = rng.choice(rule.widths)
    rows = rng.integers(0, span, (ROWS, machine.lanes)) * width
    if pairs:
        rows = rows[:, np.arange(machine.lanes) & ~pairs]
    active = rng.random((ROWS, machine.lanes)) < rng.choice([0.2, 0.8, 1.0], (ROWS, 1))
    access = banks.Access("by hand", "ptx", "by hand", rule.operation, int(width))
    one, other = both(machine, access, rows, active)
    assert one == other


def test_partitions_of_lines_are_complete():
    assert [len(copies.partitions(n)) for n in range(5)] == [1, 1, 2, 5, 15]
    for lines in range(5):
        ways = copies.partitions(lines)
        assert all(sum(way) == (1 << lines) - 1 for way in ways) and len({tuple(sorted(way)) for way in ways}) == len(
            ways
        )


def test_tests_cover_every_rule_that_depends_on_sources():
    assert {rule.widths for rule in machines.get("sm_90").rules if rule.uncertainty is Uncertainty.SOURCES} == {
        (4,),
        (8,),
        (16,),
    }


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 30), span=st.sampled_from([2, 8, 33]), lines=st.sampled_from([1, 2, 5]))
def test_unspecified_zero_fill_range_contains_specified_scores(seed, span, lines):
    rng = np.random.default_rng(seed)
    machine, access = machines.get("sm_90"), banks.classify("LDGSTS.E.128.ZFILL")
    rows = rng.integers(0, span, (ROWS, 32)) * 16
    sources = rng.integers(0, lines, (ROWS, 32)) * 128 + rng.integers(0, 8, (ROWS, 32)) * 16
    active, zeros = rng.random((ROWS, 32)) < 0.8, rng.random((ROWS, 32)) < rng.random()
    for given_sources in (sources, None):
        untold = banks.score(machine, access, rows, active, given_sources)
        told = banks.score(machine, access, rows, active, sources, zero_filled=zeros)
        assert (untold.low <= told.low).all() and (told.high <= untold.high).all()


@pytest.mark.parametrize("specified", [(), ("sources",), ("zeros",), ("sources", "zeros")])
@settings(max_examples=80, deadline=None)
@given(
    width=st.sampled_from([4, 8, 16]),
    in_l1=st.sampled_from([None, True]),
    seed=st.integers(0, 1 << 30),
    span=st.sampled_from([1, 2, 8, 33]),
    lines=st.sampled_from([1, 2, 5]),
    stride=st.sampled_from([1, 16]),
)
def test_figures_of_a_copy_are_consistent(specified, width, in_l1, seed, span, lines, stride):
    """With all lanes on one slot: 32 wavefronts, whichever lanes copy or write zeros, in groups of 16 ways.

    Lines that are not in L1 take their own passes, and `ways` refers to one pass.
    """
    rng = np.random.default_rng(seed)
    opcode = {4: "LDGSTS.E", 8: "LDGSTS.E.64", 16: "LDGSTS.E.128"}[width] + (".ZFILL" if "zeros" in specified else "")
    rows = rng.integers(0, span, (ROWS, 32)) * width * stride
    sources = rng.integers(0, lines, (ROWS, 32)) * 128 + rng.integers(0, 128 // width, (ROWS, 32)) * width
    active, zeros = rng.random((ROWS, 32)) < rng.choice([0.3, 1.0], (ROWS, 1)), rng.random((ROWS, 32)) < rng.random()
    scores = banks.score(
        machines.get("sm_90"),
        banks.classify(opcode),
        rows,
        active,
        sources if "sources" in specified else None,
        zero_filled=zeros if "zeros" in specified else None,
        in_l1=in_l1 if "sources" in specified else None,
    )
    sure = scores.low == scores.high
    assert (scores.ideal <= scores.low).all()
    assert (scores.low <= scores.ways * scores.ideal)[sure].all()
