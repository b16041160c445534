"""Compares registers and shared memory after each instruction with what the lifted operations do to them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from bench.encodings.check import FURTHER, Execution, Measured, differing_registers, known, lifted, measured, of_machine
from bench.encodings.plan import LANES, WARPS, opcode
from bench.shared_encodings.counts import counted
from bench.shared_encodings.plan import BYTES, FILL, ROUNDS, WINDOW
from ptxaudit.engine.domain.value import Value, opaque
from ptxaudit.engine.memory.matrices import registers_of, rows_of
from ptxaudit.hardware import machines
from ptxaudit.hardware.banks import score
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.reasons import Kind, Reason

MACHINE = machines.get("sm_90")
MOST = 1 << 30  # wavefronts, if nothing is known
_WHY = Reason(Kind.NOT_UNDERSTOOD, 0, ())
_ATOMIC = {
    "add": lambda old, new, bits: old + new,
    "exch": lambda old, new, bits: new,
    "and": lambda old, new, bits: old & new,
    "or": lambda old, new, bits: old | new,
    "xor": lambda old, new, bits: old ^ new,
    "min": lambda old, new, bits: min(old, new),
    "max": lambda old, new, bits: max(old, new),
    "min.s": lambda old, new, bits: min(old, new, key=lambda n: n ^ 1 << bits - 1),
    "max.s": lambda old, new, bits: max(old, new, key=lambda n: n ^ 1 << bits - 1),
    "inc": lambda old, new, bits: 0 if old >= new else old + 1,
    "dec": lambda old, new, bits: new if old == 0 or old > new else old - 1,
}


class Shared(Execution):
    """Registers and shared memory while the operations of one instruction are executed. digest: of memory, if known."""

    def __init__(self, before: dict[str, np.ndarray], instruction: ir.Instruction):
        super().__init__(of_machine(before), (instruction,), "sass")
        places = np.arange(0, BYTES, 4, dtype=np.uint32)
        self.memory = (places * np.uint32(FILL)).view(np.uint8).copy()
        self.certain = True

    def execute(self, op: ir.Op, index: int = 0) -> None:
        if op.name == ir.STORE_MATRIX or op.space == ir.MATRICES:
            return self._matrix(op)
        if op.name not in ("load", "store", "atom", "clobber"):
            return super().execute(op, index)
        guard = self.guard(op.guard)
        places = None if op.space != "shared" or guard is None else self._places(op)
        for register in op.dst:
            if register is not None:
                self.written.add(register.name)
        if places is None:
            self.certain = self.certain and op.name == "load"
            results = [None] * len(op.dst)
        else:
            results = getattr(self, op.name)(op, places, guard)
        for register, result in zip(op.dst, results):
            if register is not None:
                new = opaque(register.bits, _WHY) if result is None else Value(result)
                self.view.write(register, new, guard)

    def _places(self, op: ir.Op) -> np.ndarray | None:
        base, sure = known(self.read(op.src[0]), self.shape)
        places = (base.astype(np.int64) + op.offset & 0xFFFFFFFF) - WINDOW
        return places if sure.all() and places.min() >= 0 and places.max() <= BYTES - 16 else None

    def _number(self, places: np.ndarray, size: int) -> np.ndarray:
        out = np.zeros(self.shape, np.uint64)
        for k in range(size):
            out |= self.memory[places + k].astype(np.uint64) << np.uint64(8 * k)
        return out

    def load(self, op: ir.Op, places: np.ndarray, guard: np.ndarray) -> list[np.ndarray]:
        bits, signed = op.attrs[:2]
        out = []
        for k in range(len(op.dst)):
            number = self._number(places + 4 * k, bits // 8)
            if signed:
                number = (number ^ np.uint64(1 << bits - 1)) - np.uint64(1 << bits - 1)
            out.append(number.astype(np.uint32))
        return out

    def _alone(self, places: np.ndarray, size: int, guard: np.ndarray) -> bool:
        """Whether no two lanes write one byte."""
        some = np.sort(places[guard])
        return len(some) < 2 or bool((np.diff(some) >= size).all())

    def store(self, op: ir.Op, places: np.ndarray, guard: np.ndarray) -> list[None]:
        bits, values = op.attrs[0], [known(self.read(s), self.shape) for s in op.src[1:]]
        size = bits // 8 if len(values) == 1 else 4 * len(values)
        self.certain = self.certain and self._alone(places, size, guard) and all(sure.all() for _, sure in values)
        for k, (numbers, _) in enumerate(values):
            for j in range(bits // 8):
                self.memory[(places + 4 * k + j)[guard]] = (numbers >> np.uint32(8 * j)).astype(np.uint8)[guard]
        return []

    def atom(self, op: ir.Op, places: np.ndarray, guard: np.ndarray) -> list[np.ndarray | None]:
        words = 2 if ".64" in self.opcode else 1
        values = [known(self.read(s), self.shape) for s in op.src[1:]]
        numbers = [
            sum(known_[0].astype(np.uint64) << np.uint64(32 * j) for j, known_ in enumerate(values[k : k + words]))
            for k in range(0, len(values), words)
        ]
        bits, old = 32 * words, self._number(places, 4 * words)
        kind = op.attrs[0]
        told = kind == "cas" and len(numbers) == 2 or kind in _ATOMIC and len(numbers) == 1
        told = told and self._alone(places, 4 * words, guard) and all(np.all(sure) for _, sure in values)
        self.certain = self.certain and told
        if told:
            for at in np.argwhere(guard):
                lane = tuple(at)
                was, given = int(old[lane]), [int(np.broadcast_to(n, self.shape)[lane]) for n in numbers]
                new = (given[1] if was == given[0] else was) if kind == "cas" else _ATOMIC[kind](was, given[0], bits)
                for j in range(4 * words):
                    self.memory[places[lane] + j] = new >> 8 * j & 0xFF
        results = [(old >> np.uint64(32 * j)).astype(np.uint32) if told else None for j in range(words)]
        return results if len(op.dst) == words else [None] * len(op.dst)

    def _matrix(self, op: ir.Op) -> None:
        """Rows of 16 bytes, from and to the registers of whole warps."""
        guard, places = self.guard(op.guard), self._places(op)
        self.written |= {register.name for register in op.dst if register is not None}
        load = op.space == ir.MATRICES
        rows, transposed = (op.attrs[2:] if load else op.attrs) or (0, False)
        whole = guard is not None and (guard.all(axis=1) | ~guard.any(axis=1)).all()
        if places is None or not rows or not whole:
            self.certain = self.certain and load
            for register in filter(None, op.dst):
                self.registers[register.name] = opaque(register.bits, _WHY)
            return
        bytes_ = places[:, :, None] + np.arange(16)
        if load:
            words = registers_of(self.memory[bytes_], rows // 8, transposed).view(np.uint32)
            for k, register in enumerate(op.dst):
                if register is not None:
                    self.view.write(register, Value(words[:, :, k]), guard)
            return
        values = [known(self.read(source), self.shape) for source in op.src[1:]]
        numbers = np.stack([np.broadcast_to(n, self.shape) for n, _ in values], axis=2).astype(np.uint32)
        some = rows_of(np.ascontiguousarray(numbers).view(np.uint8), transposed)
        active = guard & (np.arange(LANES) < rows)
        self.certain = self.certain and self._alone(places, 16, active) and all(sure.all() for _, sure in values)
        self.memory[bytes_[active]] = some[active]

    def clobber(self, op: ir.Op, places: np.ndarray, guard: np.ndarray) -> list[None]:
        self.certain = False
        return []

    def cost(self, instruction: ir.Instruction) -> tuple[int, int]:
        """The fewest and the most wavefronts of all warps that may be counted.

        For wide loads by part of a warp, the count per instruction is not what the hardware takes (docs/truth.md, the
        second run): those are compared in total only, by `bench.adversary compare`.
        """
        site = instruction.site
        if site is None or site.access is None:  # there is no rule
            return 0, MOST
        addresses, sure = known(self.read(site.address), self.shape)  # read last
        active = self.guard(site.guard)
        wide = site.access.operation == "load" and site.access.width > 4
        if active is None or not sure.all() or wide and not active.all():
            return 0, MOST
        some = active.any(axis=1)
        places = addresses.astype(np.int64) + site.offset
        found = score(MACHINE, site.access, places[some], active[some])
        return int(found.low.sum()), int(found.high.sum())

    def digest(self) -> np.ndarray:
        words, threads = self.memory.view(np.uint32), WARPS * LANES
        out = np.zeros(threads, np.uint32)
        for first in range(0, len(words), threads):
            out = out * np.uint32(ROUNDS) + words[first : first + threads]
        return out.reshape(self.shape)


def executed(before: dict[str, np.ndarray], one: Measured, instruction: ir.Instruction) -> Shared:
    """Registers and shared memory after an instruction."""
    run = Shared(before, instruction)
    run.opcode = opcode(one.text)
    for op in instruction.ops:
        run.execute(op)
    return run


def differences(
    before: dict[str, np.ndarray], one: Measured, instruction: ir.Instruction, wavefronts: int
) -> tuple[list[str], int, int]:
    """(what differs, in words; numbers that are known; numbers that are not). wavefronts: that were counted."""
    run = executed(before, one, instruction)
    out, certain, open_ = differing_registers(run, before, one, instruction)
    writes = any(op.name in ("store", "atom", ir.STORE_MATRIX) for op in instruction.ops)
    if not run.certain:
        open_ += one.values[FURTHER].size
    else:
        certain += one.values[FURTHER].size * writes
        if (run.digest() != one.values[FURTHER]).any():
            out.append("shared memory differs")
    low, high = run.cost(instruction)
    if not low <= wavefronts <= high:
        out.append(f"{wavefronts} wavefronts and not {low} to {high}")
    return out, certain, open_


def report(folder: Path, out: Path, counts: Path) -> str:
    """What differs, and how many numbers were known, by opcode. counts: the results of the kernels that were counted."""
    before, found = measured(folder, out)
    cost = counted(counts)
    lines, certain, open_, bad, count = [], Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for one, instruction in zip(found, lifted(found)):
        stem = opcode(one.text).partition(".")[0]
        wrong, sure, unsure = differences(before, one, instruction, cost[one.code][1])
        count[stem] += 1
        certain[stem] += sure
        open_[stem] += unsure
        bad[stem] += bool(wrong)
        lines += [f"{one.text}: {each}" for each in wrong]
    for stem in sorted(certain):
        lines.append(
            f"{stem:6} {count[stem]:6} executed {certain[stem]:8} known {open_[stem]:8} unknown {bad[stem]:5} differ"
        )
    return "\n".join(lines)
