"""The stores to shared memory that may leave known numbers behind, which an access reads back as an index.

    s[tid] = tid ^ 1;  __syncthreads();  x = t[s[lane] * 9]      the store's value decides the bank of the load of t

`plan` examines the sites that a run left undecided. If the values that decide them are read from shared memory, and a
store there can write a number that the launch determines, the run is repeated with a shadow of shared memory
(`shadow`); for all other kernels nothing is done. Whether a value can be known is computed over definitions,
regardless of order: a number loaded from unspecified memory, or the result of a floating-point operation that is not
modelled, never becomes known. An atomic operation may leave and return a known number where a store left one.

There is no plan if an instruction writes shared memory at places or times that cannot be tracked: bulk copies,
stores to other blocks of a cluster, unmodelled calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.reach import Reach
from ptxaudit.engine.memory.read_from import definitions
from ptxaudit.engine.memory.updates import operands_of
from ptxaudit.engine.ops import operations
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import (
    MATRICES,
    STORE_MATRIX,
    Address,
    Const,
    Instruction,
    Op,
    Operand,
    Reg,
    Special,
    Unknown,
)
from ptxaudit.ir.operands import SHARED_SPACES, WRITES, SharedWrites, control_reads
from ptxaudit.ir.reasons import Kind, Reason
from ptxaudit.ir.slices import Slice
from ptxaudit.ir.warp_operations import ACROSS

LOOKING = "looking at what is read back from shared memory"
MOST_OPERATIONS = 20_000  # operations that are examined
# Operations across lanes with a result for known sources.
_TRACKED = (*ACROSS, "cvta", "isspacep", "bar")  # besides those that have a row
REDUCTION = "bar.red"  # the result of a barrier: how many threads of the block, whether any, whether all


class Plan(Record):
    """What a run with tracked shared memory executes and tracks.

    part: the slice to execute.
    writes: instructions that may write shared memory, and those of them whose values may be known.
    barriers: instruction -> number, where every thread of the block waits for all others, judging by the code.
    executed: instead, each barrier that a run executes is judged by its guard and count there; `meetings` are all of
        them.
    reach: the ranges of unknown addresses. distrusted: loads whose values are not taken as known.
    """

    part: Slice
    writes: SharedWrites
    barriers: dict[int, int]
    meetings: frozenset[int]
    reach: Reach
    distrusted: frozenset[int] = frozenset()
    executed: bool = True


def plan(
    graph: Graph, env: Environment, roots: Sequence[int], whether: Collection[int], account: Account
) -> Plan | Reason | None:
    """What to track so that the accesses at `roots` (and whether those at `whether` are executed) may be known.

    env: of the launch. None: they read no numbers from shared memory that can be known; a Reason: why that is not
    modelled. Raises Exhausted if the account does not pay for it.
    """
    specified = env.facts.memory is not None
    first = graph.slice(roots, specified, whether, account, SharedWrites())
    reads = any(_reads(op) for k in first.instructions for op in first.ops[k])
    reductions = [k for k in sorted(first.instructions) if any(op.name == REDUCTION for op in first.ops[k])]
    if not reads and not reductions:
        return None
    running = [i for i in graph.function.instructions if graph.block_of[i.index] in graph.reachable]
    writers = frozenset(i.index for i in running if _writes(i))
    account.spend(INSTRUCTION * len(running), LOOKING)
    valued = _valued(graph, env, specified, writers, account) if reads else frozenset()
    answered = _Knowable(graph, env, specified, bool(valued), account).answers(reductions)
    if not valued and not answered:
        return None
    if graph.loose_call is not None:
        return Reason(Kind.CALL_NOT_RESOLVED, graph.loose_call.index)
    astray = next((i for i in running if _astray(i)), None)
    if astray is not None and valued:
        return Reason(Kind.WRITES_ASTRAY, astray.index, (astray.opcode,))
    writes = SharedWrites(writers, valued) if valued else SharedWrites()
    meetings = {i.index: control_reads(i) for i in running if i.control is not None and i.control.meeting is not None}
    part = graph.slice(
        [*roots, *writes.writers],
        specified,
        {*whether, *meetings},
        account,
        writes,
        held=[(reg, k) for k, registers in meetings.items() for reg in registers],
        barriers=True,
    )
    return Plan(part, writes, _barriers(running, env), frozenset(meetings), Reach(graph, env))


def _writes(instruction: Instruction) -> bool:
    """Whether the instruction may write shared memory, at places that can be tracked."""
    return any(op.name in WRITES and op.space in SHARED_SPACES for op in instruction.ops)


def _reads(op: Op) -> bool:
    """Whether an operation returns what is in shared memory, as far as that is modelled."""
    return op.space in SHARED_SPACES and (op.name == "load" or operands_of(op) > 0)


def _data(op: Op) -> Sequence[Operand]:
    """The operands that decide what an operation leaves in memory, if its effect is modelled."""
    modelled = op.name == "store" or op.name == STORE_MATRIX and op.attrs or operands_of(op)
    return op.src[1:] if modelled else ()


def _astray(instruction: Instruction) -> bool:
    """Whether the instruction may write shared memory, at places or times that cannot be tracked."""
    return any(
        op.name == "clobber"
        and op.space in SHARED_SPACES
        or op.space == "shared::cluster"
        and op.name in ("store", "atom")
        for op in instruction.ops
    )


def of_all(env: Environment) -> int:
    """The number of threads that a barrier of the whole block waits for."""
    assert env.block is not None  # there is a launch
    return -(-env.block[0] * env.block[1] * env.block[2] // LANES) * LANES


def _barriers(running: list[Instruction], env: Environment) -> dict[int, int]:
    """instruction -> number of the barriers at which all threads synchronise, if all barriers with that number do."""
    everybody = of_all(env)
    whole, others = {}, set()
    for i in running:
        meeting = i.control.meeting if i.control is not None and i.control.kind == "barrier" else None
        if meeting is None:
            continue
        if (
            meeting.number is not None
            and meeting.waits
            and i.control is not None
            and i.control.guard is None
            and meeting.threads in (0, everybody)
        ):
            whole[i.index] = meeting.number
        else:
            others.add(meeting.number)
    return {} if None in others else {k: n for k, n in whole.items() if n not in others}


# --- what can be known ----------------------------------------------------------------------

Operation = tuple[int, int]  # an instruction and the position of one of its operations


def _valued(
    graph: Graph, env: Environment, specified: bool, writers: frozenset[int], account: Account
) -> frozenset[int]:
    """The stores whose values can be known numbers.

    There are none unless one is known without relying on loads from shared memory.
    """
    if not _Knowable(graph, env, specified, False, account).stores(writers):
        return frozenset()
    return _Knowable(graph, env, specified, True, account).stores(writers)


class _Knowable:
    """The operations whose results can be known. shared: results of loads from shared memory can be."""

    def __init__(self, graph: Graph, env: Environment, specified: bool, shared: bool, account: Account):
        self.graph, self.env, self.specified, self.shared, self.account = graph, env, specified, shared, account
        self.never: set[Operation] = set()
        self.seen: set[Operation] = set()
        self.open: dict[tuple[Operation, int], int] = {}  # (operation, source) -> count of knowable definitions
        self.readers: dict[Operation, list[tuple[Operation, int]]] = defaultdict(list)

    def stores(self, writers: frozenset[int]) -> frozenset[int]:
        """The writers that store a value that can be known; none if no store does, or if there are too many operations
        to examine."""
        found = self._any_known(writers, lambda op: _data(op) if op.space in SHARED_SPACES else ())
        instructions = self.graph.function.instructions
        stores = any(op.name != "atom" and _data(op) for k in found for op in instructions[k].ops)
        return found if stores else frozenset()

    def answers(self, reductions: Iterable[int]) -> frozenset[int]:
        """The barriers that reduce predicates that can be known; none if there are too many operations to examine."""
        return self._any_known(reductions, lambda op: op.src[-1:] if op.name == REDUCTION else ())

    def _any_known(self, at: Iterable[int], values_of: Callable[[Op], Sequence[Operand]]) -> frozenset[int]:
        """The instructions with an operation one of whose values can be known."""
        instructions = self.graph.function.instructions
        values: dict[int, list[list[Operation] | None]] = {}
        for k in at:
            for position, op in enumerate(instructions[k].ops):
                values.setdefault(k, []).extend(self._definitions(s, k, position) for s in values_of(op))
        work = [d for sources in values.values() for s in sources if s is not None for d in s]
        while work:
            place = work.pop()
            if place not in self.seen:
                self.seen.add(place)
                self.account.spend(INSTRUCTION, LOOKING)
                work += self._look(place)
                if len(self.seen) > MOST_OPERATIONS:
                    return frozenset()
        self._spread()
        return frozenset(
            k for k, sources in values.items() if any(s is None or any(d not in self.never for d in s) for s in sources)
        )

    def _look(self, place: Operation) -> list[Operation]:
        """Records what the operation needs; returns the definitions to examine."""
        index, position = place
        op = self.graph.function.instructions[index].ops[position]
        counters = self.env.facts.counters
        if op.name == "atom" and counters is not None and index in counters.by:
            return []
        if op.name == "load" or _reads(op):
            if not self._load(op):
                self.never.add(place)
            return []
        stem = op.name.partition(".")[0]
        if op.name == "call" or not operations.ever_known(op.name) and stem not in _TRACKED:
            self.never.add(place)
            return []
        out: list[Operation] = []
        sources = [self._definitions(s, index, position) for s in op.src]
        if op.name == "select" and sources[0] is not None and sources[1] is not None:  # one of the two is enough
            sources = [sources[0] + sources[1], sources[2]]
        for number, written in enumerate(sources):
            if written is None:
                continue
            if not written:
                self.never.add(place)
            self.open[place, number] = len(written)
            for d in written:
                self.readers[d].append((place, number))
            out += written
        return out

    def _spread(self) -> None:
        work = list(self.never)
        while work:
            for reader in self.readers[work.pop()]:
                self.open[reader] -= 1
                if self.open[reader] == 0 and reader[0] not in self.never:
                    self.never.add(reader[0])
                    work.append(reader[0])

    def _definitions(self, source: Operand, index: int, position: int) -> list[Operation] | None:
        """The possible definitions of a source; None: it can be known itself; []: it never can."""
        if isinstance(source, Reg):
            return list(dict.fromkeys(definitions(self.graph, source.name, index, position)))
        if isinstance(source, Const):
            return None
        if isinstance(source, Special):
            value = self.env.special(source.name, source.bits)
            return None if value.poison is None and all(u.kind == "block" for u, _ in value.terms) else []
        if isinstance(source, Address):
            return [] if self.env.address(source).terms else None
        assert isinstance(source, Unknown)
        return []

    def _load(self, op: Op) -> bool:
        if op.space == "param":
            start = op.fixed
            if start is None:
                return True
            return any(self.env.param_known[start : start + max(1, op.element[0] // 8) * len(op.dst)])
        if op.space in ("local", "const") or op.space.startswith("const:"):
            return True
        if op.space in ("shared", "generic", MATRICES):
            return self.shared or (self.specified or self.env.makes_parameter_addresses) and op.space == "generic"
        return self.specified and op.space == "global"
