"""Single machine instructions, 6,000 encodings of them, against what an H100 computed (bench/encodings).

They are real instructions of libraries with one or two bits changed: modifiers that hardly any compiler uses are among
them. Whatever the engine knows of a result equals the GPU's, and no register changes that no operation writes.
"""

from __future__ import annotations

import re

import pytest
from paths import DATA

from bench.encodings.check import differences, kept, lifted

KEPT = DATA / "encodings_sm90.npz"
KNOWN = 190_000  # results of 32 lanes that are known, at least


@pytest.fixture(scope="module")
def compared():
    befores, found = kept(KEPT)
    instructions = lifted([one for _, one in found])
    return [(one, *differences(befores[run], one, each)) for (run, one), each in zip(found, instructions)]


def test_known_results_of_instructions_equal_the_gpu(compared):
    assert not [f"{one.text}: {wrong[0]}" for one, wrong, _, _ in compared if wrong]


def test_most_results_are_known(compared):
    assert sum(known for _, _, known, _ in compared) >= KNOWN


@pytest.mark.parametrize(
    "text",
    [
        r"HFMA2 R.*UR.*H0_NH1",
        r"FSEL\.FTZ R",
        r"I2F\.S64.* 0x",
        "UCLEA UR",
        r"F2F\.FTZ\.F64\.F32 R",
        r"DADD R\d+, .*R\d+.*R\d+",
    ],
)
def test_forms_that_were_wrong_once_are_among_them(compared, text):
    assert any(re.match(text, one.text) for one, _, _, _ in compared)
