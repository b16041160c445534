"""`python -m bench [NAME…]`: measures the figures that README quotes and holds them against their goals.

Process times, so that a busy machine changes little; the best of several runs. Exit status 1 where a
goal is missed. `--list` names the figures, `--json` is for machines.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.figures import FIGURES, Figure, as_json


def line(figure: Figure) -> str:
    unit = f" {figure.unit}" if figure.unit else ""
    note = f"  ({figure.note})" if figure.note else ""
    return f"{figure.name:<66} {figure.measured:8.2f}{unit:<3} goal {figure.goal:4g}{unit:<3} ratio {figure.ratio:5.2f}{note}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="*", help=f"which: {', '.join(FIGURES)} [all]")
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.name) - set(FIGURES):
        parser.error(f"there is no figure {', '.join(sorted(unknown))}; there are {', '.join(FIGURES)}")
    if options.list:
        print("\n".join(f"{name:<10} {function.__doc__}" for name, function in FIGURES.items()))
        return 0
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="ptxaudit-bench-") as folder:
        for name in options.name or FIGURES:
            for figure in FIGURES[name](Path(folder)):
                found.append(figure)
                if not options.json:
                    print(line(figure), flush=True)
    if options.json:
        print(as_json(found))
    return 1 if any(figure.ratio > 1 for figure in found) else 0


if __name__ == "__main__":
    sys.exit(main())
