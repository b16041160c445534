"""Blocks on every path to another block, against the definition: without them there is no path."""

import random

import networkx as nx
import pytest

from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.dominance import tree_spans
from ptxaudit.ir.graph import build
from ptxaudit.ir.nodes import Control, Function, Guard, Instruction, Reg

GUARD = Guard(Reg("%p", 1))


def random_function(rng: random.Random) -> Function:
    """Forward and backward branches, some of them under a predicate."""
    count = rng.randrange(2, 12)
    jumps = [
        Control("branch", (rng.randrange(count),), rng.choice((GUARD, None))) if rng.random() < 0.6 else None
        for _ in range(count)
    ]
    controls = [*jumps, Control("exit")]
    return Function(
        "f", "ptx", "sm_90", tuple(Instruction(n, n, "op", str(n), control=c) for n, c in enumerate(controls))
    )


@pytest.mark.parametrize("seed", range(80))
def test_dominators_equal_the_definition(seed):
    graph = build(random_function(random.Random(seed)))
    ways = graph.within.as_networkx()
    reached = nx.descendants(ways, 0) | {0}
    for block in reached - {END}:
        without = ways.copy()
        without.remove_node(block)
        left = nx.descendants(without, 0) | {0} if block else set()
        for other in reached:
            assert graph.dominates(block, other) == (other not in left)


def test_unreachable_block_dominates_only_itself():
    graph = build(
        Function(
            "f",
            "ptx",
            "sm_90",
            (
                Instruction(0, 0, "bra", "bra", control=Control("branch", (2,))),
                Instruction(1, 1, "op", "op"),
                Instruction(2, 2, "exit", "exit", control=Control("exit")),
            ),
        )
    )
    dead, end = graph.block_of[1], graph.block_of[2]
    assert graph.dominates(dead, dead) and not graph.dominates(dead, end) and not graph.dominates(0, dead)


def test_tree_spans_number_nodes_in_preorder():
    spans = tree_spans({0: 0, 3: 0, 5: 3, 7: 3, 9: 0}, 0)
    assert spans == {0: (0, 4), 3: (1, 3), 5: (2, 2), 7: (3, 3), 9: (4, 4)}
