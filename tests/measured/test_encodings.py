"""Single machine instructions, 7,500 encodings of them, against what an H100 computed (bench/encodings).

They are real instructions of libraries with one or two bits changed: modifiers that hardly any compiler uses are among
them. Whatever the engine knows of a result equals the GPU's, and no register changes that no operation writes.
"""

from __future__ import annotations

import re
from functools import cache

import pytest
from paths import DATA

from bench.encodings.check import differences, kept, lifted

# of each file, the least number of results, by lane, that are known: of what affects registers and predicates alone,
# and of what reads other lanes (shuffles, votes, matches, reductions, predicates as bits), most under a guard
KNOWN = {"encodings_sm90": 190_000, "across_sm90": 53_000}


@cache
def differences_in(file: str):
    befores, found = kept(DATA / f"{file}.npz")
    instructions = lifted([one for _, one in found])
    return [(one, *differences(befores[run], one, each)) for (run, one), each in zip(found, instructions)]


@pytest.mark.parametrize("file", KNOWN)
def test_known_results_of_instructions_equal_the_gpu(file):
    assert not [f"{one.text}: {wrong[0]}" for one, wrong, _, _ in differences_in(file) if wrong]


@pytest.mark.parametrize("file", KNOWN)
def test_most_results_are_known(file):
    assert sum(known for _, _, known, _ in differences_in(file)) >= KNOWN[file]


@pytest.mark.parametrize(
    "text",
    [
        r"HFMA2 R.*UR.*H0_NH1",
        r"FSEL\.FTZ R",
        r"I2F\.S64.* 0x",
        "UCLEA UR",
        r"F2F\.FTZ\.F64\.F32 R",
        r"DADD R\d+, .*R\d+.*R\d+",
        r".*P2R .* 0x[0-9a-f]*[8-f][0-9a-f]$",
    ],
)
def test_forms_that_were_wrong_once_are_among_them(text):
    assert any(re.match(text, one.text) for file in KNOWN for one, _, _, _ in differences_in(file))
