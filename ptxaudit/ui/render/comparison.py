"""Writes a comparison with a profile as plain text.

float_32_pitch_33
  transpose.cubin · sm_90 sass · grid 2×2, block 32×32
  counters: op_ld 128, op_st 128 as the report

  agreement  place  instruction  requests  counted  wavefronts  counted
  equal      +0x1b0 STS               128      128         128      128

2 of 2 sites agree: 2 equal
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxaudit.base.places import line_of
from ptxaudit.base.words import interval, number, plural
from ptxaudit.report.model import MemorySite, Site
from ptxaudit.review.compare import AGREEING, Comparison, Row, Total, Verdict
from ptxaudit.review.profiles import Compared
from ptxaudit.ui.render.layout import note_text
from ptxaudit.ui.render.rows import Note
from ptxaudit.ui.render.sections import header_lines

COLUMNS = ("agreement", "place", "instruction", "requests", "counted", "wavefronts", "counted")
MEMORY_COLUMNS = (*COLUMNS[:5], "sectors", "counted")
NUMERIC = range(3, len(COLUMNS))
MOST_NAMES = 8


def compared_text(compared: Compared) -> str:
    """All kernels, each with a table of its sites."""
    blocks = [_kernel_text(comparison) for comparison in compared.comparisons]
    return "\n\n".join([*blocks, "\n".join(closing_lines(compared))]) + "\n"


def closing_lines(compared: Compared) -> list[str]:
    """The number of sites that agree, and the kernels that only one side has."""
    total, agree = (
        sum(compared.counts.values()),
        sum(count for verdict, count in compared.counts.items() if verdict in AGREEING),
    )
    parts = ", ".join(f"{count:,} {_WORDS.get(verdict, verdict)}" for verdict, count in compared.counts.items())
    lines = [f"{agree:,} of {plural(total, 'site')} agree: {parts}" if total else "no shared-memory site in either"]
    for words, names in (("not in the report", compared.unaudited), ("not in the profile", compared.unprofiled)):
        if names:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            lines.append(f"{words}: {', '.join(names[:MOST_NAMES])}{more}")
    return lines


_WORDS = {
    Verdict.REQUESTS: "equal in requests",
    Verdict.WITHIN: "within the report's range",
    Verdict.OPEN: "without a figure",
    Verdict.UNLISTED: "not in the report",
}


def _kernel_text(comparison: Comparison) -> str:
    rows = [_cells(row) for row in comparison.rows]
    widths = [max(len(line[at]) for line in (COLUMNS, *rows)) for at in range(len(COLUMNS))]
    texts = [*_chosen(comparison.chosen_of), *(comparison.kernel.notes if comparison.differs else ())]
    notes = [note_text(Note("note", text)) for text in texts]
    lines = [*header_lines(comparison.kernel)[:2], *_counters(comparison.totals), *notes, "", _aligned(COLUMNS, widths)]
    for row, cells in zip(comparison.rows, rows, strict=True):
        lines.append(_aligned(cells, widths))
        if row.why and row.verdict is not Verdict.EQUAL:
            lines.append(note_text(Note("note", row.why)))
    if comparison.memory:
        lines += ["", *_memory_lines(comparison.memory)]
    return "\n".join(lines)


def _chosen(launches: int) -> Iterator[str]:
    """The note for an entry that was chosen of several."""
    if launches > 1:
        yield (
            f"{launches} launches of the report fit this one, and another number of them was profiled: compared with"
            " the one that agrees best"
        )


def _memory_lines(memory: Sequence[Row]) -> list[str]:
    """The table for global memory."""
    rows = [_memory_cells(row) for row in memory]
    widths = [max(len(line[at]) for line in (MEMORY_COLUMNS, *rows)) for at in range(len(MEMORY_COLUMNS))]
    lines = ["  global memory", _aligned(MEMORY_COLUMNS, widths)]
    for row, cells in zip(memory, rows, strict=True):
        lines.append(_aligned(cells, widths))
        if row.why and row.verdict is not Verdict.EQUAL:
            lines.append(note_text(Note("note", row.why)))
    return lines


def _memory_cells(row: Row) -> tuple[str, ...]:
    site, counted = row.site, row.counted
    assert isinstance(site, MemorySite) and counted is not None  # rows for global memory have both
    line = f" {line_of(site.source)}" if site.source else ""
    bounds = (site.sectors, site.sectors) if site.sectors is not None else site.bounds
    return (
        str(row.verdict),
        f"+{row.offset:#x}{line}",
        site.opcode,
        number(site.requests),
        number(counted.requests),
        interval(*bounds) if bounds else "–",
        number(counted.sectors),
    )


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    fields = (cell.rjust(widths[at]) if at in NUMERIC else cell.ljust(widths[at]) for at, cell in enumerate(cells))
    return ("  " + "  ".join(fields)).rstrip()


def _counters(totals: Sequence[Total]) -> list[str]:
    """The hardware counters of the launch, next to the report's sums."""
    lines = []
    for total in totals:
        ours = interval(total.low, total.high) if total.high is not None else f"at least {number(total.low)}"
        lines.append(
            f"  counter {total.name}: {number(total.counted)}, the report {ours}, the profiler's instructions"
            f" {number(total.profiler)}"
        )
    return lines


def _cells(row: Row) -> tuple[str, ...]:
    site, counted = row.site, row.counted
    opcode = site.opcode if site else counted.text.split()[0] if counted else ""
    line = f" {line_of(site.source)}" if site and site.source else ""
    ours = ("–", "–")
    if isinstance(site, Site):
        bounds = (site.wavefronts, site.wavefronts) if site.wavefronts is not None else site.bounds
        never = site.status == "unreached"
        ours = ("0", "0") if never else (number(site.requests), interval(*bounds) if bounds else "–")
    theirs = (number(counted.requests), number(counted.wavefronts)) if counted else ("–", "–")
    return (str(row.verdict), f"+{row.offset:#x}{line}", opcode, ours[0], theirs[0], ours[1], theirs[1])
