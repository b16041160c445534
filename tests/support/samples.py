"""Reads a folder of `samples/`, and compares a report with its `expect.toml`.

    samples/transpose/transpose.cu    // site: column-load     names a line of the source
    samples/transpose/launch.toml     the launches
    samples/transpose/expect.toml     the expected figures, and the reason

`samples/README.md` describes expect.toml.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from paths import SAMPLES

import ptxaudit
from ptxaudit.frontend.launch.matching import match
from ptxaudit.report.model import Kernel, Report, Site

MARKER = re.compile(r"//\s*site:\s*([\w-]+)\s*$")

SUMS = ("requests", "active_requests", "wavefronts", "ideal", "excess", "lines", "lines_ideal")
LARGEST = ("ways", "line_class_max")
SAME = ("status", "width", "evidence")


@dataclass(frozen=True)
class Expectation:
    """One [[site]] table: the sites it applies to, and the figures they must have.

    at: markers, all of which a site's line or the lines it was inlined at must carry … for a list of markers;
    `sites`/`each`: the number of sites (folded / each by itself); launch: the index of the launch among those of the
    kernel, or None: without launches.
    """

    kernel: str
    at: tuple[str, ...]
    figures: dict[str, Any]
    why: str
    access: str | None = None
    opcode: str | None = None
    isa: str = "ptx"
    machine: str | None = None
    launch: int | None = 0
    sites: int | None = None
    each: int | None = None

    def __str__(self) -> str:
        words = [
            self.isa,
            self.kernel,
            "+".join(self.at),
            self.access,
            self.machine,
            f"launch {self.launch}" if self.launch != 0 else None,
        ]
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Mutation:
    """Edits to the source after which an expectation must fail for every marker in `breaks`."""

    about: str
    edits: tuple[tuple[str, str], ...]
    breaks: tuple[str, ...]
    kernel: str = "*"

    def apply(self, text: str) -> str:
        for old, new in self.edits:
            if old not in text:
                raise ValueError(f"nothing to replace: {old!r}")
            text = text.replace(old, new)
        return text


@dataclass(frozen=True)
class Sample:
    """A folder of samples/."""

    name: str
    source: Path
    about: str
    expectations: tuple[Expectation, ...]
    mutations: tuple[Mutation, ...]
    kernels: tuple[dict[str, Any], ...] = ()
    arch: str = "sm_90"
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def launch_file(self) -> Path:
        return self.source.with_name("launch.toml")


def names() -> list[str]:
    return sorted(folder.name for folder in SAMPLES.iterdir() if (folder / f"{folder.name}.cu").is_file())


@lru_cache
def load(name: str) -> Sample:
    folder = SAMPLES / name
    file = folder / "expect.toml"
    document = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    known = {"about", "arch", "compile", "site", "mutation", "kernel"}
    if unknown := set(document) - known:
        raise ValueError(f"{file}: unknown keys {unknown}")
    return Sample(
        name=name,
        source=folder / f"{name}.cu",
        about=document.get("about", "").strip(),
        expectations=tuple(_expectation(table) for table in document.get("site", ())),
        mutations=tuple(_mutation(table) for table in document.get("mutation", ())),
        kernels=tuple(document.get("kernel", ())),
        arch=document.get("arch", "sm_90"),
        options=document.get("compile", {}),
    )


def _expectation(table: dict[str, Any]) -> Expectation:
    table = dict(table)
    at = table.pop("at")
    launch = table.pop("launch", 0)
    named = {
        key: table.pop(key)
        for key in ("kernel", "access", "opcode", "isa", "machine", "sites", "each", "why")
        if key in table
    }
    unknown = set(table) - {*SUMS, *LARGEST, *SAME, "bounds", "per_request", "trips"}
    if unknown or not table or not named.get("why"):
        raise ValueError(f"[[site]] at {at}: unknown {unknown}, or nothing expected, or no why")
    return Expectation(
        at=(at,) if isinstance(at, str) else tuple(at),
        launch=None if launch == "none" else launch,
        figures=table,
        **named,
    )


def _mutation(table: dict[str, Any]) -> Mutation:
    edits = [(table["replace"], table["with"]), *map(tuple, table.get("and", ()))]
    return Mutation(table["about"], tuple(edits), tuple(table["breaks"]), table.get("kernel", "*"))


# --- reports ------------------------------------------------------------------------------------


def report_of(name: str, isa: str = "ptx", machine: str | None = None, launched: bool = True) -> Report:
    return _report(name, isa, machine, launched)


@cache
def _report(name: str, isa: str, machine: str | None, launched: bool) -> Report:
    sample = load(name)
    return audit(sample, sample.source, isa, machine, launched)


def audit(
    sample: Sample,
    source: Path,
    isa: str = "ptx",
    machine: str | None = None,
    launched: bool = True,
    arch: str | None = None,
    kernels: tuple[str, ...] = (),
) -> Report:
    """arch: another one than the sample's; kernels: patterns of names, one of which must match."""
    launches = ptxaudit.read_launches(sample.launch_file) if launched else ()
    report = ptxaudit.audit(
        source,
        arch=arch or sample.arch,
        isa=isa,
        machine=machine,
        launches=tuple(launches),
        kernels=kernels,
        **sample.options,
    )
    assert not report.problems, report.problems
    return report


def kernels_of(report: Report, expectation: Expectation, sample: Sample) -> list[Kernel]:
    """The report's entries that an expectation applies to: one per kernel, under its launch."""
    found: dict[str, list[Kernel]] = {}
    for kernel in report.kernels:
        if kernel.isa == expectation.isa and fnmatchcase(kernel.name, expectation.kernel):
            found.setdefault(kernel.name, []).append(kernel)
    if expectation.launch is None:
        return [entries[0] for entries in found.values()]
    launches = ptxaudit.read_launches(sample.launch_file)
    for name, entries in found.items():
        assert len(entries) == len(match(launches, name)), f"{name}: a result for each launch"
    return [entries[expectation.launch] for entries in found.values()]


def marked_lines(source: Path) -> dict[str, set[int]]:
    lines: dict[str, set[int]] = {}
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if found := MARKER.search(line):
            lines.setdefault(found[1], set()).add(number)
    return lines


def sites_at(kernel: Kernel, expectation: Expectation, source: Path) -> list[Site]:
    """The sites of a kernel whose own line, or a line they were inlined at, carries each marker."""
    marks = marked_lines(source)
    missing = [mark for mark in expectation.at if mark not in marks]
    assert not missing, f"{source} has no line marked {missing}"
    return [
        site
        for site in kernel.sites
        if (expectation.access is None or site.access == expectation.access)
        and (expectation.opcode is None or fnmatchcase(site.opcode, expectation.opcode))
        and all(lines_of(site, source) & marks[mark] for mark in expectation.at)
    ]


def lines_of(site: Site, source: Path) -> set[int]:
    """The lines of `source` that a site comes from: its own and those of its inline stack."""
    if site.source is None:
        return set()
    places = [(site.source.file, site.source.line), *((frame.file, frame.line) for frame in site.source.inlined)]
    return {line for file, line in places if Path(file).name == source.name}


# --- comparing ----------------------------------------------------------------------------------


def differences(expectation: Expectation, report: Report, sample: Sample, source: Path) -> list[str]:
    """The differences between the report and the expectation, one line each."""
    kernels = kernels_of(report, expectation, sample)
    if not kernels:
        return [f"there is no kernel {expectation.kernel}"]
    wrong: list[str] = []
    for kernel in kernels:
        sites = sites_at(kernel, expectation, source)
        count = expectation.each or expectation.sites
        if not sites or count not in (None, len(sites)):
            wrong.append(f"{kernel.name}: {len(sites)} sites instead of {count or 'one or more'}")
            continue
        groups = [[site] for site in sites] if expectation.each else [reached(sites)]
        for group in groups:
            found = {key: figure(group, key) for key in expectation.figures}
            wrong += [
                f"{kernel.name}: {group[0].opcode} at line {group[0].source.line if group[0].source else '?'}: "
                f"{key} is {found[key]!r}, expected {value!r}" + (f" ({group[0].reason})" if group[0].reason else "")
                for key, value in expectation.figures.items()
                if found[key] != value
            ]
    return wrong


def reached(sites: list[Site]) -> list[Site]:
    """The sites that the launch issues, without an unrolled loop's remainder, for example; all if it issues none."""
    return [site for site in sites if site.status != "unreached"] or sites


def figure(sites: list[Site], key: str) -> Any:
    """One figure for several sites together: a sum, a maximum, or their common value."""
    values = [getattr(site, key) for site in sites]
    if key in SUMS:
        return None if None in values else sum(values)
    if key in LARGEST:
        return None if None in values else max(values)
    if key == "bounds":
        return None if None in values else [sum(low for low, _ in values), sum(high for _, high in values)]
    if key == "per_request":
        return None if None in values else [min(span.low for span in values), max(span.high for span in values)]
    if key == "trips":
        return [[trip.requests, trip.wavefronts, trip.ideal] for trip in values[0]]
    different = list(dict.fromkeys(str(value) if key == "status" else value for value in values))
    return different[0] if len(different) == 1 else different
