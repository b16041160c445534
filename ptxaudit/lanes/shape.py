"""What the shape of a block decides in a slice, when no one tells it: `shaped_sites`.

    mov r1, %tid.y          made of the shape
    add r2, r2, r1          made of r1, so of the shape
    @p bra …                with p made of it: so is whether what it controls runs
    st.shared [r2]          a site to be told case by case
"""

from __future__ import annotations

from collections import defaultdict

from ..graph import Graph, Slice
from ..ir import Function, Op, Reg, Special

_SHAPE = ("tid.", "ntid.", "warpid", "nwarpid")      # what begins so depends on how threads are cut into warps


def is_two_dimensional(function: Function, part: Slice) -> bool:
    """The slice reads a thread index other than x."""
    return any(True for k in part.instructions for op in function.instructions[k].ops for s in op.src
               if isinstance(s, Special) and s.name in ("tid.y", "tid.z"))


def shaped_sites(function: Function, graph: Graph, part: Slice, accesses) -> frozenset[int]:
    """The sites whose address, or whose way there, is made of something that the block's shape decides."""
    instructions = function.instructions
    tainted: set[str] = set()
    open_ops = [op for k in sorted(part.instructions) for op in instructions[k].ops if op.dst]
    before = -1
    while len(tainted) > before:                  # once in the order of the text, and again where a loop carries it back
        before, rest = len(tainted), []
        for op in open_ops:
            if _taints(op, tainted):
                tainted.update([d.name for d in op.dst if d is not None])
            else:
                rest.append(op)
        open_ops = rest
    deciding = {graph.block_of[b] for b in part.branches
                if any(r.name in tainted for r in graph.control_reads(instructions[b]))}
    controlled = defaultdict(list)
    for block, controllers in graph.controllers.items() if deciding else ():
        for c in controllers:
            controlled[c].append(block)
    decided: set[int] = set()
    stack = list(deciding)
    while stack:
        more = set(controlled[stack.pop()]) - decided
        decided |= more
        stack += more
    return frozenset(k for k in accesses if graph.block_of[k] in decided
                     or any(r.name in tainted for r in graph.site_reads(instructions[k])))


def _taints(op: Op, tainted: set[str]) -> bool:
    """It makes its results of tainted registers, or of what the block's shape decides."""
    for s in op.src:
        if isinstance(s, Reg):
            if s.name in tainted:
                return True
        elif isinstance(s, Special) and s.name.startswith(_SHAPE):
            return True
    return op.guard is not None and op.guard.reg.name in tainted
