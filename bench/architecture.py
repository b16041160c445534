"""Draws docs/architecture.svg from the source: the packages in order, their modules, and their imports.

    python -m bench.architecture            writes the picture (make architecture)

One row per package, as in the contract of import-linter. From each row a line leaves to the right and goes up; where
it meets the line of another row, the first package imports the other, as often as the number says: a module of the
first that names a module of the other, counted once.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ptxaudit"
PICTURE = ROOT / "docs" / "architecture.svg"

BOX = 640  # pixels, like all that follow
COLUMN = 44
MARGIN, GAP, PADDING = 12, 12, 10
NAME, LINE = 19, 15  # heights of lines of text
LETTER = 6.63  # width of a letter of 11 px monospace
BADGE_HIGH, DIGIT = 16, 6.1

STYLE = """
text { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #4a4f57; }
.name { font-size: 14px; font-weight: bold; fill: #14181d; }
.box { fill: #f4f6f9; stroke: #9aa4b2; }
.line { fill: none; stroke: #7d8896; stroke-width: 1.2; }
.head { fill: #7d8896; }
.badge { fill: #ffffff; stroke: #7d8896; }
.count { font-size: 10px; fill: #14181d; text-anchor: middle; }
@media (prefers-color-scheme: dark) {
  text { fill: #b4bcc8; }
  .name, .count { fill: #f0f3f6; }
  .box { fill: #1d2229; stroke: #5a6472; }
  .line { stroke: #8b95a3; }
  .head { fill: #8b95a3; }
  .badge { fill: #0d1117; stroke: #8b95a3; }
}
"""


@cache
def doors() -> list[str]:
    """The packages, beginning with the one that imports none."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return next(one["layers"] for one in settings["contracts"] if one["type"] == "layers")[::-1]


@cache
def modules() -> dict[str, Path]:
    """{"base.errors": its file}; a package's own `__init__` has the package's name."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported(file: Path, known: dict[str, Path]) -> set[str]:
    """The package's modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in inner if name.removeprefix("ptxaudit.") in known}
            names |= modules or {node.module}
    return {name.removeprefix("ptxaudit.") for name in names if name.startswith("ptxaudit.")} & set(known)


@cache
def imports() -> Counter[tuple[str, str]]:
    """{(importing package, imported package): number of imports}, between different packages."""
    known = modules()
    found: Counter[tuple[str, str]] = Counter()
    for name, file in known.items():
        for other in imported(file, known):
            one, two = name.partition(".")[0], other.partition(".")[0]
            if one != two and one in doors():
                found[one, two] += 1
    return found


def contents(door: str) -> list[str]:
    """The contents of a package: its modules by name, its subpackages with their numbers of modules."""
    inside = [name.split(".")[1:] for name in modules() if name.startswith(f"{door}.")]
    folders = Counter(parts[0] for parts in inside if len(parts) > 1)
    return sorted(
        f"{parts[0]} ({folders[parts[0]]})" if parts[0] in folders else parts[0] for parts in inside if len(parts) == 1
    )


@dataclass(frozen=True)
class Row:
    """A package in the picture: y of its upper edge, its height, its lines of text."""

    name: str
    y: float
    height: float
    lines: tuple[str, ...]

    @property
    def out(self) -> float:
        """y at which the line of its own imports leaves."""
        return self.y + self.height * 0.3

    @property
    def into(self) -> float:
        """y at which the line of its importers arrives."""
        return self.y + self.height * 0.72


def rows() -> list[Row]:
    """The packages from top to bottom."""
    found: list[Row] = []
    y = float(MARGIN)
    for door in doors():
        text = ", ".join(contents(door)).replace(" (", "\xa0(")
        lines = tuple(textwrap.wrap(text, int((BOX - 2 * PADDING) / LETTER), break_on_hyphens=False)) if text else ()
        height = max(2 * PADDING + NAME - 4 + LINE * len(lines), 2 * BADGE_HIGH + 12)
        found.append(Row(door, y, height, lines))
        y += height + GAP
    return found


def column(place: int) -> float:
    """x of the line of the package at a place."""
    return MARGIN + BOX + 8 + COLUMN * (place - 0.35)


def boxes(found: list[Row]) -> Iterator[str]:
    total = Counter(name.partition(".")[0] for name, file in modules().items() if file.stem != "__init__")
    for row in found:
        yield f'<rect class="box" x="{MARGIN}" y="{row.y:g}" width="{BOX}" height="{row.height:g}" rx="5"/>'
        y = row.y + PADDING + 11
        yield f'<text class="name" x="{MARGIN + PADDING}" y="{y:g}">{row.name}</text>'
        many = f"{total[row.name]} modules" if total[row.name] > 1 else "one module"
        yield f'<text x="{MARGIN + PADDING + 100}" y="{y:g}">{many}</text>'
        for at, line in enumerate(row.lines, 1):
            yield f'<text x="{MARGIN + PADDING}" y="{y + NAME - 15 + LINE * at:g}">{line}</text>'


def arrows(found: list[Row]) -> Iterator[str]:
    """Lines first, numbers on top of them."""
    counts, edge = imports(), MARGIN + BOX
    for place, row in enumerate(found):
        above = [other for other in found[:place] if counts[row.name, other.name]]
        below = [at for at, other in enumerate(found) if counts[other.name, row.name]]
        if above:
            yield f'<path class="line" d="M{edge} {row.out:g} H{column(place):g} V{above[0].into:g}"/>'
        if below:
            yield f'<path class="line" d="M{column(below[-1]):g} {row.into:g} H{edge + 7}"/>'
            yield f'<path class="head" d="M{edge} {row.into:g} l8 -4 v8 z"/>'
    for place, row in enumerate(found):
        for other in found[:place]:
            if count := counts[row.name, other.name]:
                x, y, wide = column(place), other.into, DIGIT * len(str(count)) + 10
                yield (
                    f'<rect class="badge" x="{x - wide / 2:g}" y="{y - BADGE_HIGH / 2:g}" width="{wide:g}"'
                    f' height="{BADGE_HIGH}" rx="8"/><text class="count" x="{x:g}" y="{y + 3.5:g}">{count}</text>'
                )


def picture() -> str:
    """The whole SVG."""
    found = rows()
    wide, high = column(len(found) - 1) + 0.5 * COLUMN + MARGIN, found[-1].y + found[-1].height + MARGIN
    order = ", ".join(row.name for row in found)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" role="img">',
            f"<title>The packages of ptxaudit and their imports: {order}; each imports only those above it</title>",
            f"<style>{STYLE}</style>",
            *boxes(found),
            *arrows(found),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(PICTURE)
