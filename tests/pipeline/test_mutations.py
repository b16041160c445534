"""Random mutations of every kind of input, 2,000 in all: none faults, hangs, fills the memory, or is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench import mutations

CASES = 2_000
FIRST = 10_000_000  # long runs count from 0
SHARES = {
    kind.name: max(1, CASES * kind.weight // sum(kind.weight for kind in mutations.KINDS)) for kind in mutations.KINDS
}

# Cases that found a bug, by kind: an infinite budget, one of 500 digits, more digits than Python reads, an infinite
# figure, a count that is null, a pattern without a character.
FOUND = {
    "PTX": (7025,),
    "settings": (1443, 3480, 4013, 6431, 17542, 43445),
    "profile": (1008, 1039, 2140),
    "report": (9177,),
}


@pytest.fixture(scope="module")
def bases(tmp_path_factory) -> mutations.Bases:
    folder = tmp_path_factory.mktemp("bases")
    mutations.build(folder)
    return mutations.Bases(folder)


def test_number_of_mutations_equals_the_documented_one():
    assert sum(SHARES.values()) == CASES


@pytest.mark.parametrize("kind", mutations.KINDS, ids=lambda kind: kind.name)
def test_mutated_inputs_cause_no_fault(bases, kind):
    for first in range(0, SHARES[kind.name], mutations.TOGETHER):
        numbers = range(FIRST + first, FIRST + min(first + mutations.TOGETHER, SHARES[kind.name]))
        found = mutations.run(numbers, kind, bases)
        assert found.bad == [] and found.endings[kind.name].total() == len(numbers)


@pytest.mark.parametrize("kind", [kind for kind in mutations.KINDS if kind.name in FOUND], ids=lambda kind: kind.name)
def test_mutations_that_once_caused_a_fault(bases, kind):
    assert mutations.run(FOUND[kind.name], kind, bases).bad == []


def test_mutation_is_determined_by_its_number(bases, tmp_path):
    for kind in mutations.KINDS:
        one, other = (mutations.case(5, kind, bases, tmp_path) for _ in range(2))
        assert one == other and Path(one.path).read_bytes() == Path(other.path).read_bytes()


@pytest.mark.parametrize("seed", range(5))
def test_mutation_changes_the_input(seed):
    data = bytes(range(256)) * 8
    rng = random.Random(seed)
    assert sum(mutations.changed(data, rng, False, [data[::-1]]) != data for _ in range(20)) >= 15


def test_mutation_run_detects_faults_losses_and_hangs(bases, monkeypatch, tmp_path):
    """A fault, a lost kernel and a hang are each recognised."""
    import ptxaudit
    from ptxaudit.review import audit as pipeline

    kind = mutations.KINDS[1]
    audit = ptxaudit.audit

    def raising(*given, **options):
        raise KeyError("x")

    def losing(*given, **options):
        report = audit(*given, **options)
        return type(report)(report.tool, report.inputs, (), ())

    def hanging(*given, **options):
        while True:
            pass

    monkeypatch.setattr(mutations, "SECONDS", 0.2)
    assert bases.kernels and pipeline
    for instead, ending in ((raising, "fault"), (losing, "lost"), (hanging, "hang")):
        monkeypatch.setattr(ptxaudit, "audit", instead)
        found = mutations.run([3], kind, bases)
        assert [line.rpartition(" ")[2] for line in found.bad] == [ending]
