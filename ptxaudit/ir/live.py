"""Live registers of a slice: those whose value may still be read.

    0  L: setp p, r1, r2        live at L: r1, r2, r3; not p and r4, which are written before they are read
    1  mul r4, r3, 4
    2  ld.shared [r4]
    3  add r1, r1, 1
    4  @p bra L

A backward analysis: a block's live-in is what it reads before writing, and its live-out without what it writes (Aho,
Lam, Sethi, Ullman, "Compilers", 2nd ed., 9.2.5). Sets of registers are integers with a bit per register.
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

BITS_A_STEP = 1_000  # of the integers that represent sets

Names = dict[str, None]  # in a deterministic order


def live_at(
    flow: ControlFlow, part: Slice, cfg: Digraph[int], spend: Callable[[int], None] = lambda steps: None
) -> dict[int, Names]:
    """block -> the registers live at its start: the slice, or any access, may read them before they are written.

    cfg: the blocks from the first one on; spend: pays for it, in steps.
    """
    found: Names = {}
    spend(INSTRUCTION * len(part.instructions))
    own = {block: _reads_and_kills(flow, part, block, found) for block in cfg}
    read_first: set[str] = set().union(*(read for read, _ in own.values()))
    names = [name for name in found if name in read_first]  # most are read only in the block that writes them
    bit = {name: 1 << n for n, name in enumerate(names)}
    bits: Callable[[Iterable[str]], int] = lambda some: reduce(or_, [bit[name] for name in some], 0)
    used = {block: bits(read) for block, (read, _) in own.items()}
    kept = {block: ~bits(killed & read_first) for block, (_, killed) in own.items()}
    live = dict(used)
    order = postorder((0,), cfg.successors)  # successors first
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
    """(registers read before they are written, registers certainly written) in a block. Adds to `names`."""
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
    """The positions of the set bits."""
    octets = np.frombuffer(number.to_bytes((number.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little").view(bool))
