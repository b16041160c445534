"""Finds where lanes of a warp may be in several groups because they specified different member masks (PTX).

    vote.sync.ballot r, p, m;         m = 0xff << (lane & 24): machine code executes it once per group of eight lanes,
    st.shared [a], r;                 and perhaps this too: one request per group
    bar.sync 0;                       the lanes reconverge

PTX does not specify where such groups reconverge (PTX ISA, "vote.sync": threads with the same mask execute together).
Measured: at -O3, tiles of a warp continue as separate groups (tests/data/collectives_sm90 has them at -O0).
"""

from __future__ import annotations

from ptxaudit.ir.divergence import Divergence
from ptxaudit.ir.gathering import reached_apart
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Instruction, Operand, Reg
from ptxaudit.ir.warp_operations import WARP


def behind_several_masks(graph: Graph) -> frozenset[int]:
    """The instructions that such groups may reach before they certainly reconverge. In time linear in the code."""
    code = graph.function.instructions
    differences = Divergence(graph)
    running = (i for i in code if graph.block_of[i.index] in graph.reachable)
    return reached_apart(graph, [i.index + 1 for i in running if _several(differences, i)])


def _several(differences: Divergence, instruction: Instruction) -> bool:
    """Whether lanes that execute it together may specify different masks."""
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
