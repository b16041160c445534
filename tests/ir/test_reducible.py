"""Loops with several entries are split into loops with one, without changing any path through the code."""

import random

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxaudit
from ptxaudit.ir.graph import build
from ptxaudit.ir.nodes import Const, Control, Function, Guard, Instruction, Reg
from ptxaudit.ir.reducible import reducible

GUARD = Guard(Reg("%p", 1))


def function(rows) -> Function:
    """rows: per instruction None (fall through), ("jump", t), ("branch", t), "exit" or "part t"."""
    out = []
    for n, row in enumerate(rows):
        match row:
            case ("jump", t):
                control = Control("branch", (t,))
            case ("branch", t):
                control = Control("branch", (t,), GUARD)
            case "exit":
                control = Control("exit")
            case ("call", t):
                control = Control("call", (t,))
            case "ret":
                control = Control("ret")
            case str(text) if text.startswith("part "):
                control = Control("part", (int(text[5:]),), selector=Const(1))
            case _:
                control = None
        out.append(Instruction(n, n, "op", str(n), control=control))
    out.append(Instruction(len(rows), len(rows), "exit", "exit", control=Control("exit")))
    return Function("f", "ptx", "sm_90", tuple(out))


def single_entries(cfg: nx.DiGraph) -> bool:
    """Whether the graph without edges to dominators is acyclic, which defines a reducible graph."""
    idom = nx.immediate_dominators(cfg, 0)

    def dominates(a, b):
        while b is not None and b != a and b != 0:
            b = idom[b]
        return a == b

    forward = nx.DiGraph(e for e in cfg.edges if e[0] in idom and e[1] in idom and not dominates(e[1], e[0]))
    return nx.is_directed_acyclic_graph(forward)


def successors(f: Function, k: int) -> list[int]:
    c = f.instructions[k].control
    if c is None:
        return [k + 1]
    if c.kind == "exit":
        return []
    return [*c.targets, *([k + 1] if c.guard else [])]


rows = st.lists(
    st.one_of(st.none(), st.just("exit"), st.tuples(st.sampled_from(["jump", "branch", "branch"]), st.integers(0, 11))),
    min_size=12,
    max_size=12,
)


@given(rows, st.integers(0, 1 << 30))
@settings(max_examples=200, deadline=None)
def test_split_loops_have_one_entry_and_the_same_paths(rows, seed):
    f = function(rows)
    graph = build(f)
    split = reducible(f, graph)
    assert split is not None
    ways = split.graph.cfg.as_networkx()
    reached = ways.subgraph(nx.descendants(ways, 0) | {0})
    assert single_entries(reached.copy())
    choose = random.Random(seed)
    new, old = 0, 0
    for _ in range(60):  # one walk: the same choices in both
        while split.origin[new] < 0:
            (new,) = successors(split.function, new)
        assert split.origin[new] == old
        ways_new, ways_old = successors(split.function, new), successors(f, old)
        assert len(ways_new) == len(ways_old)
        if not ways_old:
            return
        k = choose.randrange(len(ways_old))
        new, old = ways_new[k], ways_old[k]


TWO_ENTRIES = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry two_entries(.param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .shared .align 16 .b8 s[8192];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 2;
    mov.u32 %r4, s;
    add.u32 %r5, %r4, %r3;
    mov.u32 %r6, 0;
    setp.gt.u32 %p1, %r1, 100;
    @%p1 bra MIDDLE;
TOP:
    st.shared.u32 [%r5], %r6;
MIDDLE:
    ld.shared.u32 %r7, [%r5+4096];
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, %r1;
    @%p2 bra TOP;
    ret;
}
"""


def test_loop_with_two_entries_is_answered():
    sites = ptxaudit.audit(TWO_ENTRIES, launches=[ptxaudit.Launch("*", grid=1, block=64)]).sites
    assert [(s.status, s.per_request.low, s.per_request.high) for s in sites] == [("invariant", 1, 1)] * 2


def test_functions_that_call_each_other_are_split_once():
    """Whichever of the two is called first, returns from either add no entries: they are apart from their callers."""
    kernel = [("call", 3), ("call", 6), "exit"]
    first, second = [("branch", 5), ("call", 6), "ret"], [("branch", 8), ("call", 3), "ret"]
    f = function([*kernel, *first, *second])
    split = reducible(f, build(f).apart)
    assert split is not None
    assert sorted(split.origin[len(f.instructions) :]) == [-1, 6, 7]  # the way into the second function, and its return
    ways = split.graph.cfg.as_networkx()
    assert single_entries(ways.subgraph(nx.descendants(ways, 0) | {0}).copy())


def test_control_target_within_a_block_is_copied():
    """The end of a WARPSYNC.COLLECTIVE is no branch target of lanes, so no block needs to begin there."""
    f = function([("branch", 4), None, "part 2", ("branch", 4), None, "part 6", None, ("branch", 1)])
    split = reducible(f, build(f))
    assert split is not None and len(split.function.instructions) > len(f.instructions)
    named = [i for i in split.function.instructions if i.control is not None and i.control.kind == "part"]
    assert len(named) > 2
    for i in named:
        (was,) = f.instructions[split.origin[i.index]].control.targets
        assert i.control is not None and [split.origin[t] for t in i.control.targets] == [was]
