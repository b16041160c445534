"""The input of the formats for other programs: a report with its findings, folded and compared with a baseline.

    Checked(report)  ──results──▶  Result(rule, level, message, place, fingerprint, …), worst first

Everything is derived from the report, and from the baseline if there is one: a format is a pure function of a
`Checked`.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ptxaudit.base.places import base_name
from ptxaudit.base.records import Record
from ptxaudit.report.model import Frame, Report, Source, Suppression
from ptxaudit.report.paths import below, is_own, own_place
from ptxaudit.review.findings import Certainty, Finding, Folded, Place, fold, stale_suppressions
from ptxaudit.review.rules import RULES, Level, Rule, find
from ptxaudit.ui.render.view import View, marked

if TYPE_CHECKING:
    from ptxaudit.review.baseline import Ratchet

State = Literal["new", "unchanged"]

_GRAVE_FIRST: tuple[Level, ...] = ("error", "warning", "note")


class Result(Record):
    """One folded finding.

    level: the rule's if the finding is certain, otherwise "note"; file: relative to the root; state: compared with
    the baseline, None without one; fingerprint: unchanged if lines move.
    """

    rule: Rule
    level: Level
    message: str
    file: str
    place: Place
    folded: Folded
    fingerprint: str
    state: State | None = None

    @property
    def finding(self) -> Finding:
        return self.folded.finding

    @property
    def allowed(self) -> Suppression | None:
        return self.finding.allowed

    @property
    def source(self) -> Source | None:
        return self.finding.source or (self.finding.site.source if self.finding.site else None)


class Checked(Record, dict=True):
    """A report with its findings.

    root: the folder that paths are relative to; ratchet: the report compared with its baseline; ignore: ids of the
    rules whose findings are hidden; whole: all kernels of the inputs were audited.
    """

    report: Report
    root: str | None = None
    ratchet: Ratchet | None = None
    ignore: frozenset[str] = frozenset()
    whole: bool = True

    @cached_property
    def all_findings(self) -> tuple[Finding, ...]:
        return find(self.report)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.all_findings if finding.rule not in self.ignore)

    def place_of(self, source: Source) -> Source | Frame:
        """Where a finding is shown.

        This is the access's own line; for an access in a foreign header, the innermost line of the project that it is
        inlined at.
        """
        return next(
            (place for place in source.places if place.file in self._inputs or is_own(place.file, self.root)),
            own_place(source),
        )

    @cached_property
    def _inputs(self) -> frozenset[str]:
        return frozenset(entry.path for entry in self.report.inputs) | frozenset(
            os.path.abspath(entry.path) for entry in self.report.inputs
        )

    @cached_property
    def stale_suppressions(self) -> tuple[Suppression, ...]:
        """The suppressions that no longer match anything, if all kernels were audited."""
        return stale_suppressions(self.report, self.all_findings) if self.whole else ()

    @cached_property
    def results(self) -> list[Result]:
        """The findings that are not unknown, the gravest and costliest first."""
        known = (finding for finding in self.findings if finding.certainty is not Certainty.UNKNOWN)
        folded = fold(known, self._state)
        prints = fingerprints(folded)
        results = [self._result(one, printed) for one, printed in zip(folded, prints, strict=True)]
        return sorted(results, key=lambda result: (_GRAVE_FIRST.index(result.level), -result.folded.weight))

    @cached_property
    def open_results(self) -> list[Result]:
        """The results that no comment allows and no baseline contains."""
        return [result for result in self.results if result.allowed is None and result.state != "unchanged"]

    def view(self, width: int | None = None, full: bool = True, top: int | None = None) -> View:
        """The options of the text format, with the rules that have findings; see `View`."""
        marks, rules, first = marked(tuple(f for f in self.findings if f.certainty is not Certainty.UNKNOWN))
        return View(width, full, top, marks, rules, first)

    def _result(self, folded: Folded, printed: str) -> Result:
        finding = folded.finding
        rule = RULES[finding.rule]
        level: Level = rule.level if finding.certain else "note"
        place = finding.where
        source = finding.source or (finding.site.source if finding.site else None)
        if finding.place is None and source is not None and (shown := self.place_of(source)) is not source:
            place = Place(shown.file, shown.line, None, shown.text)
        return Result(
            rule, level, folded.what, below(place.file, self.root), place, folded, printed, self._state(finding)
        )

    def _state(self, finding: Finding) -> State | None:
        """The state compared with the baseline, which distinguishes known and new copies of one line."""
        return None if self.ratchet is None else "unchanged" if self.ratchet.knows(finding) else "new"


def fingerprints(folded: Iterable[Folded]) -> list[str]:
    """A fingerprint per finding: of rule, kernel, access, file and text of the lines, not of line numbers or offsets.

    Equal findings are distinguished by their order.
    """
    stems = [_stem(one.finding) for one in folded]
    count: Counter[str] = Counter()
    result = []
    for stem in stems:
        count[stem] += 1
        result.append(hashlib.sha256(f"{stem}\n{count[stem]}".encode()).hexdigest()[:32])
    return result


def _stem(finding: Finding) -> str:
    kernel, site = finding.kernel, finding.site
    source = finding.source or (site.source if site else None)
    stack = [
        f"{base_name(place.file)}|{' '.join((place.text or '').split())}" for place in (source.places if source else ())
    ]
    own = [kernel.name, kernel.isa] if kernel else []
    return "\n".join([finding.rule, *own, site.access if site else "", *(stack or [base_name(finding.where.file)])])
