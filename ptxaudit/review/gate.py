"""Decides whether a report may pass: `--fail-on RULE`, `excess=N`, `ways=N`, `total-excess=N`, `sectors-excess=N`,
`registers=N`, `stack=N`, `spills=N`, `occupancy=N`.

A figure of N or more meets a limit. excess and ways are of one request of one site; total-excess is of one kernel and
launch. 0 means the smallest figure that is a conflict at all: excess=1, ways=2, total-excess=1. A rule is met by its
findings.

sectors-excess is of one request of one access to the memories that --space selects. registers, stack (bytes of local
memory per thread), spills (bytes stored and loaded, to local and to shared memory) and occupancy (percent) are
budgets of a kernel: more than N registers or bytes, or less than N percent, are denied. They are not judged if the
file does not contain the figure, or no launch specifies the block.

Each site that a limit concerns is

    denied          it provably meets the limit
    passed          it provably does not
    not judged      neither is proved: a warning, counted, and denied with --strict

An interval (a bound, cases, a range over data) is denied if its lower end meets the limit, passes if its upper end
does not, and is not judged in between. Figures that rest on an assumption, such as those of the block shapes that are
tried where none is specified, prove nothing. For cp.async.cg, whose wavefronts no counter covers, line classes take
their place: k - 1 of a request as the excess, k as the ways.

Sites that a comment in the source allows are not denied, and do not count towards a kernel's total. With a baseline,
only what is new or worse is denied; without any limit, all of it. Sites that the baseline could not judge either stay
not judged: they are counted, but no longer reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import whole
from ptxaudit.base.records import Record
from ptxaudit.report.copy_words import steps
from ptxaudit.report.model import AnySite, Kernel, MemorySite, Report, Site
from ptxaudit.review import rules
from ptxaudit.review.figures import Interval, Judgement, above_ideal, against, total_above_ideal, ways
from ptxaudit.review.findings import EXCESSES, Finding
from ptxaudit.review.rules import find

if TYPE_CHECKING:
    from ptxaudit.review.baseline import Ratchet

BASELINE = "baseline"
Measured = TypeVar("Measured", Site, MemorySite)


class Limit(Record):
    """One --fail-on. name: "excess" | "ways" | "total-excess" | …, or a rule's id, which has no figure."""

    name: str
    figure: int | None = None

    def __str__(self) -> str:
        return self.name if self.figure is None else f"{self.name}={self.figure}"


class Denial(Record):
    """A denial by a limit. site: None for a whole kernel; finding: if the limit is a rule. certain: False if only
    --strict denies it."""

    limit: Limit
    kernel: Kernel | None
    site: Site | MemorySite | None
    what: str
    certain: bool = True
    finding: Finding | None = None


class Standing(StrEnum):
    """How a place compares with all limits that concern it, worst first."""

    DENIED = "denied"
    OPEN = "not judged"
    KNOWN = "known"  # violates a limit in the baseline as well
    ALLOWED = "allowed"  # by a comment
    PASSED = "passed"


class Verdict(Record):
    """warnings: what only --strict would deny; allowed: findings that a comment in the source permits; standing: the
    number of places with each standing; sites: of the report; unaudited: kernels and files that could not be audited,
    whose sites are unknown; as_before: places not judged that the baseline could not judge either, which --strict
    does not deny."""

    denials: tuple[Denial, ...]
    standing: dict[Standing, int]
    sites: int
    warnings: tuple[Denial, ...] = ()
    allowed: int = 0
    unaudited: int = 0
    as_before: int = 0

    @property
    def unjudged(self) -> int:
        """Places for which it is neither proved that they meet a limit nor that they do not."""
        return self.standing.get(Standing.OPEN, 0)

    @property
    def concerned(self) -> int:
        return sum(self.standing.values())


# the smallest figure that is a conflict
_LEAST = {
    "excess": 1,
    "ways": 2,
    "total-excess": 1,
    "sectors-excess": 1,
    **dict.fromkeys(("registers", "stack", "spills", "occupancy"), 0),
}
# budgets of a kernel: the figure, None where unknown, and whether less of it is worse
BUDGETS: dict[str, tuple[Callable[[Kernel], float | None], bool]] = {
    "registers": (lambda kernel: kernel.registers, False),
    "stack": (lambda kernel: kernel.stack, False),
    "spills": (lambda kernel: None if kernel.spills is None else kernel.spills.everywhere, False),
    "occupancy": (lambda kernel: None if kernel.occupancy is None else kernel.occupancy.percent, True),
}
_UNITS = {"registers": "registers", "stack": "bytes", "spills": "bytes", "occupancy": "percent"}


def parse_limit(text: str) -> Limit:
    """ "ways=4" -> Limit("ways", 4); "PA001" or "load-conflict" -> Limit("PA001"). Raises InputError."""
    name, equals, number = text.partition("=")
    if not equals and name not in _LEAST:
        try:
            return Limit(rules.get(name).id)
        except InputError:
            pass
    if name not in _LEAST or whole(number) is None:
        known = ", ".join(rules.RULES)
        raise InputError(
            f"--fail-on {text} is neither a rule nor a limit",
            "write excess=N, ways=N, total-excess=N, sectors-excess=N, registers=N, stack=N, spills=N or occupancy=N"
            f" with a whole number N, or a rule: {known}",
        )
    return Limit(name, max(int(number), _LEAST[name]))


def judge(
    report: Report,
    limits: Iterable[Limit],
    strict: bool = False,
    *,
    findings: Iterable[Finding] | None = None,
    ratchet: Ratchet | None = None,
    ignore: Collection[str] = (),
) -> Verdict:
    """Compares every kernel, site and finding with every limit.

    findings: all of the report, if they have been computed; ignore: rules that deny nothing.
    """
    found = tuple(find(report) if findings is None else findings)
    judging = _Judging(report, found, tuple(limit for limit in limits if limit.name not in ignore), ratchet)
    denials = list(judging.denials())
    certain = tuple(denial for denial in denials if denial.certain)
    possible = tuple(denial for denial in denials if not denial.certain)
    allowed = sum(finding.allowed is not None for finding in found)
    unaudited = len({(problem.file, problem.kernel) for problem in report.problems})
    sites = len(report.every_site) + sum(len(kernel.memory) for kernel in report.kernels)
    standing = dict(Counter(judging.standing.values()))
    as_before = _as_before(standing, possible) if ratchet is not None else 0
    verdict = Verdict(certain, standing, sites, possible, allowed, unaudited, as_before)
    return replace(verdict, denials=(*certain, *possible), warnings=()) if strict else verdict


def _as_before(standing: dict[Standing, int], possible: Iterable[Denial]) -> int:
    """The number of places that are not judged and have none of the denials that --strict would make. possible: these
    denials."""
    new: set[int] = set()
    for denial in possible:
        if denial.site is not None:
            new.add(id(denial.site))
        elif denial.finding is not None:
            new.update(map(id, denial.finding.sites or (denial.finding,)))
        else:  # a total: of all of them
            return 0
    return max(0, standing.get(Standing.OPEN, 0) - len(new))


class _Judging(Record):
    """standing: of each judged place, by its id()."""

    report: Report
    findings: tuple[Finding, ...]
    limits: tuple[Limit, ...]
    ratchet: Ratchet | None
    standing: dict[int, Standing] = field(default_factory=dict)

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
                elif limit.name in BUDGETS:
                    yield from self._of_budget(kernel, limit)
                elif limit.name == "sectors-excess":
                    yield from self._of_sites(kernel, limit, kernel.memory, above_ideal, allowed)
                elif limit.figure is not None:
                    yield from self._of_sites(kernel, limit, kernel.sites, FIGURES[limit.name], allowed)

    def _put(self, place: object, standing: Standing) -> None:
        """Records a standing; the worst one counts."""
        before = self.standing.get(id(place), Standing.PASSED)
        self.standing[id(place)] = min(before, standing, key=_WORST_FIRST.index)

    def _allowed(self) -> set[int]:
        """Sites whose excess a comment permits."""
        return {id(f.site) for f in self.findings if f.allowed and f.site is not None and f.rule in EXCESSES}

    def _of_rule(self, limit: Limit) -> Iterator[Denial]:
        rule = rules.RULES[limit.name]
        for kernel in self.report.kernels:
            for site in kernel.sites:
                if rule.concerns(kernel, site):
                    self._put(site, Standing.PASSED)
            for other in kernel.memory:
                if rule.of_memory(other):
                    self._put(other, Standing.PASSED)
        for finding in self.findings:
            if finding.rule != limit.name:
                continue
            known = self.ratchet is not None and self.ratchet.knows(finding)
            judged = Judgement.VIOLATED if finding.certain else Judgement.OPEN
            standing = Standing.ALLOWED if finding.allowed else _standing(judged, known)
            for place in (finding.site,) if finding.site is not None else finding.sites or (finding,):
                self._put(place, standing)
            if finding.allowed is None and not known:
                yield Denial(limit, finding.kernel, finding.site, finding.what, finding.certain, finding)

    def _of_sites(
        self,
        kernel: Kernel,
        limit: Limit,
        sites: Iterable[Measured],
        of: Callable[[Measured], Interval],
        allowed: set[int],
    ) -> Iterator[Denial]:
        judge: Callable[[Measured], Judgement] = lambda site: against(of(site), limit.figure or 0)
        for site in sites:
            judged = judge(site)
            met = judged is not Judgement.SATISFIED
            known = met and self.ratchet is not None and not self.ratchet.is_open(site, judged, judge)
            self._put(site, Standing.ALLOWED if id(site) in allowed else _standing(judged, known))
            if met and not known and id(site) not in allowed:
                yield _denial(limit, kernel, site, of(site), judged)

    def _of_kernel(self, kernel: Kernel, limit: Limit, allowed: set[int]) -> Iterator[Denial]:
        counted = [(site, total_above_ideal(site)) for site in kernel.sites if id(site) not in allowed]
        low = sum(figure[0] for _, figure in counted)
        high = None if any(figure[1] is None for _, figure in counted) else sum(figure[1] or 0 for _, figure in counted)
        judged = against((low, high), limit.figure or 0)
        grown = self.ratchet.total_grew(kernel) if judged is not Judgement.SATISFIED and self.ratchet else ""
        known = self.ratchet is not None and not grown
        left = _left_open(counted, judged)
        of_all = _standing(judged, known) if judged is Judgement.VIOLATED else Standing.PASSED
        for site in kernel.sites:
            self._put(site, Standing.ALLOWED if id(site) in allowed else Standing.OPEN if id(site) in left else of_all)
        if judged is not Judgement.SATISFIED and not known:
            denial = _denial(limit, kernel, None, (low, high), judged)
            yield replace(denial, what=f"{denial.what}, {grown}") if grown else denial

    def _of_budget(self, kernel: Kernel, limit: Limit) -> Iterator[Denial]:
        """Compares a kernel's use of a multiprocessor's resources, or its occupancy, with a budget."""
        of, less_is_worse = BUDGETS[limit.name]
        figure, most = of(kernel), limit.figure or 0
        if self.ratchet is not None and self.ratchet.holds(kernel, of, less_is_worse):
            return
        if figure is None:
            yield Denial(limit, kernel, None, f"{limit.name} is unknown", certain=False)
        elif figure < most if less_is_worse else figure > most:
            yield Denial(
                limit,
                kernel,
                None,
                f"{figure:,g} {_UNITS[limit.name]}, {'at least' if less_is_worse else 'at most'} {most:,} allowed",
            )

    def _against_baseline(self, allowed: set[int]) -> Iterator[Denial]:
        assert self.ratchet is not None
        limit = Limit(BASELINE)
        for site in (site for kernel in self.report.kernels for site in kernel.accesses):
            low, high = above_ideal(site)
            known = Standing.PASSED if low == high else Standing.OPEN
            self._put(site, Standing.ALLOWED if id(site) in allowed else known)
        for kernel, site, what, certain in self.ratchet.worse():
            if id(site) not in allowed:
                self._put(site, Standing.DENIED if certain else Standing.OPEN)
                yield Denial(limit, kernel, site, what, certain)


_WORST_FIRST = tuple(Standing)


def _standing(judged: Judgement, known: bool) -> Standing:
    """The standing for a judgement. known: the baseline has the same; what it could not judge either stays not
    judged."""
    if judged is Judgement.VIOLATED:
        return Standing.KNOWN if known else Standing.DENIED
    return Standing.PASSED if judged is Judgement.SATISFIED else Standing.OPEN


def _left_open(counted: list[tuple[Site, Interval]], judged: Judgement) -> set[int]:
    """The sites, by id(), that leave a total open, or would: those without an upper bound; if there are none, those
    in a range."""
    without = {id(site) for site, (_, high) in counted if high is None}
    if without or judged is not Judgement.OPEN:
        return without
    return {id(site) for site, (low, high) in counted if low != high}


def _denial(limit: Limit, kernel: Kernel, site: AnySite | None, figure: Interval, judged: Judgement) -> Denial:
    """A certain denial if the figure meets the limit, an uncertain one if it may."""
    certain = judged is Judgement.VIOLATED
    each = " per request" if site is not None and limit.name in ("excess", "sectors-excess") else ""
    what = f"{limit.name} {'is' if certain else 'may be'} {_text(*figure)}{each}"
    if isinstance(site, MemorySite) and certain:
        what += f": {site.cause}" if site.cause else ""
    elif isinstance(site, Site) and site.line_class_max is not None:
        what += f": {steps(site)}"
    elif site is not None and not certain and site.reason:
        what += f": {site.reason}"
    return Denial(limit, kernel, site, what, certain)


def _text(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


FIGURES: dict[str, Callable[[Site], Interval]] = {"excess": above_ideal, "ways": ways}
