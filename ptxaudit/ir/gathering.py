"""The code that lanes may reach in several groups, up to where all lanes of the warp are together again.

    @p bra L; nanosleep 20; L: …; bar.sync 0;      from L to the barrier, lanes may be in two groups

All living lanes continue together after WARPSYNC.ALL, and in PTX after a barrier that the code states to be aligned. A
WARPSYNC.COLLECTIVE gathers them only up to its target; ptxas makes one of other barriers in PTX and of `bar.warp.sync`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxaudit.ir.blocks import END
from ptxaudit.ir.nodes import Const, Control, Instruction
from ptxaudit.ir.reaching import ALL_LANES, ReachingDefinitions


def reached_apart(graph: ReachingDefinitions, starts: Iterable[int]) -> frozenset[int]:
    """The instructions that lanes may reach from these before the whole warp is together. Time: linear."""
    code = graph.function.instructions
    found: set[int] = set()
    stack = list(starts)
    while stack:
        at = stack.pop()
        if at >= len(code):
            continue
        block = graph.block_of[at]
        for index in range(at, graph.ends[block]):
            if index in found or _gathers(code[index], graph.function.explicit_reconvergence):
                break
            found.add(index)
        else:
            stack += [graph.starts[after] for after in graph.cfg.successors(block) if after != END]
    return frozenset(found)


def _gathers(instruction: Instruction, explicit: bool) -> bool:
    """Whether all lanes of the warp are together after it: not if a guard may keep some away.

    explicit: it is machine code.
    """
    control = instruction.control
    if control is None or control.guard is not None:
        return False
    if control.kind == "warpsync":
        return explicit and unites(control)
    return control.kind == "barrier" and control.aligned and control.meeting is not None and control.meeting.waits


def unites(warpsync: Control) -> bool:
    """Whether it is for all lanes, and they do not diverge again after it, as after a WARPSYNC.COLLECTIVE."""
    named = warpsync.selector
    return not warpsync.targets and (named is None or isinstance(named, Const) and named.value & ALL_LANES == ALL_LANES)
