"""Single instructions that access shared memory, against what an H100 did (bench/shared_encodings).

They are instructions that ptxas emits, with one or two bits of their modifiers changed, other registers, offsets and
guards: each has left registers and shared memory as the GPU did, wherever the engine knows them, and takes as many
wavefronts as Nsight Compute counts.
"""

from __future__ import annotations

from collections import Counter

import pytest
from paths import DATA

from bench.shared_encodings.kept import compared

KEPT = DATA / "shared_encodings_sm90.npz"
KNOWN, COUNTED = 3_300, 1_850  # registers, with shared memory, and instructions with one number of wavefronts, at least


@pytest.fixture(scope="module")
def found():
    return list(compared(KEPT))


def test_registers_memory_and_wavefronts_are_those_of_the_gpu(found):
    assert not [f"{text}: {', '.join(wrong)}" for text, wrong, _, _ in found if wrong]


def test_most_results_and_most_costs_are_known(found):
    assert sum(known for _, _, known, _ in found) >= KNOWN
    assert sum(counted for *_, counted in found) >= COUNTED


@pytest.mark.parametrize("opcode", ["LDS", "STS", "ATOMS", "LDSM", "STSM"])
def test_every_kind_of_access_is_among_them(found, opcode):
    kinds = Counter(word.partition(".")[0] for text, *_ in found for word in text.split()[:2])
    assert kinds[opcode] >= 200
