"""Writes a sweep as plain text: a row per launch with the best and the worst marked, and the verdict below.

k
  k.cu · sm_90 ptx · 3 launches
         pitch  sites    requests  wavefronts  ideal  excess  ways  most at
  worst  32     2 exact        64       1,056     64     992    32  k.cu:4 st.shared.f32
  best   33     2 exact        64          64     64       0     1
         34     2 exact        64          96     64      32     2  k.cu:4 st.shared.f32

k: best pitch=33 (no excess), worst pitch=32 (16.5 times ideal)
"""

from __future__ import annotations

from pathlib import PurePath

from ptxaudit.base.words import bare_name, interval, number, plural
from ptxaudit.report.model import Span
from ptxaudit.review.sweeps import Point, Sweep, Swept, rank, settings, written
from ptxaudit.ui.render.layout import table_lines
from ptxaudit.ui.render.rows import ABSENT, Row

MOST_ROWS = 50  # if there are more launches, only the best and the worst are shown
ENDS = 10
FIGURES = ("sites", "requests", "wavefronts", "ideal", "excess", "ways", "most at")


def sweep_text(sweep: Sweep) -> str:
    """The tables of all kernels, then a line per kernel."""
    if not sweep.kernels:
        return "no kernel was checked\n"
    blocks = [_kernel(kernel, sweep) for kernel in sweep.kernels]
    blocks.append("\n".join(line for kernel in sweep.kernels for line in (verdict(kernel), *_open(kernel))))
    return "\n\n".join(blocks) + "\n"


def _kernel(kernel: Swept, sweep: Sweep) -> str:
    names = tuple(axis.name for axis in sweep.axes)
    facts = [
        PurePath(kernel.input).name,
        f"{kernel.arch} {kernel.isa}",
        plural(len(kernel.points), "launch", "launches"),
    ]
    if kernel.machine != kernel.arch:
        facts.insert(2, f"scored as {kernel.machine}")
    lines = [kernel.demangled, "  " + " · ".join(facts)]
    lines += [f"  assumed: {sentence}" for sentence in kernel.assumed]
    if kernel.basis == "request":
        lines.append(
            "  wavefronts and ideal are for one request of every site: the launch is not specified, or some figure is"
            " unknown"
        )
    shown = _shown(kernel)
    if len(shown) < len(kernel.points):
        lines.append(f"  the {ENDS} best and the {ENDS} worst, best first; --format json has all")
    return "\n".join([*lines, "", *table_lines(("", *names, *FIGURES), [_row(at, kernel, names) for at in shown])])


def _shown(kernel: Swept) -> list[int]:
    every = range(len(kernel.points))
    if len(every) <= MOST_ROWS:
        return list(every)
    order = sorted(
        (at for at in every if not kernel.points[at].refused), key=lambda at: rank(kernel.points[at], kernel.basis)
    )
    return list(dict.fromkeys([*order[:ENDS], *order[-ENDS:]]))


def _row(at: int, kernel: Swept, names: tuple[str, ...]) -> Row:
    point = kernel.points[at]
    different = kernel.best is not None and kernel.worst is not None and not _equal(kernel)
    mark = ("best" if at == kernel.best else "worst" if at == kernel.worst else "") if different else ""
    axes = tuple(written(point.at[name]) for name in names)
    if point.refused:
        return Row((mark, *axes, "refused", "", "", "", "", "", point.refused), (), "quiet")
    cost, ideal = _figures(point, kernel.basis)
    excess = interval(max(0, cost.low - ideal), max(0, cost.high - ideal)) if cost and ideal is not None else ABSENT
    cells = (
        mark,
        *axes,
        ", ".join(f"{count} {status}" for status, count in (point.status or {}).items()),
        number(point.requests),
        interval(cost.low, cost.high) if cost else ABSENT,
        number(ideal),
        excess,
        number(point.ways),
        point.most_at,
    )
    return Row(cells, (), "good" if at == kernel.best else "bad" if at == kernel.worst else "quiet")


def _figures(point: Point, basis: str) -> tuple[Span | None, int | None]:
    return (point.wavefronts, point.ideal) if basis == "launch" else (point.per_request, point.ideal_per_request)


def _equal(kernel: Swept) -> bool:
    if kernel.best is None or kernel.worst is None:
        return False
    return rank(kernel.points[kernel.best], kernel.basis) == rank(kernel.points[kernel.worst], kernel.basis)


def verdict(kernel: Swept) -> str:
    """The best and the worst launch of a kernel in one line."""
    name = bare_name(kernel.demangled)
    if kernel.best is None or kernel.worst is None:
        return f"{name}: no launch could be evaluated"
    best, worst = kernel.points[kernel.best], kernel.points[kernel.worst]
    if _equal(kernel):
        return f"{name}: all launches cost the same, {_how(best, kernel.basis)}"
    alike = f" and {plural(kernel.equal_best - 1, 'other')}" if kernel.equal_best > 1 else ""
    return (
        f"{name}: best {' '.join(settings(best))}{alike} ({_how(best, kernel.basis)}), worst"
        f" {' '.join(settings(worst))} ({_how(worst, kernel.basis)})"
    )


def _open(kernel: Swept) -> list[str]:
    """Why the best launch has ranges or sites without a figure, and what to specify."""
    best = kernel.points[kernel.best] if kernel.best is not None else None
    return [f"  why: {best.open_reason}"] if best is not None and best.open_reason else []


def _how(point: Point, basis: str) -> str:
    cost, ideal = _figures(point, basis)
    still = f", {plural(point.open, 'site')} open" if point.open else ""
    if cost is None or not ideal:
        return ("nothing known" if point.open else "no shared-memory access") + still
    if cost.high == ideal:
        return "no excess" + still
    return f"{'' if cost.low == cost.high else 'up to '}{cost.high / ideal:.3g} times ideal" + still
