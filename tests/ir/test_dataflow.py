"""Dominators, definitions and closures against their definitions, and how the cost of the analyses, in steps, grows
with the kernel.
"""

from __future__ import annotations

import random
from functools import reduce
from operator import or_

import networkx as nx
import pytest

from bench.growth import FAMILIES, Family, cost
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir.blocks import END
from ptxaudit.ir.dataflow.closure import Closure
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.dataflow.digraph import Digraph, components, sorted_by_edges
from ptxaudit.ir.dataflow.dominance import immediate_dominators
from ptxaudit.ir.dataflow.solve import postorder, reached, solve
from ptxaudit.ir.divergence import Divergence
from ptxaudit.ir.graph import Graph, build
from ptxaudit.ir.link import link
from ptxaudit.ir.nodes import Const, Control, Function, Guard, Instruction, Op, Reg, Special

GUARD = Guard(Reg("%p", 1))
SMALL, LARGE = 60, 240  # pieces; four times as many may take little more than four times the steps
MOST_GROWTH = 4.4


def random_graph(rng: random.Random) -> nx.DiGraph:
    nodes = rng.randrange(2, 30)
    graph = nx.gnm_random_graph(nodes, rng.randrange(3 * nodes), seed=rng.randrange(1 << 30), directed=True)
    graph.add_edges_from((n, n) for n in graph.nodes if rng.random() < 0.1)
    return graph


@pytest.mark.parametrize("seed", range(200))
def test_immediate_dominators_equal_networkx(seed):
    graph = random_graph(random.Random(seed))
    expected = {node: d for node, d in nx.immediate_dominators(graph, 0).items() if node}
    found = immediate_dominators(graph, 0)
    assert found.pop(0) is None and found == expected


def test_dominators_of_a_deep_graph():
    found = immediate_dominators(
        nx.DiGraph([*nx.path_graph(20_000, nx.DiGraph).edges, *((n, 20_000) for n in range(19_999))]), 0
    )
    assert found[19_999] == 19_998 and found[20_000] == 0


@pytest.mark.parametrize("seed", range(100))
def test_digraph_equals_networkx(seed):
    rng = random.Random(seed)
    expected = random_graph(rng)
    graph = Digraph(expected.edges)
    graph.add_nodes(expected)
    for source, target in rng.sample(list(expected.edges), expected.number_of_edges() // 4):
        expected.remove_edge(source, target)
        graph.remove_edge(source, target)
    assert set(graph) == set(expected) and len(graph) == len(expected)
    assert set(graph.edges) == set(expected.edges) and graph.edge_count == expected.number_of_edges()
    for node in expected:
        assert set(graph.successors(node)) == set(expected.successors(node))
        assert set(graph.predecessors(node)) == set(expected.predecessors(node))
    ways = graph.as_networkx()
    assert sorted(map(sorted, components(graph))) == sorted(map(sorted, nx.strongly_connected_components(ways)))
    assert postorder((0,), graph.successors) == list(nx.dfs_postorder_nodes(ways, 0))
    some = set(rng.sample(list(graph), len(graph) // 2))
    assert set(graph.part(some).edges) == set(ways.subgraph(some).edges) and set(graph.part(some)) == some
    assert set(graph.reversed().edges) == {(target, source) for source, target in ways.edges}
    forward = Digraph((a, b) for a, b in graph.edges if a < b)
    assert sorted_by_edges(forward) == list(nx.lexicographical_topological_sort(forward.as_networkx()))


def test_copied_graph_is_independent():
    graph = Digraph([(0, 1), (1, 2)])
    graph.copy().remove_edge(0, 1)
    assert graph.has_edge(0, 1) and not graph.has_edge(1, 0) and not graph.has_edge(3, 0)


@pytest.mark.parametrize("seed", range(100))
def test_closure_has_the_bits_of_all_reachable_nodes(seed):
    rng = random.Random(seed)
    graph = random_graph(rng)
    own = {node: rng.getrandbits(8) & rng.getrandbits(8) for node in graph}
    looked: list[int] = []
    closure = Closure(lambda node: looked.append(node) or graph.successors(node), own.__getitem__)
    for node in rng.sample(list(graph), len(graph)):
        expected = own[node]
        for other in nx.descendants(graph, node):
            expected |= own[other]
        assert closure.of(node) == expected
    assert sorted(looked) == sorted(graph)  # each once


@pytest.mark.parametrize("seed", range(100))
def test_closure_stops_when_all_bits_are_set(seed):
    rng = random.Random(seed)
    graph, bits = random_graph(rng), rng.choice((1, 2))
    own = {node: sum(rng.random() < 0.1 and 1 << bit for bit in range(bits)) for node in graph}
    looked: list[int] = []
    most = (1 << bits) - 1
    closure = Closure(lambda node: looked.append(node) or graph.successors(node), own.__getitem__, most)
    for node in rng.sample(list(graph), len(graph)):
        expected = own[node]
        for other in nx.descendants(graph, node):
            expected |= own[other]
        assert closure.of(node) == expected
    assert len(set(looked)) == len(looked) and all(own[node] != most for node in looked)


def random_writes(rng: random.Random) -> Graph:
    """A function that writes two registers at random places, with some writes under a predicate."""
    count = rng.randrange(3, 25)
    instructions = []
    for n in range(count):
        ops = tuple(
            Op("mov", (Reg(rng.choice("ab"), 32),), (), guard=rng.choice((GUARD, None)))
            for _ in range(rng.choice((0, 0, 1, 1, 2)))
        )
        control = Control("branch", (rng.randrange(count),), rng.choice((GUARD, None))) if rng.random() < 0.3 else None
        instructions.append(Instruction(n, n, "op", str(n), ops=ops, control=control))
    end = Instruction(count, count, "exit", "exit", control=Control("exit"))
    return build(Function("f", "ptx", "sm_90", (*instructions, end)))


def reaching(graph: Graph, register: str, index: int) -> set[int]:
    """By definition: backwards, instruction by instruction, up to an unconditional write."""
    writing = {
        at: any(kills for one, kills in graph.definitions.get(register, ()) if one == at)
        for at, _ in graph.definitions.get(register, ())
    }
    found: set[int] = set()
    before = lambda k: (
        [k - 1]
        if k != graph.starts[graph.block_of[k]]
        else [graph.ends[b] - 1 for b in graph.before[graph.block_of[k]] if b != END]
    )
    stack, seen = before(index), set()
    while stack:
        k = stack.pop()
        if k in seen:
            continue
        seen.add(k)
        if k in writing:
            found.add(k)
        if not writing.get(k):
            stack += before(k)
    return found


@pytest.mark.parametrize("seed", range(150))
def test_reaching_definitions_equal_a_search(seed):
    rng = random.Random(seed)
    graph = random_writes(rng)
    for index in range(len(graph.function.instructions)):
        for register in "ab":
            written = graph.definitions.get(register, ())
            expected = {at for at, _ in written} if len(written) < 2 else reaching(graph, register, index)
            assert graph.reaching(register, index) == expected
    seen: set[Definition] = set()
    several = [(register, rng.randrange(len(graph.function.instructions))) for register in "ab" for _ in range(4)]
    for register, index in several:
        reached([n for n in (graph.read.read(register, index),) if n is not None], graph.read.following, seen)
    together = {n for n in seen if not isinstance(n, Joined)}
    assert together == set().union(*(graph.reaching(register, index) for register, index in several))


def depends_on(graph: Graph, index: int) -> set[int]:
    """By definition: the writes that may reach its reads, and the branches that control whether it executes."""
    instruction = graph.function.instructions[index]
    reads = [s.name for op in instruction.ops for s in op.src if isinstance(s, Reg)]
    guards = [op.guard for op in instruction.ops] + ([instruction.control.guard] if instruction.control else [])
    reads += [guard.reg.name for guard in guards if guard is not None]
    writes = set[int]()
    for name in reads:  # if a register has a single write, every read depends on it
        every = {at for at, _ in graph.definitions.get(name, ())}
        writes |= every if len(every) < 2 else reaching(graph, name, index)
    return writes | {graph.ends[b] - 1 for b in graph.controllers.get(graph.block_of[index], ())}


@pytest.mark.parametrize("seed", range(100))
def test_divergence_is_independent_of_the_order_of_queries(seed):
    rng = random.Random(seed)
    sources = (*(Reg(name, 32) for name in "abcd"), Special("tid.x", 32), Const(3, 32))
    count, code = rng.randrange(3, 20), []
    for n in range(count):
        guard = Guard(Reg(rng.choice("abcd"), 1)) if rng.random() < 0.2 else None
        chosen = rng.choices(sources, (4, 4, 4, 4, 1, 4), k=2)
        ops = (Op("add", (Reg(rng.choice("abcd"), 32),), tuple(chosen), bits=32, guard=guard),)
        control = Control("branch", (rng.randrange(count),), guard) if rng.random() < 0.3 else None
        code.append(Instruction(n, n, "op", str(n), ops=() if control else ops, control=control))
    flow = build(
        Function("f", "ptx", "sm_90", (*code, Instruction(count, count, "exit", "exit", control=Control("exit"))))
    )
    together = Divergence(flow)
    for index in sorted(range(count), key=lambda _: rng.random()):
        every, stack = {index}, [index]
        while stack:
            more = depends_on(flow, stack.pop()) - every
            every |= more
            stack += more
        of_lane = any(isinstance(s, Special) for i in every for op in flow.function.instructions[i].ops for s in op.src)
        assert together.differs(index) == of_lane == Divergence(flow).differs(index)


def test_chain_of_guarded_writes_joins_in_linear_size():
    """Each of a chain of guarded writes joins with its predecessor, not with all earlier writes."""
    writes = [Instruction(n, n, "op", str(n), ops=(Op("mov", (Reg("a", 32),), (), guard=GUARD),)) for n in range(100)]
    graph = build(
        Function("f", "ptx", "sm_90", (*writes, Instruction(100, 100, "exit", "exit", control=Control("exit"))))
    )
    node = graph.read.read("a", 100)
    assert isinstance(node, Joined) and len(graph.read.sources(node)) == 2
    assert graph.reaching("a", 100) == frozenset(range(100))


@pytest.mark.parametrize("name", FAMILIES)
def test_analysis_steps_grow_linearly_with_the_kernel(name):
    family: Family = FAMILIES[name]
    for launch in family.launches:
        small, large = (cost(family, size, launch).steps for size in (SMALL, LARGE))
        assert large <= MOST_GROWTH * small, (name, launch, small, large)


class _Looked(list):
    """Writes of a register; total: how many were iterated over."""

    total = 0

    def __iter__(self):
        _Looked.total += len(self)
        return super().__iter__()


def test_slice_takes_linear_time_in_the_writes_of_a_register():
    """Work that is not counted in steps also grows linearly with the code."""
    looked = []
    for size in (SMALL, LARGE):
        module = lift_module(parse_module(FAMILIES["loads"].kernel(size), "k.ptx"))
        graph = build(link(module, module.functions["k"]))
        graph.definitions = {name: _Looked(writes) for name, writes in graph.definitions.items()}
        _Looked.total = 0
        graph.slice(graph.sites(), follow_loads=True)
        looked.append(_Looked.total)
    assert looked[1] <= MOST_GROWTH * max(looked[0], SMALL)


@pytest.mark.parametrize("seed", range(50))
def test_fixed_point_is_independent_of_the_worklist_order(seed):
    """Each node joins the facts of its successors: the result is what it reaches, in any worklist order."""
    rng = random.Random(seed)
    after = {n: rng.sample(range(12), rng.randrange(4)) for n in range(12)}
    before = {n: [m for m in after if n in after[m]] for n in after}
    facts = {n: 1 << n for n in after}
    order = list(after)
    rng.shuffle(order)
    solve(facts, lambda n: reduce(or_, (facts[s] for s in after[n]), facts[n]), before, order)
    assert facts == {n: sum(1 << s for s in reached((n,), after.__getitem__)) for n in after}
    seen = reached((0,), after.__getitem__)
    assert reached((1,), after.__getitem__, set(seen)) == reached((1,), after.__getitem__) - seen
