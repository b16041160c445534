"""Every sample through the whole pipeline, compared with its expectations and their mutations."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

import samples
from ptxaudit.report.model import Report

NAMES = samples.names()
CASES = [(name, expectation) for name in NAMES for expectation in samples.load(name).expectations]
MUTATIONS = [(name, mutation) for name in NAMES for mutation in samples.load(name).mutations]

# Accesses that must always have a figure. Bulk copies, wgmma and the like are listed unscored, and the cost of a
# request to another block of the cluster was never measured.
SCORED = ("load", "store", "atomic", "ldmatrix", "stmatrix")


@pytest.mark.parametrize(("name", "expectation"), CASES, ids=[f"{name}: {expectation}" for name, expectation in CASES])
def test_sample_sites_are_as_expected(name: str, expectation: samples.Expectation) -> None:
    sample = samples.load(name)
    report = samples.report_of(name, expectation.isa, expectation.machine, expectation.launch is not None)
    assert samples.differences(expectation, report, sample, sample.source) == [], expectation.why


@pytest.mark.parametrize(
    ("name", "mutation"), MUTATIONS, ids=[f"{name}: {mutation.about}" for name, mutation in MUTATIONS]
)
def test_mutated_sample_breaks_its_expectation(name: str, mutation: samples.Mutation, tmp_path: Path) -> None:
    sample = samples.load(name)
    source = tmp_path / sample.source.name
    source.write_text(mutation.apply(sample.source.read_text(encoding="utf-8")), encoding="utf-8")
    virtual = sample.arch.replace("sm_", "compute_")  # no machine code, which nothing would use

    @cache
    def report(kernel: str, machine: str | None, launched: bool) -> Report:
        return samples.audit(sample, source, "ptx", machine, launched, virtual, (kernel,))

    for mark in mutation.breaks:
        about = [
            expectation
            for expectation in sample.expectations
            if mark in expectation.at and expectation.isa == "ptx" and mutation.kernel in ("*", expectation.kernel)
        ]
        assert about, f"no expectation for {mark}"
        assert any(
            samples.differences(one, report(one.kernel, one.machine, one.launch is not None), sample, source)
            for one in about
        ), f"{mark}: still as expected with {mutation.about}"


@pytest.mark.parametrize("name", NAMES)
def test_sample_with_its_launches_has_no_unknown_site(name: str) -> None:
    unknown = unknown_sites(name, launched=True)
    assert unknown == []


@pytest.mark.parametrize("name", NAMES)
def test_sample_without_launches_has_no_unknown_site(name: str) -> None:
    assert unknown_sites(name, launched=False) == []


def unknown_sites(name: str, launched: bool) -> list[str]:
    return [
        f"{kernel.name}: {site.opcode} at line {site.source.line if site.source else '?'}: {site.reason}"
        for kernel in samples.report_of(name, launched=launched).kernels
        for site in kernel.sites
        if site.access in SCORED and "::cluster" not in site.opcode and site.status == "unknown"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_kernel_has_a_launch(name: str) -> None:
    for kernel in samples.report_of(name).kernels:
        assert kernel.launch is not None, f"{kernel.name} has no launch in {samples.load(name).launch_file}"


@pytest.mark.parametrize("name", NAMES)
def test_markers_of_expectations_exist_in_the_source(name: str) -> None:
    """A misspelled marker in an expectation cannot hide a site."""
    sample = samples.load(name)
    marks = samples.marked_lines(sample.source)
    named = {mark for expectation in sample.expectations for mark in expectation.at}
    assert named <= set(marks)


@pytest.mark.parametrize("name", NAMES)
def test_static_shared_memory_is_reported(name: str) -> None:
    sample = samples.load(name)
    sizes = {kernel.name: kernel.shared_static for kernel in samples.report_of(name).kernels}
    for table in sample.kernels:
        assert sizes[table["name"]] == table["shared_static"]


def test_every_sample_has_a_mutation() -> None:
    """Each sample must detect a changed pitch, or an equivalent change."""
    assert [name for name in NAMES if not samples.load(name).mutations] == []


def test_every_sample_has_a_description() -> None:
    assert [name for name in NAMES if not samples.load(name).about] == []


def test_comparison_detects_a_wrong_figure(tmp_path: Path) -> None:
    """Tests the comparison itself: another figure, another number of sites, no such site."""
    sample = samples.load("basic")
    source = tmp_path / "basic.cu"
    shutil.copy(sample.source, source)
    report = samples.report_of("basic")
    right = samples.Expectation("column", ("column-store",), {"wavefronts": 32}, "rows of 32 words")
    assert samples.differences(right, report, sample, source) == []
    for wrong in (
        samples.Expectation("column", ("column-store",), {"wavefronts": 31}, ""),
        samples.Expectation("column", ("column-store",), {"wavefronts": 32}, "", sites=2),
        samples.Expectation("column", ("column-store",), {"wavefronts": 32}, "", access="load"),
        samples.Expectation("missing", ("column-store",), {"wavefronts": 32}, ""),
    ):
        assert samples.differences(wrong, report, sample, source) != []
