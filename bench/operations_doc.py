"""Writes docs/operations.md from the table of operations: `make operations`.

python -m bench.operations_doc          writes it
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptxaudit.engine.ops import OPS, Origin, Row
from ptxaudit.ir.warp_operations import WARP

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"

HEAD = """\
# Operations

What the engine knows about each operation of the intermediate representation, to which PTX and machine code are both
lowered. `make operations` generates this page from `engine/ops/table.py`. To add an operation, add a row there, and a case
to `tests/engine/ops/test_operations_table.py`, which checks every transfer function against the operation on known numbers.

| column | meaning |
|---|---|
| sources | the width at which each source is read: `s` the operation's, `o` its own, `h` half the operation's, `c` 32 bits, `p` a predicate |
| numbers | the result for known numbers: *exact*; *exact if defined*: some inputs have no defined result; *bounded*: one of a few numbers, within documented bounds |
| affine | it has a rule for affine values, `base + Σ coefficient·unknown` |
| bits | it has a rule for numbers with some known bits |
| range | it has a rule for intervals of unsigned integers |
| linear | if each source changes by a constant in every trip of a loop, so does the result |
| lone | it has a rule for whether a predicate is true, or false, in at most one lane of a warp |
| strict | the result is opaque if any source is |
| address | where a computed address points: where the first *source* does, where *either* source does, where the pointer in a *sum* does … |

| operation | sources | numbers | affine | bits | range | linear | lone | strict | address |
|---|---|---|---|---|---|---|---|---|---|
"""

LANES = """
## Operations across lanes

| operation | result differs between lanes | depends on the participating lanes |
|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(_rows()) + LANES + "".join(_warp_rows())


def _rows() -> Iterator[str]:
    for name, row in OPS.items():
        marks = (row.affine, row.bits, row.range, row.linear, row.lone, row.strict)
        cells = (
            f"`{name}`",
            f"`{row.widths}`",
            _numbers(row),
            *("yes" if mark else "" for mark in marks),
            _address(row),
        )
        yield f"| {' | '.join(cells)} |\n"


def _numbers(row: Row) -> str:
    return "bounded" if row.candidates is not None else "exact if defined" if row.undefined is not None else "exact"


def _address(row: Row) -> str:
    return "" if row.origin in (Origin.NUMBER, Origin.OPAQUE) else row.origin.name.lower()


def _warp_rows() -> Iterator[str]:
    for name, warp in WARP.items():
        yield f"| `{name}` | {'yes' if warp.differs else ''} | {'yes' if warp.counts_lanes else ''} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
