"""Writes trends: as text with a line per figure, or as an SVG with a small chart per figure.

5 reports: 2024-01 … 2024-05; 2 figures crept, 1 jumped, 1 got better

crept
  registers   gemm<float, 8>     32 → 40 (+25 %)  ▁▁▃▅█  worse at 2024-03, 2024-04, 2024-05
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape

from ptxaudit.base.words import bare_name, cut_at, plural
from ptxaudit.review.diff.history import History, Trend
from ptxaudit.ui.render.change_rows import ARROW, figure_text
from ptxaudit.ui.render.short_names import short_name

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"
MOST_NAMED = 4  # reports to name at which a figure got worse
MOST_LINES = 40  # figures of each kind to show; JSON has all
MOST_CHARTS = 60
LONGEST_NAME = 50

WIDE, HIGH, ACROSS = 300, 110, 3
LEFT, RIGHT, TOP, BOTTOM = 12, 12, 40, 18
COLOURS = {True: "#c0392b", False: "#1e8449"}


def written(form: str, history: History) -> str:
    """The history in a format: text, json or svg."""
    if form == "json":
        return json.dumps(history.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return history_svg(history) if form == "svg" else history_text(history)


def history_text(history: History) -> str:
    """The summary, then the figures by kind of trend: crept, jumped, grew, recovered, got better."""
    kinds = _kinds(history)
    counts = (
        ", ".join(f"{plural(len(trends), 'figure')} {word}" for word, trends in kinds if trends) or "no figure changed"
    )
    lines = [f"{plural(len(history.labels), 'report')}: {history.labels[0]} … {history.labels[-1]}; {counts}"]
    for label, toolchain in zip(history.labels, history.toolchains, strict=True):
        lines += [f"  {label}: {toolchain}"] if toolchain and len(set(history.toolchains)) > 1 else []
    blocks = ["\n".join(lines)]
    for word, trends in kinds:
        if trends:
            more = (
                [f"  and {plural(len(trends) - MOST_LINES, 'more figure')}: see --format json"]
                if len(trends) > MOST_LINES
                else []
            )
            blocks.append("\n".join([word, *_table(trends[:MOST_LINES], history), *more]))
    return "\n\n".join(blocks) + "\n"


def _kinds(history: History) -> list[tuple[str, list[Trend]]]:
    grew = [trend for trend in history.trends if trend.growth > 0]
    return [
        ("crept", [trend for trend in grew if trend.crept]),
        ("jumped", [trend for trend in grew if not trend.crept and len(trend.worse) == 1]),
        ("grew, up and down", [trend for trend in grew if not trend.crept and len(trend.worse) > 1]),
        ("grew and came back", [trend for trend in history.trends if trend.growth == 0]),
        ("got better", [trend for trend in history.trends if trend.growth < 0]),
    ]


def _table(trends: Sequence[Trend], history: History) -> Iterator[str]:
    cells = [
        (trend.name, _name(trend), _ends(trend), sparkline(trend.figures), _where(trend, history)) for trend in trends
    ]
    widths = [max(len(line[at]) for line in cells) for at in range(4)]
    for line in cells:
        yield (
            "  " + "  ".join((*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[4]))
        ).rstrip()


def _name(trend: Trend) -> str:
    if trend.kernel is None:
        return "all kernels"
    return short_name(bare_name(trend.kernel.demangled), LONGEST_NAME) + f" ({trend.kernel.isa})"


def _ends(trend: Trend) -> str:
    first, last = trend.known[0][1], trend.known[-1][1]
    share = f" ({(last - first) / first:+.0%})" if first else ""
    return f"{figure_text(first)}{ARROW}{figure_text(last)}{share}"


def _where(trend: Trend, history: History) -> str:
    """The reports at which the figure got worse, or better if it never got worse."""
    places, word = (trend.worse, "worse") if trend.worse else (trend.better, "better")
    labels = ", ".join(history.labels[at] for at in places[:MOST_NAMED])
    return f"{word} at {labels}" + (f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else "")


def sparkline(figures: Sequence[int | float | None]) -> str:
    """A bar per report, scaled from the least to the greatest figure; a dot for an unknown figure."""
    known = [figure for figure in figures if figure is not None]
    low, high = min(known, default=0), max(known, default=0)
    span = high - low
    return "".join(
        GAP if figure is None else BARS[round((figure - low) / span * (len(BARS) - 1)) if span else 0]
        for figure in figures
    )


# --- the picture ----------------------------------------------------------------------------


def history_svg(history: History) -> str:
    """A chart for each changed figure, as many as fit a page.

    The axis of a chart begins at 0, or near the minimum if that is far from 0.
    """
    trends = history.trends[:MOST_CHARTS]
    rows = -(-len(trends) // ACROSS)
    wide, high = WIDE * ACROSS, max(1, rows) * (HIGH + 10) + 34
    said = f"{plural(len(history.labels), 'report')}: {history.labels[0]} … {history.labels[-1]}"
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
            ' role="img" font-family="sans-serif" font-size="11">'
        ),
        f"<title>{escape(said)}</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" fill="#222222" font-weight="bold">{escape(said)}</text>',
    ]
    for at, trend in enumerate(trends):
        lines += _chart(trend, history, WIDE * (at % ACROSS), 30 + (HIGH + 10) * (at // ACROSS))
    return "\n".join([*lines, "</svg>", ""])


def _chart(trend: Trend, history: History, left: int, top: int) -> Iterator[str]:
    colour = COLOURS[trend.growth > 0]
    figures = [figure for _, figure in trend.known]
    low, high = min(figures), max(figures)
    least = 0 if low <= (high - low) * 4 else low - (high - low)
    across, up = WIDE - LEFT - RIGHT, HIGH - TOP - BOTTOM

    def point(at: int, figure: float) -> tuple[float, float]:
        return left + LEFT + across * at / max(1, len(trend.figures) - 1), top + TOP + up * (
            1 - (figure - least) / ((high - least) or 1)
        )

    points = [point(at, figure) for at, figure in trend.known]
    yield (
        f'<text x="{left + LEFT}" y="{top + 14}" fill="#222222"'
        f' font-weight="bold">{escape(trend.name)}{" (crept)" if trend.crept else ""}</text>'
    )
    yield f'<text x="{left + LEFT}" y="{top + 28}" fill="#666666">{escape(_name(trend))}</text>'
    yield (
        f'<text x="{left + WIDE - RIGHT}" y="{top + 14}" fill="{colour}"'
        f' text-anchor="end">{escape(_ends(trend))}</text>'
    )
    yield (
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{colour}"'
        ' stroke-width="1.5"/>'
    )
    for (at, figure), (x, y) in zip(trend.known, points, strict=True):
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{colour}"><title>{escape(history.labels[at])}:'
            f" {figure_text(figure)}</title></circle>"
        )
    yield f'<text x="{left + LEFT}" y="{top + HIGH - 4}" fill="#666666">{escape(cut_at(history.labels[0], 20))}</text>'
    yield (
        f'<text x="{left + WIDE - RIGHT}" y="{top + HIGH - 4}" fill="#666666"'
        f' text-anchor="end">{escape(cut_at(history.labels[-1], 20))}</text>'
    )
