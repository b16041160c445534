"""Makes control flow reducible: copies blocks until every loop has a single entry.

    entry ─▶ A ⇄ B ◀─ entry        ->        entry ─▶ A ⇄ B,   entry ─▶ B' ─▶ A

One entry of a loop is kept; a path through another entry executes copies of the blocks up to the kept one (node
splitting: Janssen and Corporaal, "Making graphs reducible with controlled node splitting", 1997). ptxas makes such
loops when it rotates one loop into the end of another; PTX and C have them through `goto`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.graph import Graph, build
from ptxaudit.ir.nodes import Control, Function, Instruction

if TYPE_CHECKING:
    import networkx as nx

MOST_INSTRUCTIONS = 60_000  # of a function including copies
MOST_SPLITS = 64
COPYING = "copying blocks of loops with several entries"


class Reducible(Record):
    """function: with copies; graph: its graph, with routines apart from their callers; origin: for each of its
    instructions, its original index, -1 for added jumps.
    """

    function: Function
    graph: Graph
    origin: list[int]


def reducible(function: Function, graph: Graph, account: Account | None = None) -> Reducible | None:
    """The function with single-entry loops; None if that takes too many copies.

    graph: with routines apart from their callers (`Blocks.apart`): paths that enter a routine from one caller and leave
        it to another would be loops with several entries, and every copy would make more of them.
    account: pays for it (None: the graph's own). Raises Exhausted if it is used up.
    """
    account = account or graph.account
    if graph.too_tangled is not None:
        account.spend(graph.too_tangled, COPYING)
        return None
    before = account.spent
    found = _copied(function, graph, account)
    if found is None:
        graph.too_tangled = account.spent - before
    return found


def _copied(function: Function, graph: Graph, account: Account) -> Reducible | None:
    origin = [i.index for i in function.instructions]
    for _ in range(MOST_SPLITS):
        account.spend(INSTRUCTION * len(function.instructions), COPYING)
        cfg = graph.cfg.part(graph.reachable - {END}).as_networkx()
        found = _tangle(cfg, frozenset(cfg.nodes), 0)
        if found is None:
            return Reducible(function, graph, origin)
        loop, heads = found
        sizes: Callable[[frozenset[int]], int] = lambda blocks: sum(graph.ends[b] - graph.starts[b] for b in blocks)
        copied = min((_entered(cfg, loop, heads, head) for head in sorted(heads)), key=sizes)
        if len(function.instructions) + sizes(copied) > MOST_INSTRUCTIONS:
            return None
        function, origin = _split(function, graph, loop, copied, origin)
        graph = build(function, account).apart
    return None


def _tangle(
    cfg: nx.DiGraph[int], nodes: frozenset[int], entry: int | None
) -> tuple[frozenset[int], frozenset[int]] | None:
    """(blocks, entries) of an outermost loop with several entries."""
    import networkx as nx

    sub = cfg.subgraph(nodes)
    for members in nx.strongly_connected_components(sub):
        if len(members) == 1:
            continue
        heads = frozenset(m for m in members if m == entry or any(p not in members for p in cfg.predecessors(m)))
        if len(heads) > 1:
            return frozenset(members), heads
        inner = _tangle(cfg, frozenset(members - heads), None)
        if inner is not None:
            return inner
    return None


def _entered(cfg: nx.DiGraph[int], loop: frozenset[int], heads: frozenset[int], kept: int) -> frozenset[int]:
    """The blocks of a loop that the other entries reach before `kept`."""
    inside: Callable[[int], Iterable[int]] = lambda b: (s for s in cfg.successors(b) if s in loop and s != kept)
    return frozenset(reached(heads - {kept}, inside))


def _split(
    function: Function, graph: Graph, loop: frozenset[int], copied: frozenset[int], origin: list[int]
) -> tuple[Function, list[int]]:
    """Redirects every edge from outside of the loop to a copied block to the copy."""
    blocks = [(b, False) for b in range(len(graph.starts))] + [(b, True) for b in sorted(copied)]

    def target(source: tuple[int, bool], block: int) -> tuple[int, bool]:
        return block, block in copied and (source[1] or source[0] not in loop)

    # the start of each block in the new order, with a jump after blocks that no longer precede their successor
    instructions = function.instructions
    starts: dict[tuple[int, bool], int] = {}
    jumps: dict[tuple[int, bool], tuple[int, bool]] = {}
    at = 0
    for n, here in enumerate(blocks):
        starts[here] = at
        at += graph.ends[here[0]] - graph.starts[here[0]]
        if _falls_through(instructions[graph.ends[here[0]] - 1]) and graph.ends[here[0]] < len(instructions):
            following = target(here, graph.block_of[graph.ends[here[0]]])
            if n + 1 == len(blocks) or blocks[n + 1] != following:
                jumps[here] = following
                at += 1

    def moved(source: tuple[int, bool], at: int) -> int:
        """A target's new place. It need not begin a block: lanes do not continue where a WARPSYNC.COLLECTIVE ends."""
        block = graph.block_of[at]
        return starts[target(source, block)] + at - graph.starts[block]

    out: list[Instruction] = []
    behind: list[int] = []
    for here in blocks:
        for k in range(graph.starts[here[0]], graph.ends[here[0]]):
            control = instructions[k].control
            if control is not None and control.targets:
                control = replace(control, targets=tuple([moved(here, t) for t in control.targets]))
            out.append(replace(instructions[k], index=len(out), control=control))
            behind.append(origin[k])
        if here in jumps:
            out.append(Instruction(len(out), out[-1].place, "", "", control=Control("branch", (starts[jumps[here]],))))
            behind.append(-1)
    return replace(function, instructions=tuple(out), origin=()), behind


def _falls_through(last: Instruction) -> bool:
    c = last.control
    if c is None or c.kind not in ("branch", "switch", "exit", "ret"):
        return True
    return c.kind != "switch" and c.guard is not None
