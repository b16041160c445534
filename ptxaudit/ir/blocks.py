"""Basic blocks and control-flow graphs: a function is cut at its branches, and calls are connected with returns.

0  @p bra 2        blocks [0], [1], [2, 3];  0 -> 1, 0 -> 2, 1 -> 2, 2 -> END
1  add             (a routine with several calls returns to all of them in `cfg`,
2  store            to none in `within`, where each of its calls is one step)
3  exit
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.ir.dataflow.digraph import Digraph
from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.nodes import Function, Instruction
from ptxaudit.ir.transfers import ENDS, ON, RETURNS, is_unresolved, taken

END = -1  # the virtual block after every exit
STEPS = frozenset(("barrier", "open", "sync", "leave", "warpsync", "part", "yield"))  # control continues after these
CONTROL_FLOW = "analysing the control flow"


def parts_if(instruction: Instruction) -> bool:
    """Whether lanes diverge at the instruction if they disagree."""
    control = instruction.control
    return control is not None and (control.kind == "switch" or control.guard is not None)


class Blocks(Struct, dict=True, weakref=True, eq=False):
    """Basic blocks of one function. Blocks are numbered in instruction order; END = -1.

    account: pays for facts about the function that are computed once, on first use. These raise Exhausted.
    """

    function: Function
    starts: list[int]  # first instruction of each block
    ends: list[int]  # one past the last
    block_of: list[int]  # instruction -> block
    cfg: Digraph[int]
    within: Digraph[int]  # the same, but a routine with several calls returns to none of them
    calls: dict[int, int]  # block that ends in a call of such a routine -> the routine's first block
    problems: list[str] = field(default_factory=list)
    account: Account = field(default_factory=Account)

    @classmethod
    def cut(cls, function: Function, account: Account) -> Self:
        """Basic blocks and the control-flow graphs. Every block has a path to END."""
        instructions = function.instructions
        account.spend(INSTRUCTION * len(instructions), CONTROL_FLOW)
        count = len(instructions)
        leaders = {0}
        for i in instructions:
            c = i.control
            if c is None or c.kind in STEPS - {"sync"}:
                continue
            if c.kind == "sync":
                leaders.add(i.index)
                leaders.add(i.index + 1)
                continue
            leaders.update(t for t in c.targets if 0 <= t < count)
            leaders.add(i.index + 1)
        starts = sorted(x for x in leaders if x < count)
        ends = starts[1:] + [count]
        block_of = [0] * count
        for b, (s, e) in enumerate(zip(starts, ends)):
            for k in range(s, e):
                block_of[k] = b
        routines = _routines(instructions, account)
        problems: list[str] = []
        cfg = _flow(instructions, starts, ends, block_of, routines, problems, account)
        shared = {r.start for r in routines if len(r.calls) > 1 and r.returns}
        within, calls = cfg, {}
        if shared:
            within = _flow(
                instructions, starts, ends, block_of, [r for r in routines if r.start not in shared], [], account
            )
            for r in routines:
                for call in r.calls if r.start in shared else ():
                    calls[block_of[call]] = block_of[r.start]
                    if call + 1 < count:
                        within.add_edge(block_of[call], block_of[call + 1])
        return cls(function, starts, ends, block_of, cfg, within, calls, problems, account)

    @property
    def apart(self) -> Self:
        """The graph in which a routine with several calls is separate from its callers.

        It is analysed once for all of them, and no path through it leads from one caller to another. What it writes
        is unknown to its callers (`overwritten`).
        """
        return self._apart if self.calls else self

    @cached_property
    def _apart(self) -> Self:
        return replace(self, cfg=self.within)

    @cached_property
    def _coming_back(self) -> Digraph[int]:
        """`within` without the edges into such routines: every call is one step."""
        if not self.calls:
            return self.cfg
        out = self.within.copy()
        for call, routine in self.calls.items():
            out.remove_edge(call, routine)
        return out

    @cached_property
    def reachable(self) -> frozenset[int]:
        return frozenset(reached((0,), self.cfg.successors))

    @cached_property
    def loose_call(self) -> Instruction | None:
        """The first unmodelled call: its target or the place where it returns is unknown."""
        return self.function.instructions[min(self.unresolved)] if self.unresolved else None

    @cached_property
    def unresolved(self) -> frozenset[int]:
        """The unmodelled calls."""
        return frozenset(
            i.index
            for i in self.function.instructions
            if is_unresolved(i.control) and self.block_of[i.index] in self.reachable
        )

    @cached_property
    def loose_jump(self) -> Instruction | None:
        """A jump without known targets: it may lead to any instruction, including those on other paths."""
        return next(
            (
                i
                for i in self.function.instructions
                if i.control is not None
                and i.control.kind == "switch"
                and not i.control.targets
                and self.block_of[i.index] in self.reachable
            ),
            None,
        )

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The blocks that an unmodelled call may enter: called routines, and blocks that nothing else reaches."""
        if self.loose_call is None:
            return frozenset()
        instructions = self.function.instructions
        called = {
            self.block_of[t]
            for i in instructions
            if i.control is not None and i.control.kind == "call"
            for t in i.control.targets
        }

        def following(b: int) -> list[int]:
            last = instructions[self.ends[b] - 1].control
            ends = last is not None and last.kind == "ret" and last.guard is None
            return [] if ends else [s for s in self.cfg.successors(b) if s != END]

        out = {b for b in self.cfg if b != END and b not in self.reachable}
        return frozenset(out | reached(called - out, following, set(out)))

    def only_exits(self, block: int) -> bool:
        """Whether a block does nothing but end."""
        return all(
            i.site is None and not i.ops for i in self.function.instructions[self.starts[block] : self.ends[block]]
        ) and list(self.within.successors(block)) == [END]

    def sites(self) -> list[int]:
        """Indices of the instructions with a site."""
        return [i.index for i in self.function.instructions if i.site is not None]


class _Routine(Record):
    """start: its first instruction. calls: the instructions that call it. returns: those that return from it."""

    start: int
    calls: tuple[int, ...]
    returns: tuple[int, ...]


def inside(instructions: Sequence[Instruction], start: int) -> set[int]:
    """The instructions reachable from the first one of a subroutine; a call in it is one step."""

    def following(k: int) -> list[int]:
        c = instructions[k].control
        goes_on = c is None or c.guard is not None or c.kind in STEPS or c.kind == "call"
        out = [] if c is None or c.kind in STEPS or c.kind == "call" else list(c.targets)
        return [n for n in (*out, *((k + 1,) if goes_on else ())) if n < len(instructions)]

    return reached((start,) if start < len(instructions) else (), following)


def _routines(instructions: Sequence[Instruction], account: Account) -> list[_Routine]:
    """The routines with known calls."""
    calls: dict[int, list[int]] = defaultdict(list)
    for i in instructions:
        if i.control is not None and i.control.kind == "call" and i.control.targets:
            calls[i.control.targets[0]].append(i.index)
    out = []
    for start, callers in calls.items():
        seen = inside(instructions, start)
        returns = sorted(k for k in seen if (c := instructions[k].control) is not None and c.kind == "ret")
        account.spend(len(seen), CONTROL_FLOW)
        out.append(_Routine(start, tuple(callers), tuple(returns)))
    return out


def _flow(
    instructions: Sequence[Instruction],
    starts: list[int],
    ends: list[int],
    block_of: list[int],
    routines: list[_Routine],
    problems: list[str],
    account: Account,
) -> Digraph[int]:
    """The blocks and their successors; the given routines return after all of their calls."""
    count = len(instructions)
    behind: dict[int, set[int]] = defaultdict(set)  # ret -> the instructions that it returns to
    for r in routines:
        for k in r.returns:
            behind[k].update(call + 1 for call in r.calls if call + 1 < count)
    cfg: Digraph[int] = Digraph()
    cfg.add_nodes((*range(len(starts)), END))
    for b, e in enumerate(ends):
        last = instructions[e - 1]
        for t in _successors(last, count, sorted(behind.get(last.index, ())), problems):
            cfg.add_edge(b, END if t == END else block_of[t])
    if not count:
        cfg.add_edge(0, END)
    account.spend(INSTRUCTION * cfg.edge_count, CONTROL_FLOW)
    _join_to_end(cfg)
    return cfg


def _successors(last: Instruction, count: int, call_returns: list[int], problems: list[str]) -> list[int]:
    following = last.index + 1 if last.index + 1 < count else END
    c = last.control
    if c is None:
        return [following]
    leads = {ENDS: [END], RETURNS: call_returns or [END], ON: [following]}
    out = [t for place in taken(c) for t in leads.get(place, [place])]
    if not out:
        problems.append(f"the targets of {last.text.strip()} are not known")
    return (out or [END]) + ([following] if c.guard is not None and following not in out else [])


def _join_to_end(cfg: Digraph[int]) -> None:
    """Gives endless loops an edge to END, so that every block has a post-dominator."""
    reaches = reached((END,), cfg.predecessors)
    for b in sorted((n for n in cfg if n not in reaches), reverse=True):
        stack = [b] if b not in reaches else []
        if stack:
            cfg.add_edge(b, END)
        while stack:
            n = stack.pop()
            if n not in reaches:
                reaches.add(n)
                stack += cfg.predecessors(n)
