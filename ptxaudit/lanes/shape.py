"""What the shape of a block decides in a slice, when no one tells it: `shaped_sites`.

mov r1, %tid.y          made of the shape
add r2, r2, r1          made of r1, so of the shape
@p bra …                with p made of it: so is whether what it controls runs
st.shared [r2]          a site to be told case by case
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from ..graph import Graph, Slice
from ..ir import Function, Instruction, Reg, Special

_SHAPE = ("tid.", "ntid.", "warpid", "nwarpid")  # what begins so depends on how threads are cut into warps

Place = str | tuple[int, str]  # a register, or what an instruction writes into one and reads itself


@dataclass(frozen=True)
class _Made:
    """An operation: where its sources come from, what it writes; shaped: the block's shape decides a source."""

    sources: frozenset[Place]
    results: tuple[Place, ...]
    shaped: bool


def is_two_dimensional(function: Function, part: Slice) -> bool:
    """The slice reads a thread index other than x."""
    return any(
        True
        for k in part.instructions
        for op in function.instructions[k].ops
        for s in op.src
        if isinstance(s, Special) and s.name in ("tid.y", "tid.z")
    )


def shaped_sites(function: Function, graph: Graph, part: Slice, accesses) -> frozenset[int]:
    """The sites whose address, or whose way there, is made of something that the block's shape decides."""
    instructions = function.instructions
    tainted: set[Place] = set()
    open_ops = [made for k in sorted(part.instructions) for made in _made(instructions[k])]
    before = -1
    while len(tainted) > before:  # once in the order of the text, and again where a loop carries it back
        before, rest = len(tainted), []
        for made in open_ops:
            if made.shaped or not tainted.isdisjoint(made.sources):
                tainted.update(made.results)
            else:
                rest.append(made)
        open_ops = rest

    def shaped(index: int, registers: list[Reg]) -> bool:
        return any(place in tainted for r in registers for place in _read_last(instructions[index], r.name))

    deciding = {graph.block_of[b] for b in part.branches if shaped(b, graph.control_reads(instructions[b]))}
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
    return frozenset(
        k for k in accesses if graph.block_of[k] in decided or shaped(k, graph.site_reads(instructions[k]))
    )


def _made(instruction: Instruction) -> Iterator[_Made]:
    """The operations of an instruction that have results. What one of them writes and a later one reads is the
    instruction's own: names of temporaries come back in others."""
    surely: set[str] = set()
    perhaps: set[str] = set()
    for op in instruction.ops:
        if not op.dst:
            continue
        names = [s.name for s in op.src if isinstance(s, Reg)] + ([op.guard.reg.name] if op.guard is not None else [])
        sources = [(instruction.index, name) for name in names if name in surely or name in perhaps] + [
            name for name in names if name not in surely
        ]
        results = [d.name for d in op.dst if d is not None]
        shaped = any(isinstance(s, Special) and s.name.startswith(_SHAPE) for s in op.src)
        yield _Made(frozenset(sources), (*results, *((instruction.index, name) for name in results)), shaped)
        (surely if op.guard is None else perhaps).update(results)


def _read_last(instruction: Instruction, name: str) -> Iterator[Place]:
    """Where a register may come from that the site or the control of an instruction reads: what a load brings is
    written after its address was read."""
    own = [op for op in instruction.ops if any(d is not None and d.name == name for d in op.dst)]
    if own:
        yield instruction.index, name
    if not any(op.guard is None and op.name not in ("load", "atom") for op in own):
        yield name
