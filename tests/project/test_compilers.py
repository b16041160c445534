"""docs/compilers.md is the output of its script: one sample is recomputed, and the format of the rest checked."""

from __future__ import annotations

import re

import pytest
from paths import ROOT

from bench import compilers
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import toolchain_fetch, toolchains

PAGE = ROOT / "docs" / "compilers.md"
TEXT = PAGE.read_text(encoding="utf-8")
AGAIN = "transpose"
ROWS = dict(re.findall(r"^\| (\w+) \| (.*) \|$", TEXT, re.MULTILINE)[1:])


@pytest.fixture(scope="module")
def again():
    """The page for one sample, computed now."""
    try:
        for release in compilers.OLDER:
            toolchain_fetch.ensure("nvrtc", release, say=lambda sentence: None)
    except InputError as error:
        if "could not be downloaded" in error.what:
            pytest.skip(str(error))
        raise
    return compilers.page([AGAIN])


def test_recomputed_sample_equals_the_compilers_page(again):
    found = dict(re.findall(r"^\| (\w+) \| (.*) \|$", again, re.MULTILINE)[1:])
    if f"and {toolchains.get('nvrtc').version} for" in TEXT:
        assert found[AGAIN] == ROWS[AGAIN]
    else:  # computed with another release than the one installed
        assert found[AGAIN].split(" | ")[0] == ROWS[AGAIN].split(" | ")[0]
    assert again.startswith("# What a compiler upgrade changes")


def test_compilers_page_lists_the_samples():
    names = {sample.name for sample in compilers.samples([])}
    assert set(ROWS) <= names and len(ROWS) >= 0.9 * len(names)
    assert {name.split(":")[0] for name in re.findall(r"^## (.*)$", TEXT, re.MULTILINE)} <= set(ROWS)


def test_compilers_page_sums_equal_its_table():
    pairs, said = re.search(r"^Of ([\d,]+) pairs of sites: (.*)\.$", TEXT, re.MULTILINE).groups()
    cells = [cell.split("; ")[-1] for row in ROWS.values() for cell in row.split(" | ")]
    counts = [
        pair for cell in cells if re.search(r"\d same\b", cell) for pair in re.findall(r"([\d,]*\d) ([a-z-]+)", cell)
    ]
    for count, verdict in re.findall(r"([\d,]*\d) ([a-z-]+)", said):
        assert sum(int(number.replace(",", "")) for number, name in counts if name == verdict) == int(
            count.replace(",", "")
        ), verdict
    assert sum(int(count.replace(",", "")) for count, _ in re.findall(r"([\d,]*\d) ([a-z-]+)", said)) == int(
        pairs.replace(",", "")
    )


def test_long_diff_is_cut_after_its_summary():
    text = "\n".join(["9 sites: 9 worse", "in total: excess 0 → 9 (+9)", "", *(f"  line {n}" for n in range(100))])
    cut = compilers.cut(text).splitlines()
    assert len(cut) == compilers.MOST_LINES + 1 and cut[:2] == ["9 sites: 9 worse", "in total: excess 0 → 9 (+9)"]
    assert cut[-1] == f"… {103 - compilers.MOST_LINES} more lines"
