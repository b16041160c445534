"""Compares what a GPU computed with the lifted operations of each instruction, executed by the engine's table.

A register that an instruction changes and no lifted operation writes is a difference, as is a number that is known and
is another one. What is unknown is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
from msgspec.structs import replace

from bench.encodings import slots
from bench.encodings.measure import ENDED, records
from bench.encodings.plan import INPUTS, PLAN, opcode
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.registers import Registers, View
from ptxaudit.engine.ops.operations import on_machine
from ptxaudit.frontend.sass.lift import lift_cubin
from ptxaudit.hardware import machines
from ptxaudit.ir import nodes as ir

FURTHER = "further"  # the name of the word that a kernel returns besides its registers
AT_ONCE = 1500  # instructions in one kernel
_ONE = np.uint32(1)


@dataclass
class Measured:
    """What an instruction changed. values: by register, (warps, lanes)."""

    text: str
    code: bytes
    values: dict[str, np.ndarray]


def measured(folder: Path, out: Path) -> tuple[dict[str, np.ndarray], list[Measured]]:
    """(every register before, the instructions that were executed)."""
    plan = json.loads((folder / PLAN).read_text())["instructions"]
    inputs = np.load(folder / INPUTS)
    before, plain = np.moveaxis(inputs, 2, 0), np.moveaxis(np.load(out / "plain.npy"), 2, 0)
    found = []
    for part in sorted((*out.glob("groups-*.bin"), *out.glob("single-*.bin"))):
        changed: dict[int, np.ndarray] = {}
        for index, register, values in records(part.read_bytes(), int(np.prod(inputs.shape[:2]))):
            if values is not None:
                changed[register] = values
                continue
            if register == ENDED:
                after = plain.copy()
                for r, v in changed.items():
                    after[r - slots.FIRST] = v.reshape(inputs.shape[:2])
                text, code = plan[index]
                found.append(Measured(text, bytes.fromhex(code), _named(after, True)))
            changed = {}
    return _named(before), found


def keep(parts: Sequence[tuple[Path, Path]], most: int, file: Path) -> int:
    """Writes some of the instructions of several runs, with the first warp of each; returns their number.

    names (r,): of registers; texts (n,), codes (n, 16), run (n,): of instructions; before (runs, r, 32); index, register,
    values (k,), (k,), (k, 32): the registers that changed.
    """
    rng, some, befores = Random(1), [], []
    for run, part in enumerate(parts):
        before, found = measured(*part)
        befores.append(before)
        some += [(run, one) for one in found]
    chosen = [some[k] for k in sorted(rng.sample(range(len(some)), min(most, len(some))))]
    names = list(befores[0])
    changed = [
        (k, r, one.values[name][0])
        for k, (run, one) in enumerate(chosen)
        for r, name in enumerate(names)
        if (one.values[name][0] != befores[run][name][0]).any()
    ]
    index, register, values = zip(*changed)
    np.savez_compressed(
        file,
        names=np.array(names),
        texts=np.array([one.text for _, one in chosen]),
        codes=np.array([list(one.code) for _, one in chosen], np.uint8),
        run=np.array([run for run, _ in chosen], np.uint8),
        before=np.array([[before[name][0] for name in names] for before in befores], np.uint32),
        index=np.array(index, np.uint32),
        register=np.array(register, np.uint8),
        values=np.array(values, np.uint32),
    )
    return len(chosen)


def kept(file: Path) -> tuple[list[dict[str, np.ndarray]], list[tuple[int, Measured]]]:
    """(the registers before, of each run; the run of each instruction, and the instruction), as `keep` wrote them."""
    data = np.load(file)
    names = [str(name) for name in data["names"]]
    befores = [{name: values[None] for name, values in zip(names, each)} for each in data["before"]]
    found = [
        (int(run), Measured(str(text), bytes(code), dict(befores[run])))
        for run, text, code in zip(data["run"], data["texts"], data["codes"])
    ]
    for index, register, values in zip(data["index"], data["register"], data["values"]):
        found[index][1].values[names[register]] = values[None]
    return befores, found


def _named(words: np.ndarray, after: bool = False) -> dict[str, np.ndarray]:
    """Registers by their names in machine code."""
    word = {r: words[r - slots.FIRST] for r in range(slots.FIRST, slots.LAST + 1)}
    out = {f"R{r}": word[r] for r in range(slots.FIRST, slots.UNIFORM.start)}
    out |= {f"UR{slots.FIRST_UNIFORM + k}": word[r] for k, r in enumerate(slots.UNIFORM)}
    out[FURTHER] = words[slots.WORDS] if len(words) > slots.WORDS else np.zeros_like(words[0])
    predicates = word[slots.PREDICATES_OUT if after else slots.PREDICATES_IN]
    out |= {f"P{k}": predicates >> np.uint32(k) & _ONE for k in range(slots.PREDICATES)}
    uniform = word[slots.UNIFORM_PREDICATES_OUT] if after else word[slots.UNIFORM.start + 6]
    return out | {f"UP{k}": uniform >> np.uint32(k) & _ONE for k in range(slots.UNIFORM_PREDICATES)}


def lifted(instructions: Sequence[Measured]) -> Iterator[ir.Instruction]:
    """Each instruction, as the lifter reads it among others."""
    for first in range(0, len(instructions), AT_ONCE):
        some = instructions[first : first + AT_ONCE]
        kernel = slots.kernel(len(some))
        function = lift_cubin(kernel.with_instructions([[one.code for one in some]]), "k.cubin").functions["k"]
        by_offset = {instruction.place: instruction for instruction in function.instructions}
        barriers = [i for i in function.instructions if i.opcode.startswith("BAR")]
        start = barriers[0].place + slots.SIZE
        for k in range(len(some)):
            yield by_offset[start + k * slots.SIZE]


class Execution:
    """All lanes while the operations of some instructions are executed by the engine, one warp per row.

    written: the names of the registers that they may have written.
    """

    def __init__(
        self, values: Mapping[str, Value], instructions: Sequence[ir.Instruction], isa: Literal["ptx", "sass"]
    ):
        self.shape = np.broadcast_shapes((1, LANES), *(value.base.shape for value in values.values()))
        mask, rows = np.ones(self.shape, bool), self.shape[0]
        lane, warp = np.arange(LANES, dtype=np.uint32)[None, :], np.arange(rows, dtype=np.uint32)[:, None]
        nothing = np.zeros(self.shape, np.uint32)
        env = Environment(
            ir.Function("k", isa, "sm_90", tuple(instructions)), mask, (warp * LANES + lane, nothing, nothing), warp
        )
        env.facts = replace(env.facts, meanings=on_machine(machines.get("sm_90").measurements.special))
        self.view = View(Registers(rows, dict(values)), env, None, mask, True, alive=mask)
        self.written: set[str] = set()

    @property
    def registers(self) -> dict[str, Value]:
        return self.view.registers.values

    def read(self, source: ir.Operand) -> Value:
        return self.view.read(source)

    def execute(self, op: ir.Op, index: int = 0) -> None:
        """index: of its instruction."""
        self.written |= {register.name for register in op.dst if register is not None}
        execute(op, self.view, index)

    def guard(self, guard: ir.Guard | None) -> np.ndarray | None:
        """In which lanes an instruction acts; None if it is unknown."""
        if guard is None:
            return np.ones(self.shape, bool)
        numbers, sure = known(self.read(guard.reg), self.shape)
        return numbers.astype(bool) != guard.negated if sure.all() else None


def of_machine(before: Mapping[str, np.ndarray]) -> dict[str, Value]:
    """Registers of machine code by name, as values: a uniform register has one per warp."""
    out = {}
    for name, numbers in before.items():
        kept = numbers[:, :1] if name.startswith("U") else numbers
        out[name] = Value(kept.astype(bool) if "P" in name else kept.astype(np.uint32))
    return out


def known(value: Value, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(the numbers, where they are known)."""
    base = np.broadcast_to(value.base, shape)
    if value.terms or value.valid is not None or value.alternatives is not None:
        return base, np.zeros(shape, bool)
    if value.poison is None:
        return base, np.ones(shape, bool)
    return base, ~np.broadcast_to(np.asarray(value.poison, bool), shape)


def differences(
    before: dict[str, np.ndarray], one: Measured, instruction: ir.Instruction
) -> tuple[list[str], int, int]:
    """(what differs, in words; the numbers that are known; those that are not), of the registers written."""
    run = Execution(of_machine(before), (instruction,), "sass")
    for op in instruction.ops:
        run.execute(op)
    return differing_registers(run, before, one, instruction)


def differing_registers(
    run: Execution, before: dict[str, np.ndarray], one: Measured, instruction: ir.Instruction
) -> tuple[list[str], int, int]:
    """As `differences`, after the operations."""
    out, certain, open_ = [], 0, 0
    for name, after in one.values.items():
        if name == FURTHER:
            continue
        if name not in run.written:
            if (after != before[name]).any():
                out.append(f"{name} is written, and no operation says so")
            continue
        numbers, sure = known(run.registers[name], run.shape)
        certain, open_ = certain + int(sure.sum()), open_ + int((~sure).sum())
        wrong = sure & (numbers.astype(np.uint32) != after)
        if wrong.any():
            lane = tuple(int(k[0]) for k in np.nonzero(wrong))
            read = {
                s.name: hex(before[s.name][lane])
                for op in instruction.ops
                for s in op.src
                if isinstance(s, ir.Reg) and s.name in before
            }
            out.append(
                f"{name} is {after[lane]:#x} and not {int(numbers[lane]):#x} with {read} "
                f"({int(wrong.sum())} of {int(sure.sum())} lanes)"
            )
    return out, certain, open_


def report(folder: Path, out: Path) -> str:
    """The differences, and how many numbers were known, by opcode."""
    before, found = measured(folder, out)
    lines, certain, open_, bad = [], Counter[str](), Counter[str](), Counter[str]()
    for one, instruction in zip(found, lifted(found)):
        stem = opcode(one.text).partition(".")[0]
        wrong, sure, unsure = differences(before, one, instruction)
        certain[stem] += sure
        open_[stem] += unsure
        bad[stem] += bool(wrong)
        lines += [f"{one.text}: {each}" for each in wrong]
    for stem in sorted(certain):
        lines.append(f"{stem:10} {certain[stem]:8} known {open_[stem]:8} unknown {bad[stem]:5} differ")
    lines.append(f"{len(found)} instructions, {sum(certain.values())} numbers known, {sum(bad.values())} differ")
    return "\n".join(lines)
