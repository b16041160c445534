"""Convergence barriers that lanes may not be in when they leave a block: not set on every path to its end, or used up.

    BSSY B0; @P0 BRA a          at the branch, lanes are in B0
    a: BSYNC B0; @P1 BRA b      no longer; what they reach at b, they reach diverged, even a BSYNC B0
    b: BSYNC B0

A forward analysis of the barriers that are not set on some path (Aho, Lam, Sethi, Ullman, "Compilers", 2nd ed., 9.2).
"""

from __future__ import annotations

from ptxaudit.ir.blocks import END, Blocks
from ptxaudit.ir.dataflow.solve import postorder, solve
from ptxaudit.ir.nodes import Instruction
from ptxaudit.ir.operands import barrier_moved_to


def unheld(graph: Blocks) -> dict[int, frozenset[str]]:
    """block -> the barriers that lanes may not be in at its end."""
    instructions, cfg = graph.function.instructions, graph.cfg
    every = frozenset(name for i in instructions for name, _ in _effects(i))
    order = [block for block in reversed(postorder((0,), cfg.successors)) if block != END]
    effects = {
        block: [e for i in instructions[graph.starts[block] : graph.ends[block]] for e in _effects(i)]
        for block in order
    }
    before = {block: [p for p in cfg.predecessors(block) if p in effects] for block in order}
    after = {block: [s for s in cfg.successors(block) if s in effects] for block in order}
    facts = dict.fromkeys(order, frozenset[str]())

    def leaving(block: int) -> frozenset[str]:
        out = set[str]().union(*(facts[p] for p in before[block]), every if block == 0 else ())
        for name, held in effects[block]:
            out.discard(name) if held else out.add(name)
        return frozenset(out)

    solve(facts, leaving, after, order)
    return facts


def _effects(instruction: Instruction) -> list[tuple[str, bool]]:
    """(barrier, whether the lanes are in it afterwards) of an instruction. BREAK in some lanes leaves it to others."""
    control = instruction.control
    moved = [(barrier_moved_to(op), op.name == "barrier.restore") for op in instruction.ops]
    out = [(barrier.name, held) for barrier, held in moved if barrier is not None]
    if control is not None and control.barrier is not None:
        if control.kind == "open" and control.guard is None:
            out.append((control.barrier.name, True))
        elif control.kind == "sync" or control.kind == "leave" and control.guard is None:
            out.append((control.barrier.name, False))
    return out
