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

What the engine knows of each operation of the intermediate representation; PTX and machine code are both lowered to
these. Made from `engine/ops/table.py` by `make operations`. To add one: a row there, and a case in
`tests/test_operations_table.py`, which holds every transfer function against the operation's meaning on numbers.

| column | what it says |
|---|---|
| sources | the width at which each is read: `s` the operation's, `o` its own, `h` half, `c` 32 bits, `p` a predicate |
| numbers | what it makes of known numbers: *exact*; *bounded*: one of a few, as documents bound it |
| affine | a rule on `base + Σ coefficient·unknown` |
| bits | a rule on numbers of which some bits are known |
| range | a rule on intervals of unsigned integers |
| linear | sources that grow by the same in each trip of a loop make a result that does |
| lone | a rule on whether a predicate holds, or fails, in one lane of a warp at most |
| strict | nothing is known of it where nothing is known of one source |
| address | where an address that it makes points: as its first *source*, *either* source, the address of a *sum* … |

| operation | sources | numbers | affine | bits | range | linear | lone | strict | address |
|---|---|---|---|---|---|---|---|---|---|
"""

LANES = """
## What lanes do together

| operation | differs from lane to lane | depends on which lanes take part |
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
    return "bounded" if row.candidates is not None else "exact, but for some" if row.undefined is not None else "exact"


def _address(row: Row) -> str:
    return "" if row.origin in (Origin.NUMBER, Origin.OPAQUE) else row.origin.name.lower()


def _warp_rows() -> Iterator[str]:
    for name, warp in WARP.items():
        yield f"| `{name}` | {'yes' if warp.differs else ''} | {'yes' if warp.counts_lanes else ''} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
