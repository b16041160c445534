"""`python -m bench [NAME…]`: measures the figures that docs/speed.md quotes and compares them with their goals.

Process times, which a busy machine changes little; the best of several runs. Exits with status 1 if a goal is missed.
`--list` lists the figures, `--json` is for other programs, `--write` writes the rows into the page.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from bench.figures import FIGURES, Figure, as_json
from bench.measure import CHECKOUT

PAGE = CHECKOUT / "docs" / "speed.md"
_MARKS = re.compile(r"(<!-- bench -->\n)(.*?)(<!-- /bench -->)", re.DOTALL)
_MEASURED_BY = re.compile(r"`python -m bench (\w+)` \|$")


def line(figure: Figure) -> str:
    unit = f" {figure.unit}" if figure.unit else ""
    note = f"  ({figure.note})" if figure.note else ""
    return (
        f"{figure.name:<66} {figure.measured:8.2f}{unit:<3} goal {figure.goal:4g}{unit:<3} ratio"
        f" {figure.ratio:5.2f}{note}"
    )


def table(found: dict[str, list[Figure]], before: str = "") -> str:
    """Returns the page's table of figures. before: the page so far; its rows for figures not measured now are kept."""
    kept: dict[str, list[str]] = {}
    for row in before.splitlines():
        if measured := _MEASURED_BY.search(row):
            kept.setdefault(measured[1], []).append(row)
    for name, figures in found.items():
        kept[name] = []
        for one in figures:
            goal = f"{one.goal:g} {one.unit}".strip()
            kept[name].append(f"| {one.name.strip()} | {one.ratio:.2f} | {goal} | `python -m bench {name}` |")
    rows = [row for name in FIGURES for row in kept.get(name, ())]
    return "\n".join(["| figure | ratio to its goal | goal | measured by |", "|---|---|---|---|", *rows]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="*", help=f"which: {', '.join(FIGURES)} [all]")
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write them into the table of docs/speed.md")
    options = parser.parse_args()
    if unknown := set(options.name) - set(FIGURES):
        parser.error(f"there is no figure {', '.join(sorted(unknown))}; there are {', '.join(FIGURES)}")
    if options.list:
        print("\n".join(f"{name:<10} {function.__doc__}" for name, function in FIGURES.items()))
        return 0
    found: dict[str, list[Figure]] = {}
    with tempfile.TemporaryDirectory(prefix="ptxaudit-bench-") as folder:
        for name in options.name or FIGURES:
            for figure in FIGURES[name](Path(folder)):
                found.setdefault(name, []).append(figure)
                if not options.json:
                    print(line(figure), flush=True)
    every = [figure for figures in found.values() for figure in figures]
    if options.json:
        print(as_json(every))
    if options.write:
        PAGE.write_text(
            _MARKS.sub(lambda marks: marks[1] + table(found, marks[2]) + marks[3], PAGE.read_text(encoding="utf-8")),
            encoding="utf-8",
        )
    return 1 if any(figure.ratio > 1 for figure in every) else 0


if __name__ == "__main__":
    sys.exit(main())
