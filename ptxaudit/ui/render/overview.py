"""Summarises a report that exceeds a screen: the costs, the costliest sites and kernels, and what is unknown.

conflicts cost 41,984 of 65,536 wavefronts (64.1%), most at gemm.cu:31: ld.shared.f32, 8 ways
1,204 sites in 37 kernels: 1,180 exact, 24 unknown
  unknown ×24: loaded from memory

the 8 rows that cost most, of 312
  place       instruction    status  requests  wavefronts   ideal  excess  ways
  gemm.cu:31  ld.shared.f32  exact      1,024       8,192   1,024   7,168     8
       31 │ sum += as[ty][k] * bs[k][tx];
          = gemm_kernel<float, 16>
          = PA001: 8 lanes (0, 4, 8 … 28) conflict in one bank: stride 256 bytes
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest

from msgspec.structs import replace

from ptxaudit.base.words import number, plural
from ptxaudit.report.counterparts import kernels_once
from ptxaudit.report.model import Kernel, MemorySite, Report, Share, Site
from ptxaudit.ui.render.layout import Line, fact, line, table, text_of
from ptxaudit.ui.render.memory import COLUMNS as MEMORY_COLUMNS
from ptxaudit.ui.render.memory import SPACES, fold_memory, memory_row, memory_weight
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import COLUMNS, Note, Row, fold, row_of, weight
from ptxaudit.ui.render.sections import end_lines, said, titled
from ptxaudit.ui.render.short_names import distinct_names
from ptxaudit.ui.render.tables import share_table
from ptxaudit.ui.render.view import View

SCREEN = 60  # rows: a longer report is shown as an overview unless the full text is requested
SHOWN = 5  # rows and kernels in an overview
MOST_NAME = 60  # columns of a kernel's name in an overview
_KERNEL_COLUMNS = ("kernel", "sites", "open", "wavefronts", "ideal", "excess", "share")
MORE = (
    "--full shows every site, --top N the N costliest, --kernel GLOB one kernel, --format html -o report.html a page"
    " to browse"
)
IN_PYTHON = "report.sites has every site, report.kernels the figures of each kernel, report.to_json() everything"
REASONS = 4  # reasons to list for sites without a figure


def summary(report: Report) -> str:
    """The overview as text, followed by the problems."""
    from ptxaudit.ui.render.checked import Checked

    shown = text_of(overview_lines(report, Checked(report).view(), IN_PYTHON)).rstrip("\n")
    return "\n".join([shown, *(problem_text(problem) for problem in report.problems)])


def is_too_long(report: Report) -> bool:
    """Whether there are more rows than a screen holds."""
    count = 0
    for kernel in report.kernels:
        count += len(fold(kernel.sites)) + len(kernel.memory)
        if count > SCREEN:
            return True
    return False


def overview_lines(report: Report, view: View, hint: str = MORE) -> Iterator[Line]:
    """The cost, the costliest rows, what is unknown and why, and how to see everything (hint)."""
    most = view.top or SHOWN
    names = distinct_names([kernel.demangled for kernel in report.kernels], MOST_NAME)
    yield from end_lines(report, view, REASONS)
    groups = [(group, kernel) for kernel in report.kernels for group in fold(kernel.sites)]
    paid = [(group, kernel) for group, kernel in groups if weight(group) > 0]
    if paid:
        worst = nsmallest(most, paid, key=lambda pair: -weight(pair[0]))
        yield line("")
        yield line(_heading(len(worst), len(groups), "row"), "strong")
        yield from table(
            COLUMNS, [_named(row_of(*pair, view.marks), pair[1], names) for pair in worst], width=view.width
        )
    yield from _memory(report, view, most, names)
    yield from _kernels(report, view, most, names)
    yield from _shares(report, view, most, names)
    if hint and groups:
        yield line("")
        yield from fact(hint, view.width)


def _heading(shown: int, there: int, word: str) -> str:
    if shown == there:
        return f"by cost, {plural(there, word)}"
    return f"the {plural(shown, word)} that cost{'s' if shown == 1 else ''} most, of {there:,}"


def _named(row: Row, kernel: Kernel, names: dict[str, str]) -> Row:
    """A row with its kernel, without details for a closer look."""
    notes = [note for note in row.notes if note.kind != "frame"]
    at = 1 if notes and notes[0].kind == "source" else 0
    launch = f"  ({kernel.launch})" if kernel.launch else ""
    return replace(row, notes=(*notes[:at], Note("frame", names[kernel.demangled] + launch), *notes[at:]))


def _memory(report: Report, view: View, most: int, names: dict[str, str]) -> Iterator[Line]:
    """The costliest rows of global and local memory, if audited."""
    for space in SPACES:
        groups: list[tuple[tuple[MemorySite, ...], Kernel]] = [
            (group, kernel)
            for kernel in report.kernels
            for group in fold_memory(site for site in kernel.memory if site.space == space)
        ]
        paid = [pair for pair in groups if memory_weight(pair[0]) > 0]
        if paid:
            worst = nsmallest(most, paid, key=lambda pair: -memory_weight(pair[0]))
            yield line("")
            yield line(f"{_heading(len(worst), len(groups), 'row')} of {space} memory", "strong")
            rows = [_named(memory_row(*pair, view.marks), pair[1], names) for pair in worst]
            yield from table(MEMORY_COLUMNS, rows, width=view.width)


def _kernels(report: Report, view: View, most: int, names: dict[str, str]) -> Iterator[Line]:
    """The kernels with the most excess, if there are several; of a kernel in PTX and machine code, the latter."""
    totals = [(kernel, kernel.totals) for kernel in kernels_once(report.kernels)]
    paid = [pair for pair in totals if pair[1].excess]
    if len(totals) < 2 or not paid:
        return
    whole = sum(total.excess for _, total in paid)
    worst = nsmallest(most, paid, key=lambda pair: -pair[1].excess)
    rows = []
    for kernel, total in worst:
        figures = (len(kernel.sites), _open(kernel.sites), total.wavefronts, total.ideal, total.excess)
        cells = (names[kernel.demangled], *map(number, figures), f"{total.excess / whole:.1%}")
        rows.append(Row(cells, (), "bad"))
    yield line("")
    yield line(_heading(len(worst), len(totals), "kernel"), "strong")
    yield from table(_KERNEL_COLUMNS, rows, width=view.width, numeric=frozenset(_KERNEL_COLUMNS[1:]))


def _shares(report: Report, view: View, most: int, names: dict[str, str]) -> Iterator[Line]:
    """The costliest loops and lines, and where the excess comes from, if shares were requested."""
    for word in ("loop", "line"):
        found: list[tuple[Share, str]] = [
            (share, names[kernel.demangled])
            for kernel in report.kernels
            for share in (kernel.loop_shares if word == "loop" else kernel.line_shares)
        ]
        worst = nsmallest(most, found, key=lambda pair: -pair[0].wavefronts - pair[0].sectors)
        if worst:
            several = len({name for _, name in found}) > 1
            yield line("")
            kernels = [name for _, name in worst] if several else []
            yield from titled(share_table(word, [share for share, _ in worst], kernels), view.width)
    costly = [kernel for kernel in report.kernels if kernel.shares_say]
    costly.sort(key=lambda kernel: -max((share.wavefronts + share.sectors for share in kernel.line_shares), default=0))
    for kernel in costly[:most]:
        before = f"{names[kernel.demangled]}: " if len(costly) > 1 else ""
        yield from said([before + sentence for sentence in kernel.shares_say], view.width)


def _open(sites: tuple[Site, ...]) -> int:
    return sum(not site.settled for site in sites)
