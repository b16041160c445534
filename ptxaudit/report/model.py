"""The report: plain frozen records of the results, and their JSON, `ptxaudit/report/1`.

`schemas/report-1.schema.json` documents every key. Unknown numbers are null; a number whose status is exact is right.
Nothing here computes a figure: `assemble` fills these records from the engine's results, `render` and `diff` read
them.

    Report
      inputs    the inputs, with their sha256 and the toolchain that made them
      kernels   one entry per kernel, instruction set and launch, each with its sites
      problems  inputs that could not be checked, and why
      suppressions  findings that the sources allow, and why
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace

from ptxaudit.base import display
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.words import plural
from ptxaudit.report.counterparts import kernels_once
from ptxaudit.report.entries import (
    Access,
    AnySite,
    Condition,
    Fix,
    Frame,
    Input,
    Kernel,
    LaunchCase,
    Local,
    Loop,
    MemorySite,
    Moved,
    Pairing,
    Pattern,
    Problem,
    Replacement,
    Seen,
    Site,
    Source,
    Span,
    Suppression,
    Tool,
    Trip,
    Why,
    paid,
    totals,
)
from ptxaudit.report.entry import Entry, plain
from ptxaudit.report.kernel_entries import Code, LaunchRecord, Occupancy, Share, Spills, Step, Totals, shape

__all__ = [
    "AGAIN",
    "Access",
    "AnySite",
    "Code",
    "Condition",
    "Entry",
    "Fix",
    "Frame",
    "Input",
    "Kernel",
    "LaunchCase",
    "LaunchRecord",
    "Local",
    "Loop",
    "MemorySite",
    "Moved",
    "Occupancy",
    "Pairing",
    "Pattern",
    "Problem",
    "Replacement",
    "Report",
    "SCHEMA",
    "SCHEMA_FILE",
    "Seen",
    "Share",
    "Site",
    "Source",
    "Span",
    "Spills",
    "Step",
    "Suppression",
    "Tool",
    "Totals",
    "Trip",
    "Why",
    "plain",
    "report_from_dict",
    "shape",
    "totals",
]

SCHEMA = "ptxaudit/report/1"
_NO_KERNELS = '"kernels": []'
SCHEMA_FILE = Path(__file__).parent / "schemas" / "report-1.schema.json"
AGAIN = "write it again with: ptxaudit audit INPUT --format json -o FILE"
_MISSING = re.compile("Object missing required field `(.*?)`(.*)")


class Report(Record):
    """Everything one audit found."""

    tool: Tool
    inputs: tuple[Input, ...]
    kernels: tuple[Kernel, ...]
    problems: tuple[Problem, ...]
    suppressions: tuple[Suppression, ...] = ()

    @property
    def sites(self) -> tuple[Site, ...]:
        """All sites. Raises InputError if no kernel could be audited, as a check of all sites would succeed
        vacuously."""
        if not self.kernels:
            self.raise_for_problems()
        return self.every_site

    @property
    def every_site(self) -> tuple[Site, ...]:
        """All sites, possibly none."""
        return tuple(site for kernel in self.kernels for site in kernel.sites)

    def raise_for_problems(self) -> Report:
        """Returns the report. Raises InputError for the first problem, if there is one."""
        if self.problems:
            problem = self.problems[0]
            more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
            raise InputError(
                problem.what + more, problem.hint, problem.file, problem.line, problem.column, problem.detail
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.to_json(None))
        return data

    def _without_kernels(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "tool": to_builtins(self.tool),
            "inputs": to_builtins(self.inputs),
            "kernels": [],
            "problems": to_builtins(self.problems),
            "suppressions": to_builtins(self.suppressions),
        }

    def to_json(self, indent: int | None = 2) -> str:
        return "".join(self.json_pieces(indent))

    def json_pieces(self, indent: int | None = 2) -> Iterator[str]:
        """The JSON document in pieces, one kernel at a time: a library's report is a hundred megabytes of text."""
        before, _, after = _written(self._without_kernels(), indent).partition(_NO_KERNELS)
        margin = "" if indent is None else "\n" + 2 * indent * " "
        yield before + _NO_KERNELS[:-1]
        for at, kernel in enumerate(self.kernels):
            text = _written(_plain_kernel(kernel), indent)
            yield ("," if indent is not None else ", ") * (at > 0) + margin + text.replace("\n", margin)
        yield ("" if indent is None or not self.kernels else "\n" + indent * " ") + "]" + after + "\n"

    @staticmethod
    def from_dict(data: Any, file: str | None = None) -> Report:
        """The report in a parsed JSON document. Raises InputError if it is not one."""
        return report_from_dict(data, file)

    def __repr__(self) -> str:
        return report_line(self)

    def __str__(self) -> str:
        """A summary that fits on one screen."""
        return display.text("summary", self)

    def _repr_html_(self) -> str:
        html: str = display.html("report_html", self)
        return html


def _plain_kernel(kernel: Kernel) -> dict[str, Any]:
    fields = to_builtins(kernel)
    of_memory = fields.pop("memory")
    return {**fields, "sites": (*fields["sites"], *of_memory), "totals": to_builtins(kernel.totals)}


def _written(value: Any, indent: int | None) -> str:
    """The text that `json.dumps` would write, whose own indentation takes five times as long as the rest."""
    text = json.dumps(value, ensure_ascii=False)
    return text if indent is None else msgspec.json.format(text, indent=indent)


def report_line(report: Report) -> str:
    """ "<Report: 2 kernels, 4 sites, 3,968 excess of 4,480 wavefronts>"."""
    facts = [plural(len(report.kernels), "kernel"), plural(len(report.every_site), "site")]
    sums = [kernel.totals for kernel in kernels_once(report.kernels)]
    facts += paid(sum(one.excess for one in sums), sum(one.wavefronts for one in sums))
    if memory := sum(len(kernel.memory) for kernel in report.kernels):
        facts.append(f"{plural(memory, 'site')} of other memory")
    if report.problems:
        facts.append(plural(len(report.problems), "problem"))
    return f"<Report: {', '.join(facts)}>"


# --- reading ---


def report_from_dict(data: Any, file: str | None = None, what: str = "report") -> Report:
    """The report in a parsed document, which messages call `what`. Raises InputError for another schema or a missing
    key."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema is None:
        raise InputError(f'this is not a ptxaudit {what}: there is no "schema": "{SCHEMA}" in it', AGAIN, file)
    if schema != SCHEMA:
        raise InputError(f'the {what} has schema "{schema}"; this version reads "{SCHEMA}"', AGAIN, file)
    try:
        report = convert(_fields_apart(data), Report)
    except ValidationError as error:
        missing = _MISSING.fullmatch(str(error))
        what_is_wrong = f"there is no '{missing[1]}'{missing[2]}" if missing else str(error)
        raise InputError(f"the {what} does not match its schema: {what_is_wrong}", AGAIN, file) from None
    except RecursionError:
        raise InputError(f"this is not a {what}: it is nested too deeply", AGAIN, file) from None
    kernels = tuple(map(_of_older, report.kernels, data["kernels"]))
    return replace(report, kernels=kernels)


def _fields_apart(data: dict[str, Any]) -> dict[str, Any]:
    """The document with the accesses to global and local memory separate from the sites, as in the records. Values of
    any other form are left for the type check."""
    kernels = data.get("kernels")
    if not isinstance(kernels, list):
        return data
    return {**data, "kernels": [_with_memory(kernel) for kernel in kernels]}


def _with_memory(kernel: Any) -> Any:
    sites = kernel.get("sites") if isinstance(kernel, dict) else None
    if not isinstance(sites, list):
        return kernel
    of_memory = [site for site in sites if not _of_shared(site)]
    return {**kernel, "sites": [site for site in sites if _of_shared(site)], "memory": of_memory}


def _of_shared(site: Any) -> bool:
    return not isinstance(site, dict) or site.get("space", "shared") == "shared"


def _of_older(kernel: Kernel, entry: dict[str, Any]) -> Kernel:
    """Completes a kernel of an older report, which had one figure for k: the one proved."""
    entries = [site for site in entry["sites"] if _of_shared(site)]
    if all("line_class_proved" in site for site in entries):
        return kernel
    known = [site.lines is not None and "line_class_proved" not in of for site, of in zip(kernel.sites, entries)]
    sites = tuple(
        replace(site, line_class_proved=site.line_class_max, lines_proved=site.lines) if older else site
        for site, older in zip(kernel.sites, known)
    )
    return replace(kernel, sites=sites)
