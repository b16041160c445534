"""Writes a report as text; on a terminal, `terminal` colours the same lines.

transpose(float*, float const*, int)
  transpose.cu · sm_90 ptx · grid 2×2, block 32×8 · 4,096 bytes of static shared memory
  place            instruction    status  requests  wavefronts  ideal  excess  ways
  transpose.cu:14  ld.shared.f32  exact         32       1,024     32     992    32
     14 │ out[x * n + y] = tile[threadIdx.x][threadIdx.y];
        = PA001: 32 lanes (0-31) conflict in one bank: stride 128 bytes

conflicts cost 992 of 1,024 wavefronts (96.9%), most at transpose.cu:14: ld.shared.f32, 32 ways 1 site in 1 kernel: 1
exact

The output is deterministic, and plain text has no escape codes. `overview` summarises reports that exceed a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxaudit.report.model import Kernel, Report
from ptxaudit.ui.render.layout import Line, fact, line, text_of
from ptxaudit.ui.render.overview import is_too_long, overview_lines
from ptxaudit.ui.render.pairs import pairs_text
from ptxaudit.ui.render.rows import (
    without_sites,
)
from ptxaudit.ui.render.sections import end_lines, header_lines, said, titled
from ptxaudit.ui.render.short_names import distinct_names, title_width
from ptxaudit.ui.render.tables import tables_of
from ptxaudit.ui.render.view import EVERYTHING, View


def report_text(report: Report, view: View = EVERYTHING) -> str:
    """The report as plain text; ends with the closing lines."""
    return text_of(report_lines(report, view))


def kernel_text(kernel: Kernel, view: View = EVERYTHING) -> str:
    """One kernel: its header and tables."""
    return text_of(kernel_lines(kernel, view)).rstrip("\n")


def report_lines(report: Report, view: View) -> Iterator[Line]:
    """The whole report or its overview, with the closing lines."""
    if view.top is not None or not view.full and is_too_long(report):
        yield from overview_lines(report, view)
        return
    names = distinct_names((kernel.demangled for kernel in report.kernels), title_width(view.width))
    blocks: list[Iterable[Line]] = [
        kernel_lines(kernel, view, names[kernel.demangled])
        for kernel in report.kernels
        if kernel.sites or kernel.memory
    ]
    if empty := without_sites(report):
        blocks.append(fact(empty, view.width))
    blocks += [[line(text) for text in block.splitlines()] for block in pairs_text(report)]
    blocks.append(end_lines(report, view))
    for at, block in enumerate(blocks):
        if at:
            yield line("")
        yield from block


def kernel_lines(kernel: Kernel, view: View, name: str = "") -> Iterator[Line]:
    """One kernel: its header and tables. name: replaces the name in the header."""
    own, *facts = header_lines(kernel, view.width)
    yield line(name or own, "title")
    for text in facts:
        yield from fact(text, view.width)
    for one in tables_of(kernel, view.marks):
        yield line("")
        yield from titled(one, view.width)
    yield from said(kernel.shares_say, view.width)
