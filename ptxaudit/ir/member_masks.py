"""Where the lanes of a warp may be in several groups since they named different member masks (PTX).

    vote.sync.ballot r, p, m;         m = 0xff << (lane & 24): machine code runs it once for each group of eight lanes,
    st.shared [a], r;                 and this perhaps too: a request a group
    bar.sync 0;                       all are together again

PTX names no place where such groups meet (PTX ISA, "vote.sync": threads that name one mask execute together). Measured:
tiles of a warp at -O3 go on as groups of their own (tests/data/collectives_sm90 has them at -O0).
"""

from __future__ import annotations

from ptxaudit.ir.blocks import END
from ptxaudit.ir.divergence import Divergence
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Const, Instruction, Operand, Reg
from ptxaudit.ir.warp_operations import WARP

FULL = (1 << 32) - 1


def behind_several_masks(graph: Graph) -> frozenset[int]:
    """The instructions that such groups may come to before they meet for certain. In time linear in the code."""
    code = graph.function.instructions
    found: set[int] = set()
    differences = Divergence(graph)
    stack = [i.index + 1 for i in code if graph.block_of[i.index] in graph.reachable and _several(differences, i)]
    while stack:
        at = stack.pop()
        if at >= len(code):
            continue
        block = graph.block_of[at]
        for index in range(at, graph.ends[block]):
            if index in found or _gathers(code[index]):
                break
            found.add(index)
        else:
            stack += [graph.starts[after] for after in graph.cfg.successors(block) if after != END]
    return frozenset(found)


def _several(differences: Divergence, instruction: Instruction) -> bool:
    """Lanes that execute it together may name different masks."""
    masks: list[Operand] = []
    for op in instruction.ops:
        warp = WARP.get(op.name.partition(".")[0])
        if warp is not None and warp.mask is not None and len(op.src) > warp.mask:
            masks.append(op.src[warp.mask])
    control = instruction.control
    if control is not None and control.kind == "warpsync" and control.selector is not None:
        masks.append(control.selector)
    made = (differences.graph.reaching(mask.name, instruction.index) for mask in masks if isinstance(mask, Reg))
    return any(differences.differs(index) for indices in made for index in indices)


def _gathers(instruction: Instruction) -> bool:
    """All lanes of the warp are together behind it."""
    control = instruction.control
    if control is None:
        return False
    if control.kind == "warpsync":
        return isinstance(control.selector, Const) and control.selector.value & FULL == FULL
    return control.kind == "barrier" and control.meeting is not None and control.meeting.waits
