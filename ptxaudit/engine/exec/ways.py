"""Which side of a uniform branch leads to a block, and whether it always does.

@p bra L; x; bra M; L: y; M: …          x executes if p is false, y if p is true
@p bra L; @q bra M; x; L: …             x does not execute if p is true; otherwise q decides
"""

from __future__ import annotations

from ptxaudit.base.records import Record
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.truths import truth
from ptxaudit.engine.domain.value import Uniform, Value
from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Instruction
from ptxaudit.ir.reasons import Kind, Reason
from ptxaudit.ir.unknown_words import LONG_NAME


class Way(Record):
    """taken: the branch must be taken, or must not be; always: this is sufficient."""

    taken: bool
    always: bool


def ways(graph: Graph, instruction: Instruction) -> dict[int, Way]:
    """Block -> the side of a conditional branch that leads there, for blocks between it and its post-dominator that are
    reached from one side only, and not from elsewhere.
    """
    control = instruction.control
    if control is None or control.kind != "branch" or len(control.targets) != 1 or control.guard is None:
        return {}
    block = graph.block_of[instruction.index]
    meeting = graph.postdominators.get(block, END)
    starts = {taken: graph.block_of[at] for taken, at in ((True, control.targets[0]), (False, instruction.index + 1))}
    inside = {
        taken: reached((start,), lambda b: [s for s in graph.within.successors(b) if s not in (meeting, END, block)])
        if start != meeting
        else set()
        for taken, start in starts.items()
    }
    found: dict[int, Way] = {}
    for taken, blocks in inside.items():
        if any(b not in blocks and b != block for here in blocks for b in graph.before[here]):
            continue  # paths come in from elsewhere, such as a routine that other calls share
        own = blocks - inside[not taken]
        always = set()
        at = starts[taken]
        while at in own and at not in always:
            always.add(at)
            at = graph.postdominators.get(at, END)
        found |= {b: Way(taken, b in always) for b in own}
    return found


def decided_by(undecided: Value) -> Uniform | None:
    """The unknown that decides a branch, if it is a single one with a short enough name; None otherwise."""
    unknown = truth(as_unknown(undecided))
    return unknown if unknown is not None and len(unknown.name) <= LONG_NAME else None


def runs_if(unknown: Uniform, way: Way, index: int) -> Reason:
    """Why it is unknown whether code on one side of the branch at `index` executes."""
    return Reason(Kind.RUNS_IF, index, (way.taken, way.always), (unknown,))
