"""Compares what a GPU computed with the lifted operations of each program, executed by the engine's table.

A known number, a known bit, or a list of alternatives that the GPU's result is not in, is a difference. What is unknown
is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.encodings.check import Execution, known
from bench.ptx_forms import inputs, kernel, plan
from bench.ptx_forms.programs import Program
from ptxaudit.engine.domain.value import DTYPES, Value
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir import nodes as ir

WARP = 32


@dataclass
class Compared:
    """Of a program: what differs, in words, and its lanes by what is said of them."""

    program: Program
    wrong: list[str]
    certain: int = 0
    listed: int = 0
    open_: int = 0


def initial(values: dict[str, np.ndarray]) -> dict[str, Value]:
    """Inputs as registers of the engine: one row for each warp."""
    out = {}
    for register, numbers in values.items():
        width = inputs.bits(register[1:].rpartition("_")[0])
        rows = numbers.reshape(-1, WARP)
        out[register] = Value((rows & np.uint64(1)).astype(bool) if width == 1 else rows.astype(DTYPES[width]))
    return out


def lifted(programs: Sequence[Program]) -> Iterator[list[ir.Instruction]]:
    """The instructions of each program, lifted as those of one kernel."""
    text, places = kernel.source(programs)
    function = lift_module(parse_module(text)).functions["k"]
    by_line = {instruction.place: instruction for instruction in function.instructions}
    for place in places:
        yield [by_line[line] for line in place]


def _named(name: str, registers: dict[str, Value]) -> str | None:
    """The register of a scope inside the kernel has an ending of its own."""
    return next((full for full in registers if full == name or full.startswith(name + "@")), None)


def compared(
    program: Program, instructions: list[ir.Instruction], before: dict[str, Value], truths: np.ndarray
) -> Compared:
    """truths: (results, lanes) of 64 bits."""
    run = Execution(before, instructions, "ptx")
    for index, instruction in enumerate(instructions):
        for op in instruction.ops:
            run.execute(op, index)
    out = Compared(program, [])
    for (register, width), row in zip(program.results, truths):
        truth = row.reshape(-1, WARP) & np.uint64((1 << width) - 1)
        name = _named(register, run.registers)
        if name is None:
            out.open_ += row.size
            continue
        _judge(out, register, run.registers[name], truth)
    return out


def _judge(out: Compared, register: str, value: Value, truth: np.ndarray) -> None:
    numbers, sure = known(value, truth.shape)
    numbers = numbers.astype(np.uint64)
    wrong = sure & (numbers != truth)
    out.certain += int(sure.sum())
    if value.alternatives is not None:
        unknown = value.alternatives.unknown
        told = np.broadcast_to(True if unknown is None else ~unknown, truth.shape)
        among = (np.broadcast_to(value.alternatives.bases, (len(value.alternatives.bases), *truth.shape)) == truth).any(
            axis=0
        )
        wrong = wrong | told & ~among
        out.listed += int(told.sum())
        out.open_ += int((~told).sum())
    else:
        out.open_ += int((~sure).sum())
        if value.sure is not None and not value.terms:
            wrong = wrong | ~sure & (
                ((numbers ^ truth) & np.broadcast_to(value.sure, truth.shape).astype(np.uint64)) != 0
            )
    if wrong.any():
        lane = tuple(int(k[0]) for k in np.nonzero(wrong))
        at = lane[0] * WARP + lane[1]
        out.wrong.append(
            f"{register} is {int(truth[lane]):#x} and not {int(numbers[lane]):#x} in lane {at} ({int(wrong.sum())} lanes)"
        )


def truths(out: Path) -> dict[str, np.ndarray]:
    """By level of optimisation: (results, lanes)."""
    found = {"O3": np.load(out / "O3.npz")["arr_0"]}
    differs = np.load(out / "O0.npz")
    found["O0"] = found["O3"].copy()
    found["O0"][differs["rows"]] = differs["values"]
    return found


def all_compared(folder: Path, out: Path) -> Iterator[tuple[str, Compared]]:
    """(level, comparison) of every program; of those at -O0, where the results differ from those at -O3."""
    values = inputs_of(np.load(folder / plan.INPUTS))
    before, results, at = initial(values), truths(out), 0
    for group in plan.read(folder):
        for program, instructions in zip(group, lifted(group)):
            rows = slice(at, at := at + len(program.results))
            yield "O3", compared(program, instructions, before, results["O3"][rows])
            if (results["O3"][rows] != results["O0"][rows]).any():
                yield "O0", compared(program, instructions, before, results["O0"][rows])


def inputs_of(array: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(kernel.SLOTS, array))


def report(folder: Path, out: Path) -> str:
    """The differences, and how many lanes were known, by base name."""
    values = inputs_of(np.load(folder / plan.INPUTS))
    lines, counts = [], Counter[tuple[str, str]]()
    nothing: set[str] = set()
    some: set[str] = set()
    for level, one in all_compared(folder, out):
        base = one.program.opcode.partition(".")[0]
        counts[base, "programs"] += 1
        counts[base, "known"] += one.certain
        counts[base, "listed"] += one.listed
        counts[base, "unknown"] += one.open_
        counts[base, "differ"] += bool(one.wrong)
        (some if one.certain or one.listed else nothing).add(one.program.opcode)
        for each in one.wrong:
            lane = int(each.partition("in lane ")[2].split()[0])
            read = {r: hex(int(values[r][lane])) for r in values if any(r in line for line in one.program.lines)}
            lines.append(f"-{level} {one.program.text}: {each} with {read}")
    kinds = ("programs", "known", "listed", "unknown", "differ")
    for base in sorted({base for base, _ in counts}):
        lines.append(f"{base:10} " + " ".join(f"{counts[base, kind]:9} {kind}" for kind in kinds))
    lines.append("never known: " + ", ".join(sorted(nothing - some)))
    lines.append(", ".join(f"{sum(counts[b, k] for b, k in counts if k == kind)} {kind}" for kind in kinds))
    return "\n".join(lines)
