"""Audits of recorded programs, compared site by site with a profiler's counts of the same run.

tests/data/recorded_sm90 has both, bench/recorded the programs and the command that measures them again.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from paths import DATA, ROOT

import ptxaudit
from bench.archives import unpack
from ptxaudit.review.compare import Verdict
from ptxaudit.review.ncu_csv import read_profiles
from ptxaudit.review.profiles import Compared, compare_all
from ptxaudit.ui.cli import main

KEPT = DATA / "recorded_sm90"
# (launches, sites whose requests and wavefronts equal the counted ones, sites whose wavefronts no counter has)
FOUND = {
    "triton": (15, 234, 72),
    "gluon": (28, 478, 0),
    "core": (6, 60, 0),
    "cupy": (10, 26, 0),
    "numba": (8, 50, 0),
    "pycuda": (5, 10, 0),
    "native": (7, 15, 0),
}
PAGES = ("source.csv", "raw.csv")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    @cache
    def folder(name: str) -> Path:
        out = tmp_path_factory.mktemp(name)
        unpack(KEPT / f"{name}.tar.xz", out)
        return out

    return folder


@pytest.fixture(scope="module")
def compared(unpacked):
    @cache
    def comparison(name: str) -> Compared:
        report = ptxaudit.audit(unpacked(name))
        assert not report.problems
        return compare_all(report, read_profiles([str(unpacked(name) / page) for page in PAGES]))

    return comparison


def test_every_archive_of_recordings_is_compared():
    assert {path.name.removesuffix(".tar.xz") for path in KEPT.glob("*.tar.xz")} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_recorded_sites_equal_the_counters_of_the_same_run(compared, name):
    launches, equal, uncounted = FOUND[name]
    found = compared(name)
    rows = [(one.kernel, row) for one in found.comparisons for row in one.rows]
    assert Counter(row.verdict for _, row in rows) == +Counter({Verdict.EQUAL: equal, Verdict.REQUESTS: uncounted})
    assert all(".BYPASS" in row.site.opcode for _, row in rows if row.verdict is Verdict.REQUESTS)
    assert len(found.comparisons) == launches and not (found.problems or found.unaudited or found.unprofiled)


@pytest.mark.parametrize("name", FOUND)
def test_launch_counters_equal_the_sums_of_the_sites(compared, name):
    totals = [total for one in compared(name).comparisons for total in one.totals]
    assert totals and all(total.counted == total.low == total.high for total in totals)


@pytest.mark.parametrize("name", FOUND)
def test_launches_are_recorded_as_often_as_profiled(compared, name):
    """No two recorded launches can be confused: they differ in name, shape or code."""
    profiled = Counter(id(one.kernel) for one in compared(name).comparisons)
    kernels = {id(one.kernel): one.kernel for one in compared(name).comparisons}
    for key, kernel in kernels.items():
        assert kernel.notes[0].startswith(f"launched {profiled[key]} time"), kernel.name
    codes = [
        (kernel.name, kernel.launch.grid, kernel.launch.block, *((site.offset, site.text) for site in kernel.sites))
        for kernel in kernels.values()
    ]
    assert len(set(codes)) == len(codes)


def test_data_dependent_sites_are_exact_with_recorded_arrays(compared):
    (one,) = [one for one in compared("triton").comparisons if one.kernel.name == "count"]
    atomics = [row for row in one.rows if row.site.access == "atomic"]
    assert atomics and all(str(row.site.status) == "exact" and row.site.excess for row in atomics)


def test_recorded_sites_are_located_in_the_python_program(compared):
    text = (ROOT / "bench" / "recorded" / "triton_program.py").read_text().splitlines()
    sites = [(one.kernel.name, site) for one in compared("triton").comparisons for site in one.kernel.sites]
    lines = {(name, site.source.line) for name, site in sites if site.source.file.endswith("triton_program.py")}
    turned = text.index("    tl.store(y + j[:, None] * n + i[None, :], tl.trans(tile))") + 1
    assert {line for name, line in lines if name == "transpose"} == {turned}
    assert all(text[line - 1].startswith("    ") for _, line in lines) and len(lines) > 12


def test_compare_command_accepts_a_recording(unpacked, tmp_path):
    folder, report = unpacked("core"), tmp_path / "report.json"
    CliRunner().invoke(main, ["audit", str(folder), "--no-config", "--format", "json", "-o", str(report)])
    done = CliRunner().invoke(main, ["compare", str(report), *(str(folder / page) for page in PAGES)])
    assert done.exit_code == 0, done.output
    assert "60" in done.output


@pytest.mark.parametrize("name", FOUND)
def test_readme_names_the_measured_device(unpacked, name):
    facts = json.loads((unpacked(name) / "facts.json").read_text())
    page = (KEPT / "README.md").read_text()
    device, driver, profiler = facts["device"].split(", ")[:3]
    assert device in page and driver.split()[1] in page and profiler in page
    assert all(word in facts["command"] for word in ("ncu ", " ptxaudit record ", f"{name}_program"))
    assert facts["packages"]
    assert list((ROOT / "bench" / "recorded").glob(f"{name}_program.*"))
