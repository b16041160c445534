"""Decides whether a report may pass: `--fail-on RULE`, `excess=N`, `ways=N`, `total-excess=N`.

A limit is met by the figure N or more. excess and ways are of one request of one site;
total-excess is of one kernel and launch. 0 means the same as the smallest figure that is a
conflict at all: excess=1, ways=2, total-excess=1. A rule is met by its findings.

    exact, invariant                        judged by their figure
    conditional, bounded, data-dependent    denied when the proved lower end meets the limit already
    unknown, and upper ends                 not judged: a warning, counted, and denied with --strict

For cp.async.cg, which takes no wavefronts that a counter sees, its line classes stand for these: k - 1 of a
request for the excess, k for the ways.

What a comment in the source allows is not denied, and not part of a kernel's total. With a
baseline only what is new or worse is denied; without any limit everything that is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ptxaudit import rules
from ptxaudit.errors import InputError
from ptxaudit.figures import Interval, above_ideal, total_above_ideal, ways
from ptxaudit.findings import Finding, find
from ptxaudit.records import record
from ptxaudit.report import Kernel, Report, Site

if TYPE_CHECKING:
    from ptxaudit.baseline import Ratchet

CONFLICTS = frozenset(("PA001", "PA002", "PA003", "PA004"))      # rules that excess and ways are the figures of
BASELINE = "baseline"


@record
class Limit:
    """One --fail-on. name: "excess" | "ways" | "total-excess", or a rule's id, which has no figure."""

    name: str
    figure: int | None = None

    def __str__(self) -> str:
        return self.name if self.figure is None else f"{self.name}={self.figure}"


@record
class Denial:
    """What a limit denies. site: None for a whole kernel; finding: where the limit is a rule.
    certain: False where only --strict denies it."""

    limit: Limit
    kernel: Kernel | None
    site: Site | None
    what: str
    certain: bool = True
    finding: Finding | None = None


@record
class Verdict:
    """warnings: what only --strict would deny; unjudged: sites that no limit could judge;
    allowed: findings that a comment in the source permits."""

    denials: tuple[Denial, ...]
    unjudged: int
    sites: int
    warnings: tuple[Denial, ...] = ()
    allowed: int = 0


# the smallest figure that is a conflict
_LEAST = {"excess": 1, "ways": 2, "total-excess": 1}


def parse_limit(text: str) -> Limit:
    """"ways=4" -> Limit("ways", 4); "PA001" or "load-conflict" -> Limit("PA001"). Raises InputError."""
    name, equals, number = text.partition("=")
    if not equals and name not in _LEAST:
        try:
            return Limit(rules.get(name).id)
        except InputError:
            pass
    if name not in _LEAST or not number.isdecimal():
        known = ", ".join(rules.RULES)
        raise InputError(f"--fail-on {text} is no rule and no limit",
                         f"write excess=N, ways=N or total-excess=N with a whole number N, or a rule: {known}")
    return Limit(name, max(int(number), _LEAST[name]))


def judge(report: Report, limits: Iterable[Limit], strict: bool = False, *,
          findings: Iterable[Finding] | None = None, ratchet: Ratchet | None = None, ignore: Collection[str] = ()) -> Verdict:
    """Holds every kernel, site and finding against every limit.

    findings: all of the report, where they are at hand already; ignore: rules that deny nothing.
    """
    found = tuple(find(report) if findings is None else findings)
    judging = _Judging(report, found, tuple(limit for limit in limits if limit.name not in ignore), ratchet)
    denials = list(judging.denials())
    certain = tuple(denial for denial in denials if denial.certain)
    possible = tuple(denial for denial in denials if not denial.certain)
    unjudged = len({id(denial.site) for denial in possible if denial.site is not None} | judging.open_in_totals() | judging.open_in_baseline())
    allowed = sum(finding.allowed is not None for finding in found)
    if strict:
        return Verdict((*certain, *possible), unjudged, len(report.sites), (), allowed)
    return Verdict(certain, unjudged, len(report.sites), possible, allowed)


@record
class _Judging:
    report: Report
    findings: tuple[Finding, ...]
    limits: tuple[Limit, ...]
    ratchet: Ratchet | None

    def denials(self) -> Iterator[Denial]:
        allowed = self._allowed()
        if not self.limits and self.ratchet is not None:
            yield from self._against_baseline(allowed)
        for limit in self.limits:
            if limit.figure is None:
                yield from self._of_rule(limit)
        for kernel in self.report.kernels:
            for limit in self.limits:
                if limit.name == "total-excess":
                    yield from self._of_kernel(kernel, limit, allowed)
                elif limit.figure is not None:
                    for site in kernel.sites:
                        if id(site) not in allowed and (denial := _judge_site(kernel, site, limit)) and self._is_open(site, denial):
                            yield denial

    def open_in_totals(self) -> set[int]:
        """Sites without an upper end that a limit on totals has to leave open."""
        if not any(limit.name == "total-excess" for limit in self.limits):
            return set()
        return {id(site) for site in self.report.sites if total_above_ideal(site)[1] is None}

    def open_in_baseline(self) -> set[int]:
        """Sites that the baseline knows and that are open here as there: they pass, but whether they are worse nobody can say."""
        if self.ratchet is None:
            return set()
        figures = [limit for limit in self.limits if limit.name in FIGURES]
        allowed = self._allowed()
        return {id(site) for kernel in self.report.kernels for site in kernel.sites if id(site) not in allowed and _is_in_doubt(kernel, site, figures, self.limits)}

    def _allowed(self) -> set[int]:
        """Sites whose conflict a comment permits."""
        return {id(f.site) for f in self.findings if f.allowed and f.site is not None and f.rule in CONFLICTS}

    def _is_open(self, site: Site, denial: Denial) -> bool:
        """Not known to the baseline, or worse than there."""
        return self.ratchet is None or self.ratchet.is_open(site, denial.certain)

    def _of_rule(self, limit: Limit) -> Iterator[Denial]:
        for finding in self.findings:
            known = self.ratchet is not None and self.ratchet.knows(finding)
            if finding.rule == limit.name and finding.allowed is None and not known:
                yield Denial(limit, finding.kernel, finding.site, finding.what, finding.certain, finding)

    def _of_kernel(self, kernel: Kernel, limit: Limit, allowed: set[int]) -> Iterator[Denial]:
        figures = [total_above_ideal(site) for site in kernel.sites if id(site) not in allowed]
        low = sum(figure[0] for figure in figures)
        high = None if any(figure[1] is None for figure in figures) else sum(figure[1] or 0 for figure in figures)
        denial = _against(limit, kernel, None, low, high)
        grown = self.ratchet.total_grew(kernel) if denial and self.ratchet else ""
        if denial and (self.ratchet is None or grown):
            yield replace(denial, what=f"{denial.what}, {grown}") if grown else denial

    def _against_baseline(self, allowed: set[int]) -> Iterator[Denial]:
        assert self.ratchet is not None
        limit = Limit(BASELINE)
        for kernel, site, what, certain in self.ratchet.worse():
            if id(site) not in allowed:
                yield Denial(limit, kernel, site, what, certain)


def _is_in_doubt(kernel: Kernel, site: Site, figures: Iterable[Limit], limits: Collection[Limit]) -> bool:
    """A limit may be met, or without limits the figure is a range."""
    if limits:
        return any((denial := _judge_site(kernel, site, limit)) is not None and not denial.certain for limit in figures)
    low, high = above_ideal(site)
    return high is None or low < high


def _judge_site(kernel: Kernel, site: Site, limit: Limit) -> Denial | None:
    denial = _against(limit, kernel, site, *FIGURES[limit.name](site))
    if denial is None or site.line_class_max is None:
        return denial
    return replace(denial, what=f"{denial.what}: its line classes, k = {site.line_class_max}")


def _against(limit: Limit, kernel: Kernel, site: Site | None, low: int, high: int | None) -> Denial | None:
    """A denial where the figure meets the limit, an uncertain one where it may."""
    assert limit.figure is not None
    if low >= limit.figure:
        return Denial(limit, kernel, site, f"{limit.name} is {_text(low, high)}")
    if high is None or high >= limit.figure:
        return Denial(limit, kernel, site, f"{limit.name} may be {_text(low, high)}", certain=False)
    return None


def _text(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


FIGURES: dict[str, Callable[[Site], Interval]] = {"excess": above_ideal, "ways": ways}
