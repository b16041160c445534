"""The ratchet: a file of the known figures, so that only what is new or worse fails.

    baseline  k.cu:14 load excess 992      report  k.cu:17 load excess 992     known: the line moved
                                                   k.cu:20 store excess 31     new: denied

A baseline has the figures of a report without anything that changes from build to build: no offsets, no instruction
texts; one line per site, for version control. Sites are matched as `diff` matches them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.words import interval, number, plural
from ptxaudit.ir.reasons import Kind
from ptxaudit.report.model import AnySite, Kernel, Report, Site, plain
from ptxaudit.report.reader import json_of, report_from_dict
from ptxaudit.report.shown import shown
from ptxaudit.review.diff.reports import Change, Diff, KernelDiff, Verdict, diff_reports
from ptxaudit.review.figures import Judgement, above_ideal, of_tried_shapes, total_above_ideal
from ptxaudit.review.findings import CONFLICTS, Finding
from ptxaudit.review.rules import find

SCHEMA = "ptxaudit/baseline/1"
AGAIN = "write it again with: ptxaudit baseline update FILE INPUT..."

# The fields of a site that diff and the rules compare; absent fields are null, as in a report. Of `why`, the file has
# only that figures are those of the block shapes that are tried.
_SITE = (
    "id",
    "opcode",
    "access",
    "width",
    "status",
    "requests",
    "active_requests",
    "wavefronts",
    "ideal",
    "excess",
    "ways",
    "bounds",
    "per_request",
    "ideal_per_request",
    "excess_per_request",
    "line_class_max",
    "line_class_proved",
    "lines",
    "lines_proved",
    "lines_ideal",
    "consecutive",
)
# The fields of an access to global or local memory.
_MEMORY = (
    "id",
    "space",
    "opcode",
    "access",
    "width",
    "status",
    "requests",
    "active_requests",
    "sectors",
    "sectors_ideal",
    "sectors_excess",
    "tag_requests",
    "bounds",
    "per_request",
    "ideal_per_request",
    "excess_per_request",
    "same_address",
    "misaligned",
    "aligned",
    "vector",
    "kind",
    "consecutive",
)
_PLACELESS: dict[str, Any] = {
    "offset": None,
    "ptx_line": None,
    "text": "",
    "reason": "",
    "reason_kind": "",
    "why": None,
    "cause": "",
    "evidence": "by rule",
    "formula": "",
    "conditions": [],
    "trips": [],
    "source": None,
}
_EMPTY = _PLACELESS | {"pairs_with": None} | dict.fromkeys(_SITE)
_EMPTY_MEMORY = _PLACELESS | dict.fromkeys(_MEMORY)
SITE, KERNEL = 0, 1  # indices into the result of `rules_of`
_KERNEL = (
    "name",
    "demangled",
    "isa",
    "arch",
    "machine",
    "input",
    "launch",
    "shared_static",
    "registers",
    "instructions",
    "stack",
    "spills",
    "occupancy",
    "spaces",
)


# --- the file -------------------------------------------------------------------------------


def baseline_json(report: Report) -> str:
    """The text of a baseline file: one line per site, with the rules that have a certain finding there ("rules") and
    those that have a possible or unknown one ("open"). Accesses to global and local memory are under "memory"."""
    findings = find(report)
    certain, possible = (rules_of(f for f in findings if f.certain is sure) for sure in (True, False))
    found: Callable[[int, object], dict[str, list[str]]] = lambda kind, of: {
        "rules": certain[kind][id(of)],
        "open": possible[kind][id(of)],
    }
    kernels = []
    for kernel in report.kernels:
        head = {name: plain(getattr(kernel, name)) for name in _KERNEL} | found(KERNEL, kernel)
        head["input"] = _portable(kernel.input)
        if head["occupancy"]:
            del head["occupancy"]["steps"]
        local = [{"by": a.by, "opcode": a.opcode, "source": _source(a.source)} for a in kernel.local]
        parts = [json.dumps(head, ensure_ascii=False)[1:-1], f'"local": {json.dumps(local, ensure_ascii=False)}']
        for name, sites in (("memory", kernel.memory), ("sites", kernel.sites)):
            lines = (json.dumps(_site_dict(site) | found(SITE, site), ensure_ascii=False) for site in sites)
            if sites or name == "sites":
                parts.append(f'"{name}": [\n' + ",\n".join(f"      {line}" for line in lines) + "\n     ]")
        kernels.append("    {" + ",\n     ".join(parts) + "}")
    body = ",\n".join(kernels)
    return f'{{"schema": "{SCHEMA}", "tool": {json.dumps(plain(report.tool))},\n  "kernels": [\n{body}\n  ]}}\n'


def rules_of(findings: Iterable[Finding]) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """The rules with findings, by the id() of the site; and by that of the kernel for findings without a site."""
    of_site: dict[int, list[str]] = defaultdict(list)
    of_kernel: dict[int, list[str]] = defaultdict(list)
    for finding in findings:
        if finding.site is None:
            of_kernel[id(finding.kernel)].append(finding.rule)
        elif finding.rule not in of_site[id(finding.site)]:
            of_site[id(finding.site)].append(finding.rule)
    return of_site, of_kernel


def _site_dict(site: AnySite) -> dict[str, Any]:
    names = _SITE if isinstance(site, Site) else _MEMORY
    known = {name: plain(getattr(site, name)) for name in names if getattr(site, name) is not None}
    tried = {"why": {"kind": Kind.BY_SHAPE.text, "data": False}} if of_tried_shapes(site) else {}
    return {"source": _source(site.source), **known, **tried}


def _portable(path: str) -> str:
    """A path that is the same on other machines: unchanged if relative, else its last part."""
    file = PurePath(path)
    return file.name if file.is_absolute() else file.as_posix()


def _same_file(one: str, other: str) -> bool:
    """One path is a suffix of the other."""
    a, b = PurePath(one).parts, PurePath(other).parts
    shorter = min(len(a), len(b))
    return a[-shorter:] == b[-shorter:]


def _source(source: Any) -> dict[str, Any] | None:
    """A position with base names, as folders differ between machines."""
    if source is None:
        return None
    fields: dict[str, Any] = plain(source)
    for place in (fields, *fields["inlined"]):
        place["file"] = PurePath(place["file"]).name
    return fields


class Baseline(Record):
    """The content of a file. site_rules: the rules with certain findings, by kernel and access; kernel_rules: those
    of kernels, for no particular site; site_open, kernel_open: the rules with other findings."""

    report: Report
    site_rules: tuple[tuple[tuple[str, ...], ...], ...]
    kernel_rules: tuple[tuple[str, ...], ...]
    site_open: tuple[tuple[tuple[str, ...], ...], ...]
    kernel_open: tuple[tuple[str, ...], ...]


def read_baseline(path: str | Path) -> Baseline:
    """Reads a baseline file. Raises InputError for another schema, or a truncated file."""
    file = str(path)
    try:
        data = json_of(files.read_bytes(path, limits.DOCUMENT))
    except OSError as error:
        raise InputError(
            f"cannot read the baseline: {error.strerror}",
            "check the path, or write one with: ptxaudit baseline update FILE INPUT...",
            file,
        ) from None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise InputError("the baseline is not valid JSON: it was truncated or edited", AGAIN, file, line) from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        what = f'the baseline has schema "{schema}"' if schema else "this is not a ptxaudit baseline"
        raise InputError(f'{what}; this version reads "{SCHEMA}"', AGAIN, file)
    try:
        given, keys = data["kernels"], ("rules", "open")
        site_rules, site_open = (
            tuple(tuple(_rules(site, key) for site in _accesses(kernel)) for kernel in given) for key in keys
        )
        kernel_rules, kernel_open = (tuple(_rules(kernel, key) for kernel in given) for key in keys)
        kernels = [_whole(kernel) for kernel in data["kernels"]]
        document = {
            "schema": "ptxaudit/report/1",
            "tool": data["tool"],
            "inputs": [],
            "problems": [],
            "kernels": kernels,
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"the baseline does not match its schema: {error}", AGAIN, file) from None
    try:
        whole = shown(report_from_dict(document, file, "baseline"))
        return Baseline(whole, site_rules, kernel_rules, site_open, kernel_open)
    except InputError as error:
        raise InputError(error.what, AGAIN, file) from None


def _accesses(kernel: dict[str, Any]) -> list[dict[str, Any]]:
    """In the order of `Kernel.accesses`."""
    return [*kernel["sites"], *kernel.get("memory", ())]


def _rules(entry: dict[str, Any], key: str) -> tuple[str, ...]:
    """Removes and returns the rules of a site or a kernel; older files do not record the open ones."""
    found = entry.pop(key) if key == "rules" else entry.pop(key, [])
    if not all(isinstance(rule, str) for rule in found):
        raise ValueError("rules are no strings")
    return tuple(found)


def _whole(kernel: dict[str, Any]) -> dict[str, Any]:
    """A baseline's kernel in the form that a report has."""
    sites = [
        *(_EMPTY | site for site in kernel["sites"]),
        *(_EMPTY_MEMORY | site for site in kernel.pop("memory", ())),
    ]
    local = [{"text": "", "offset": None, "ptx_line": None} | access for access in kernel["local"]]
    return {"assumed": [], "notes": []} | kernel | {"sites": sites, "local": local}


# --- the ratchet ----------------------------------------------------------------------------


def _looked_at(report: Report) -> set[str]:
    return {space for kernel in report.kernels for space in kernel.spaces}


class Stale(Record):
    """A site of the baseline whose conflict is gone or has become smaller."""

    kernel: Kernel
    site: AnySite
    what: str


class Ratchet(Record, dict=True):
    """A report compared with its baseline."""

    diff: Diff
    of_sites: frozenset[tuple[str, int]]  # (rule, id() of a site of the baseline)
    open_sites: frozenset[tuple[str, int]]  # … for those that could not be judged there
    of_kernels: Counter[tuple[int, str]]  # id() of a kernel of the baseline, rule
    open_kernels: Counter[tuple[int, str]]
    inputs: tuple[str, ...]  # what was audited
    isas: frozenset[str]  # its instruction sets
    whole: bool = True  # all kernels of the inputs were audited

    @staticmethod
    def of(baseline: Baseline, report: Report, whole: bool = True) -> Ratchet:
        """Compares a report with a baseline. Raises InputError if their instruction sets differ, or if the report
        covers memories that the baseline does not."""
        old = baseline.report.kernels
        of_sites, open_sites = (_by_site(old, found) for found in (baseline.site_rules, baseline.site_open))
        proved = frozenset(key for key, site in of_sites.items() if key[0] not in CONFLICTS or above_ideal(site)[0] > 0)
        left = frozenset((*open_sites, *(of_sites.keys() - proved)))  # older files do not separate the two
        of_kernels, open_kernels = (
            Counter((id(kernel), rule) for kernel, found in zip(old, rules, strict=True) for rule in found)
            for rules in (baseline.kernel_rules, baseline.kernel_open)
        )
        inputs = tuple(entry.path for entry in report.inputs)
        isas = frozenset(kernel.isa for kernel in report.kernels)
        if isas and old and not isas & {kernel.isa for kernel in old}:
            known, now = ("PTX", "machine code") if "sass" in isas else ("machine code", "PTX")
            raise InputError(
                f"the baseline is for {known}, this audit for {now}: they cannot be compared",
                "audit with the --isa that the baseline was written with, or write it again",
            )
        if report.kernels and old and (unknown := _looked_at(report) - _looked_at(baseline.report)):
            raise InputError(
                f"this audit covers {' and '.join(sorted(unknown))} memory, which the baseline does not cover",
                "write it again with the same --space, or audit without it",
            )
        changes = diff_reports(baseline.report, report)
        return Ratchet(changes, proved, left, of_kernels, open_kernels, inputs, isas, whole)

    def is_open(self, site: AnySite, judged: Judgement, of: Callable[[Any], Judgement]) -> bool:
        """Whether a limit may deny the site: it is new or worse, or its judgement was better in the baseline. of:
        judges a site by the limit."""
        change = self._changes.get(id(site))
        if change is None or change.verdict in (Verdict.NEW, Verdict.WORSE):
            return True
        before = {of(old) for old in change.olds}
        return Judgement.VIOLATED not in before and (judged is Judgement.VIOLATED or Judgement.OPEN not in before)

    def total_grew(self, kernel: Kernel) -> str:
        """How a kernel's excess has grown, or that the kernel is new; "" if neither."""
        entry = self._entries.get(id(kernel))
        if entry is None or entry.old is None:
            return "not in the baseline"
        if entry.comparable:
            before = entry.old.totals.excess
            return f"{number(before)} in the baseline" if kernel.totals.excess > before else ""
        return (
            "more than in the baseline"
            if any(change.verdict in (Verdict.NEW, Verdict.WORSE) for change in entry.changes)
            else ""
        )

    def knows(self, finding: Finding) -> bool:
        """Whether the baseline has the same finding, for the same site and at least as certain: a finding that it
        could not judge does not cover a certain one."""
        if finding.site is None:
            key = finding.kernel is not None and (self._old_kernel(finding.kernel), finding.rule)
            return key is not False and (self.of_kernels[key] > 0 or not finding.certain and self.open_kernels[key] > 0)
        change = self._changes.get(id(finding.site))
        if change is None:
            return False
        if finding.certain and change.verdict in (Verdict.NEW, Verdict.WORSE):
            return False
        known = self.of_sites if finding.certain else self.of_sites | self.open_sites
        return any((finding.rule, id(old)) in known for old in change.olds)

    def holds(self, kernel: Kernel, figure: Callable[[Kernel], float | None], less_is_worse: bool) -> bool:
        """Whether a figure of a kernel is no worse than it was."""
        entry = self._entries.get(id(kernel))
        before, now = None if entry is None or entry.old is None else figure(entry.old), figure(kernel)
        if before is None or now is None:
            return entry is not None and entry.old is not None and before is now
        return now >= before if less_is_worse else now <= before

    def worse(self) -> Iterator[tuple[Kernel, AnySite, str, bool]]:
        """(kernel, site, what, certain) of each site that is worse than the baseline, or new and not ideal."""
        for entry in self.diff.kernels:
            if entry.new is None:
                continue
            for change in entry.every:
                for site in change.news:
                    if (found := _worse(change, site)) is not None:
                        yield entry.new, site, *found

    def stale(self) -> list[Stale]:
        """Entries of the baseline with more excess than there is now, for inputs that were audited."""
        found = []
        for entry in self.diff.kernels:
            if entry.old is None or entry.new is None and not self._audited(entry.old):
                continue
            for change in entry.every:
                if change.old is not None and (what := _less(change)):
                    found.append(Stale(entry.old, change.old, what))
        return found

    def _audited(self, kernel: Kernel) -> bool:
        """Whether a kernel of the baseline would be in the report if it still existed."""
        return self.whole and kernel.isa in self.isas and any(_same_file(kernel.input, path) for path in self.inputs)

    @cached_property
    def _changes(self) -> dict[int, Change]:
        return {id(site): change for entry in self.diff.kernels for change in entry.every for site in change.news}

    @cached_property
    def _entries(self) -> dict[int, KernelDiff]:
        return {id(entry.new): entry for entry in self.diff.kernels if entry.new is not None}

    @cached_property
    def _partners(self) -> dict[int, int]:
        partners: dict[int, int] = defaultdict(int)
        partners.update({id(entry.new): id(entry.old) for entry in self.diff.kernels if entry.new and entry.old})
        return partners

    def _old_kernel(self, kernel: Kernel) -> int:
        return self._partners[id(kernel)]


def _by_site(
    kernels: tuple[Kernel, ...], rules: tuple[tuple[tuple[str, ...], ...], ...]
) -> dict[tuple[str, int], AnySite]:
    """(rule, id() of a site) -> the site. rules: by kernel and site."""
    return {
        (rule, id(site)): site
        for kernel, sites in zip(kernels, rules, strict=True)
        for site, found in zip(kernel.accesses, sites, strict=True)
        for rule in found
    }


def _worse(change: Change, site: AnySite) -> tuple[str, bool] | None:
    """A sentence about a site, and whether it is certain; None if it is no worse."""
    low, high = above_ideal(site)
    if change.verdict is Verdict.WORSE:
        return f"worse than the baseline: {_figure(change.old)} → {_figure(change.new)}", True
    if change.verdict is Verdict.NEW and high != 0:
        return (
            (f"not in the baseline: {_figure(site)}", True)
            if low > 0
            else (f"not in the baseline, and may conflict: {_figure(site)}", False)
        )
    if change.verdict is Verdict.STATUS_CHANGED and low > 0 and all(above_ideal(old)[0] == 0 for old in change.olds):
        return f"not known to conflict in the baseline: {_figure(change.old)} → {_figure(change.new)}", True
    if change.verdict is Verdict.STATUS_CHANGED and high != 0:
        return f"cannot be compared with the baseline: {_figure(change.old)} → {_figure(change.new)}", False
    return None


def _less(change: Change) -> str:
    """Why an entry is stale; "" if it is not."""
    old, new = change.old, change.new
    assert old is not None
    had = total_above_ideal(old)[0] > 0 or above_ideal(old)[0] > 0
    if not had:
        return ""
    if new is None:
        return f"{_figure(old)} → gone"
    return f"{_figure(old)} → {_figure(new)}" if change.verdict is Verdict.BETTER else ""


def _figure(site: AnySite | None) -> str:
    """ "excess 992", "excess 1–7 per request", "k = 4", or the status."""
    if site is None:
        return "nothing"
    if site.wasted is not None:
        unit = "wavefront" if isinstance(site, Site) else "sector"
        same = "" if site.wasted or site.paid is None else f" ({plural(site.paid, unit)})"
        return f"excess {number(site.wasted)}{same}"
    if site.excess_per_request is not None:
        return f"excess {interval(site.excess_per_request.low, site.excess_per_request.high)} per request"
    if isinstance(site, Site) and site.line_class_max is not None:
        return f"k = {site.line_class_max}"
    return "excess 0" if site.status is Status.UNREACHED else str(site.status)
