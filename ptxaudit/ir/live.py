"""Which registers hold something that may still be read: live variables, of a slice.

    0  L: setp p, r1, r2        at L live: r1, r2, r3, for p and r4 are written before they are read
    1  mul r4, r3, 4
    2  ld.shared [r4]
    3  add r1, r1, 1
    4  @p bra L

Backwards: what a block reads before it writes it, and what is live behind it and not written in it (Aho, Lam, Sethi,
Ullman, "Compilers", 2nd ed., 9.2.5).
"""

from __future__ import annotations

from ptxaudit.ir.control_flow import ControlFlow
from ptxaudit.ir.dataflow.solve import solve
from ptxaudit.ir.operands import control_reads, site_reads, sources_of
from ptxaudit.ir.slices import Slice

Names = frozenset[str]


def live_at(flow: ControlFlow, part: Slice) -> dict[int, Names]:
    """block -> the registers that what is evaluated of the function may read, from its beginning on, before it writes
    them."""
    own = {block: _of_block(flow, part, block) for block in flow.cfg if block >= 0}
    facts: dict[int, Names] = {block: read for block, (read, _) in own.items()}

    def transfer(block: int) -> Names:
        read, written = own[block]
        behind = [facts[after] for after in flow.cfg.successors(block) if after in facts]
        return read | (frozenset().union(*behind) - written)

    readers = {block: [before for before in flow.cfg.predecessors(block) if before in facts] for block in facts}
    solve(facts, transfer, readers, sorted(facts, reverse=True))
    return facts


def _of_block(flow: ControlFlow, part: Slice, block: int) -> tuple[Names, Names]:
    """(what it reads before it writes it, what it writes in all lanes that run it)."""
    read, written = set[str](), set[str]()
    for at in range(flow.starts[block], flow.ends[block]):
        instruction = flow.function.instructions[at]
        if at in part.instructions:
            for op in part.ops[at]:
                read.update(r.name for r in sources_of(op) if r.name not in written)
                read.update(r.name for r in site_reads(instruction) if r.name not in written)
                if op.guard is None:
                    written.update(d.name for d in op.dst if d is not None)
            read.update(r.name for r in site_reads(instruction) if r.name not in written)
        read.update(r.name for r in control_reads(instruction) if r.name not in written)
    return frozenset(read), frozenset(written)
