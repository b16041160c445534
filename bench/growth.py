"""Measures how time and steps of an audit grow with the size of a kernel.

    python -m bench.growth [-o docs/growth.svg]

Families of kernels of any size, on each of which some analysis could be quadratic: chains of loads from shared
memory, branches whose conditions are not specified, definitions under a predicate. tests/ir/test_dataflow.py counts
their steps; the picture shows processor time over size.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path

from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.questions import with_questions
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir.link import link

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000)
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "growth.svg"
MACHINE = "sm_90"
_HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .pred %p<9>;
.shared .align 16 .b8 s[16384];
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
mad.lo.u32 %r3, %r1, 4, %r2;
mov.u32 %r5, %r3;
ld.param.u32 %r4, [k_param_1];
ld.param.u64 %rd1, [k_param_0];
"""
SPECIFIED = Launch("k", grid=(4, 1), block=(64, 1), params=["?", 5])
PARTLY = Launch("k", grid=(4, 1), block=(64, 1), params=["?", "?"])


@dataclass(frozen=True)
class Family:
    """what: description; part: the i-th piece of the kernel; before: text before all; launches: to audit it under."""

    what: str
    part: Callable[[int], str]
    before: str = ""
    launches: tuple[Launch | None, ...] = (None, PARTLY, SPECIFIED)

    def kernel(self, size: int) -> str:
        """PTX with this many pieces."""
        return _HEAD + self.before + "".join(self.part(i) for i in range(size)) + "E:\nret;\n}\n"


def _store(i: int) -> str:
    return f"st.shared.u32 [%r3+{4 * (i % 64)}], %r1;\n"


FAMILIES = {
    "loads": Family(
        "loads from shared memory, each at an address that the last one read",
        lambda i: "ld.shared.u32 %r6, [%r5];\nand.b32 %r6, %r6, 1020;\nadd.u32 %r5, %r6, %r2;\n",
    ),
    "guarded-loads": Family(
        "the same, the address taken under a predicate",
        lambda i: "ld.shared.u32 %r6, [%r5];\nand.b32 %r6, %r6, 1020;\n@%p1 add.u32 %r5, %r6, %r2;\n",
        "setp.eq.u32 %p1, %r4, 5;\n",
    ),
    "branches": Family(
        "branches on a parameter, each around a store",
        lambda i: f"setp.eq.u32 %p1, %r4, {i};\n@%p1 bra L{i};\n{_store(i)}L{i}:\n",
    ),
    "leaving": Family(
        "branches on a parameter, each to the end", lambda i: f"setp.eq.u32 %p1, %r4, {i};\n@%p1 bra E;\n{_store(i)}"
    ),
    "moved": Family(
        "branches on a parameter, each around an increment of the address",
        lambda i: f"setp.eq.u32 %p1, %r4, {i};\n@%p1 bra L{i};\nadd.u32 %r3, %r3, 4;\nL{i}:\n{_store(i)}",
    ),
    "moved-by-data": Family(
        "branches on a number out of memory, each around an increment of the address",
        lambda i: f"setp.eq.u32 %p1, %r4, {i};\n@%p1 bra L{i};\nadd.u32 %r3, %r3, 4;\n{_store(i)}L{i}:\n",
        "ld.global.u32 %r4, [%rd1];\n",
    ),
    "by-lane": Family(
        "branches on the lane", lambda i: f"setp.eq.u32 %p1, %r1, {i};\n@%p1 bra L{i};\n{_store(i)}L{i}:\n"
    ),
    "pointers": Family(
        "increments of an address, a store at every tenth",
        lambda i: ("" if i % 10 else "st.shared.u32 [%r3], %r1;\n") + "add.u32 %r3, %r3, 4;\n",
    ),
    "guarded": Family(
        "the same, under a predicate",
        lambda i: ("" if i % 10 else "st.shared.u32 [%r3], %r1;\n") + "@%p1 add.u32 %r3, %r3, 4;\n",
        "setp.eq.u32 %p1, %r4, 5;\n",
    ),
    "selected": Family(
        "addresses chosen by a parameter, each from the last",
        lambda i: (
            f"setp.eq.u32 %p1, %r4, {i};\nselp.b32 %r5, 4, 8, %p1;\nadd.u32 %r3, %r3, %r5;\nst.shared.u32 [%r3], %r1;\n"
        ),
    ),
    "loops": Family(
        "loops one after the other",
        lambda i: (
            f"mov.u32 %r6, 0;\nL{i}:\nadd.u32 %r7, %r6, %r3;\nst.shared.u32 [%r7], %r1;\nadd.u32 %r6, %r6, 4;\n"
            f"setp.lt.u32 %p1, %r6, %r4;\n@%p1 bra L{i};\n"
        ),
    ),
}


@dataclass(frozen=True)
class Cost:
    """The cost of an audit. seconds: of processor time, without parsing."""

    steps: int
    seconds: float


def cost(family: Family, size: int, launch: Launch | None) -> Cost:
    """Audits a kernel of a family; parsing is not measured."""
    module = lift_module(parse_module(family.kernel(size), "k.ptx"))
    machine, account = machines.get(MACHINE), Account()
    began = time.process_time()
    function = link(module, module.functions["k"])
    flow = graph.build(function, account)
    result = engine.evaluate(function, flow, launch=launch, machine=machine, account=account)
    with_questions(result, function, flow, machine, launch, account)
    return Cost(account.spent, time.process_time() - began)


def measured(sizes: Sequence[int]) -> dict[str, dict[int, Cost]]:
    """family -> size -> the cost summed over all its launches"""
    out: dict[str, dict[int, Cost]] = {}
    for name, family in FAMILIES.items():
        cost(family, 10, None)  # loads what is imported at the first use
        for size in sizes:
            each = [cost(family, size, launch) for launch in family.launches]
            out.setdefault(name, {})[size] = one = Cost(sum(c.steps for c in each), sum(c.seconds for c in each))
            print(
                f"{name:<14} {size:>7,} {one.seconds:8.2f} s {one.steps:>12,} steps {one.seconds / size * 1000:8.3f} ms"
                " each",
                flush=True,
            )
    return out


_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 760, 420, 60, 20, 50
_COLOURS = (
    "#1b6ca8",
    "#c0392b",
    "#27803b",
    "#8e44ad",
    "#b9770e",
    "#117a65",
    "#7b241c",
    "#34495e",
    "#d35400",
    "#2471a3",
    "#616a6b",
)


def picture(found: dict[str, dict[int, Cost]]) -> str:
    """Processor time over size, both on logarithmic scales, as SVG: a line of slope 1 is linear."""
    sizes = sorted({size for costs in found.values() for size in costs})
    times = [cost.seconds for costs in found.values() for cost in costs.values()]
    least, most = log10(max(min(times), 1e-3)), log10(max(times))
    across = lambda size: (
        _LEFT + (log10(size) - log10(sizes[0])) / max(log10(sizes[-1]) - log10(sizes[0]), 1e-9) * (_WIDTH - _LEFT - 150)
    )
    up = lambda seconds: (
        _HEIGHT - _BOTTOM - (log10(max(seconds, 1e-3)) - least) / max(most - least, 1e-9) * (_HEIGHT - _BOTTOM - _TOP)
    )
    rows = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
            ' font-size="11">'
        ),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    for size in sizes:
        rows.append(
            f'<line x1="{across(size):.1f}" y1="{_TOP}" x2="{across(size):.1f}" y2="{_HEIGHT - _BOTTOM}"'
            f' stroke="#eee"/><text x="{across(size):.1f}" y="{_HEIGHT - _BOTTOM + 15}"'
            f' text-anchor="middle">{size:,}</text>'
        )
    for power in range(-3, 4):
        if least <= power <= most:
            rows.append(
                f'<line x1="{_LEFT}" y1="{up(10**power):.1f}" x2="{_WIDTH - 150}" y2="{up(10**power):.1f}"'
                f' stroke="#eee"/><text x="{_LEFT - 6}" y="{up(10**power) + 4:.1f}" text-anchor="end">{10**power:g}'
                " s</text>"
            )
    for n, (name, costs) in enumerate(found.items()):
        colour, points = (
            _COLOURS[n % len(_COLOURS)],
            " ".join(f"{across(s):.1f},{up(c.seconds):.1f}" for s, c in costs.items()),
        )
        rows.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            f'<text x="{_WIDTH - 140}" y="{_TOP + 16 + 16 * n}" fill="{colour}">{name}</text>'
        )
    rows.append(
        f'<text x="{(_WIDTH - 90) / 2}" y="{_HEIGHT - 12}" text-anchor="middle">pieces of a kernel (a line of slope 1'
        " is linear)</text></svg>"
    )
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=lambda text: [int(s) for s in text.split(",")], default=SIZES)
    parser.add_argument("-o", "--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    options.output.write_text(picture(measured(options.sizes)), encoding="utf-8")


if __name__ == "__main__":
    main()
