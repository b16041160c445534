"""The findings of the rules in a report, folded where copies of one line have the same finding.

    report  ──find──▶  Finding("PA001", "31 excess wavefronts …", kernel, site, certain), …
            ──fold──▶  Folded(the worst of them, sites=16, launches=2), …

A finding is *certain* if a proved figure shows it, *possible* if an upper bound allows it, and *unknown* if nothing
is proved about the rule's subject. Only certain findings fail a build by themselves. A place that a rule concerns and
that has no finding provably complies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.report.model import Kernel, MemorySite, Report, Site, Source, Suppression
from ptxaudit.review.figures import Judgement, against

CONFLICTS = frozenset(("PA001", "PA002", "PA003", "PA004"))  # rules that judge excess and ways
EXCESSES = CONFLICTS | {"PA011"}  # those, and the rule that judges sectors
OF_MEMORY = {"PA011": "global", "PA012": "global", "PA013": "local", "PA014": "global"}  # what rules examine
IN_WAVEFRONTS = frozenset(("PA001", "PA002", "PA003"))  # rules whose findings are excess wavefronts


class Certainty(StrEnum):
    """How sure a finding is, surest first."""

    CERTAIN = "certain"
    POSSIBLE = "possible"
    UNKNOWN = "unknown"


class Place(Record):
    """A file and a line in it; line None where only the file is known. text: the line, where it could be read."""

    file: str
    line: int | None = None
    column: int | None = None
    text: str | None = None


class Finding(Record):
    """One rule at one place. what: a sentence without a full stop.

    kernel, site: None where the finding concerns no single one; sites: those that it then covers. source: the
    position in the source, with its inline stack. weight: excess wavefronts, for sorting the worst first. allowed:
    the suppression that permits it.
    """

    rule: str
    what: str
    kernel: Kernel | None
    site: Site | MemorySite | None = None
    source: Source | None = None
    place: Place | None = None
    certainty: Certainty = Certainty.CERTAIN
    weight: int = 0
    allowed: Suppression | None = None
    sites: tuple[Site, ...] = ()

    @property
    def certain(self) -> bool:
        return self.certainty is Certainty.CERTAIN

    @property
    def where(self) -> Place:
        """The source line, else the line of the PTX, else the input."""
        if self.place is not None:
            return self.place
        source = self.source or (self.site.source if self.site else None)
        if source is not None:
            return Place(source.file, source.line, source.column or None, source.text)
        file = self.kernel.input if self.kernel else ""
        return Place(file, self.site.ptx_line if self.site and self.kernel and self.kernel.is_ptx_file else None)


class Folded(Record):
    """Findings of one rule at one line that are copies of each other, represented by the worst. alike: all have the
    same text; excess: of all copies together, in the worst of the launches, where known."""

    finding: Finding
    sites: int
    launches: int
    alike: bool = False
    excess: int | None = None

    @property
    def weight(self) -> int:
        """For sorting the worst first."""
        return max(self.finding.weight, self.excess or 0)

    @property
    def what(self) -> str:
        """The sentence, with the number of findings it represents."""
        parts = []
        if self.sites > 1:
            parts.append(f"{self.sites} copies")
        if self.launches > 1:
            parts.append(f"{self.launches} launches")
        if not self.alike:
            parts = [f"the worst of {part}" for part in parts]
        if self.sites > 1 and self.excess and self.excess > self.finding.weight:
            parts.append(f"{self.excess:,} in all")
        return self.finding.what + (f" ({', '.join(parts)})" if parts else "")


def allow(findings: Iterable[Finding], suppressions: Sequence[Suppression]) -> list[Finding]:
    """The findings, each with the suppression that applies to its line or to a line where it was inlined."""
    table = {(s.rule, s.file, line): s for s in suppressions for line in s.targets}
    if not table:
        return list(findings)
    result = []
    for finding in findings:
        match = next((table[key] for key in _lines(finding) if key in table), None)
        result.append(replace(finding, allowed=match) if match else finding)
    return result


def _lines(finding: Finding) -> Iterable[tuple[str, str, int | None]]:
    yield finding.rule, finding.where.file, finding.where.line
    source = finding.source or (finding.site.source if finding.site else None)
    for frame in source.inlined if source else ():
        yield finding.rule, frame.file, frame.line


def stale_suppressions(report: Report, findings: Iterable[Finding]) -> tuple[Suppression, ...]:
    """The suppressions that no finding matches any more, except those that apply to an unreached site, and those of
    rules about a memory that was not examined."""
    examined = {space for kernel in report.kernels for space in kernel.spaces}
    lines = {line for finding in findings for line in _lines(finding)}
    idle = {
        (file, line)
        for kernel in report.kernels
        for site in kernel.accesses
        if site.status is Status.UNREACHED and site.source
        for _, file, line in _lines(Finding("", "", kernel, site))
    }
    return tuple(
        s
        for s in report.suppressions
        if OF_MEMORY.get(s.rule, "shared") in {*examined, "shared"}
        and not any((s.rule, s.file, line) in lines or (s.file, line) in idle for line in s.targets)
    )


def fold(findings: Iterable[Finding], apart: Callable[[Finding], object] = lambda finding: None) -> list[Folded]:
    """One entry for each rule, input, kernel, line, inline stack and opcode, in the order of the findings; findings
    for which `apart` differs are not folded together."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        groups.setdefault((_fold_key(finding), apart(finding)), []).append(finding)
    folded = []
    for group in groups.values():
        worst = min(group, key=lambda f: (f.allowed is not None, list(Certainty).index(f.certainty), -f.weight))
        sites = {f.site.id for f in group if f.site}
        launches = {repr(f.kernel.launch) for f in group if f.kernel}
        folded.append(
            Folded(
                worst,
                max(1, len(sites)),
                max(1, len(launches)),
                len({finding.what for finding in group}) == 1,
                _excess(group),
            )
        )
    return folded


def _excess(group: Sequence[Finding]) -> int | None:
    """The excess of conflict findings, summed over the sites of each launch, in the worst launch; None where it is
    unknown."""
    sums: dict[int, int] = {}
    for finding in group:
        if finding.rule not in IN_WAVEFRONTS or not isinstance(finding.site, Site) or finding.site.excess is None:
            return None
        sums[id(finding.kernel)] = sums.get(id(finding.kernel), 0) + finding.site.excess
    return max(sums.values(), default=None)


def _fold_key(finding: Finding) -> object:
    kernel, site, where = finding.kernel, finding.site, finding.where
    source = finding.source or (site.source if site else None)
    stack = tuple((frame.file, frame.line) for frame in source.inlined) if source else ()
    own = (kernel.input, kernel.isa, kernel.name, kernel.arch) if kernel else ()
    alone = site.id if site and where.line is None else None  # machine code without line information
    return (finding.rule, own, where.file, where.line, stack, site.opcode if site else None, alone)


def certainty_of(site: Site | MemorySite, low: int, high: int | None) -> Certainty | None:
    """The certainty of a finding for an excess of `low` to `high`; None if there is surely none."""
    judged = against((low, high), 1)
    if judged is Judgement.OPEN:
        return Certainty.UNKNOWN if high is None or site.status is Status.UNKNOWN else Certainty.POSSIBLE
    return Certainty.CERTAIN if judged is Judgement.VIOLATED else None
