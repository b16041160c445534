"""Which registers hold something that may still be read: live variables, of a slice.

    0  L: setp p, r1, r2        at L live: r1, r2, r3, for p and r4 are written before they are read
    1  mul r4, r3, 4
    2  ld.shared [r4]
    3  add r1, r1, 1
    4  @p bra L

Backwards: what a block reads before it writes it, and what is live behind it and not written in it (Aho, Lam, Sethi,
Ullman, "Compilers", 2nd ed., 9.2.5). Sets of registers are numbers, a bit a register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_

import numpy as np

from ptxaudit.base.work import INSTRUCTION
from ptxaudit.ir.control_flow import ControlFlow
from ptxaudit.ir.dataflow.digraph import Digraph
from ptxaudit.ir.dataflow.solve import postorder, solve
from ptxaudit.ir.operands import control_reads, site_reads, sources_of
from ptxaudit.ir.slices import Slice

BITS_A_STEP = 1_000  # of sets of registers that are numbers

Names = dict[str, None]  # in an order that is always the same


def live_at(
    flow: ControlFlow, part: Slice, cfg: Digraph[int], spend: Callable[[int], None] = lambda steps: None
) -> dict[int, Names]:
    """block -> the registers that what is evaluated of the function, and any access, may read from its beginning on
    before they are written for certain. cfg: the blocks from the first one on; spend: pays for it, in steps."""
    found: Names = {}
    spend(INSTRUCTION * len(part.instructions))
    own = {block: _reads_and_kills(flow, part, block, found) for block in cfg}
    read_first: set[str] = set().union(*(read for read, _ in own.values()))
    names = [name for name in found if name in read_first]  # most are read in the block that writes them only
    bit = {name: 1 << n for n, name in enumerate(names)}
    bits: Callable[[Iterable[str]], int] = lambda some: reduce(or_, [bit[name] for name in some], 0)
    used = {block: bits(read) for block, (read, _) in own.items()}
    kept = {block: ~bits(killed & read_first) for block, (_, killed) in own.items()}
    live = dict(used)
    order = postorder((0,), cfg.successors)  # what follows comes first
    before = {block: list(cfg.predecessors(block)) for block in order}
    after = {block: list(cfg.successors(block)) for block in order}

    def entering(block: int) -> int:
        spend(INSTRUCTION + len(names) // BITS_A_STEP)
        return reduce(lambda bits, s: bits | live[s] & kept[block], after[block], used[block])

    solve(live, entering, before, order)
    every: np.ndarray = np.array(names, dtype=np.object_)
    registers = {number: dict.fromkeys(every[_set_bits(number)].tolist()) for number in set(live.values())}
    return {block: registers[number] for block, number in live.items()}


def _reads_and_kills(flow: ControlFlow, part: Slice, block: int, names: Names) -> tuple[set[str], set[str]]:
    """What a block reads before it writes it, and what it writes for certain. names: every name that it comes by is
    added."""
    reads: set[str] = set()
    kills: set[str] = set()
    for at in range(flow.starts[block], flow.ends[block]) if block >= 0 else ():
        instruction = flow.function.instructions[at]
        before = (
            (*site_reads(instruction), *control_reads(instruction))
            if instruction.site is not None or instruction.control is not None
            else ()
        )
        for op in (None, *part.ops.get(at, ())):
            for reg in before if op is None else sources_of(op):
                if reg.name not in kills:
                    reads.add(reg.name)
                    names[reg.name] = None
            for target in () if op is None or op.guard is not None else op.dst:
                if target is not None:
                    kills.add(target.name)
                    names[target.name] = None
    return reads, kills


def _set_bits(number: int) -> np.ndarray:
    """The places of the ones of a number."""
    octets = np.frombuffer(number.to_bytes((number.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little").view(bool))
