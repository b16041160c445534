"""Runs of a launch, and the results that they give for each site.

Blocks are executed as classes with ranges of block indices, or with the indices as numbers if the slice needs them
(`NeedBlocks`). Whatever a run leaves open is executed once more with the numbers that the kernel writes to shared
memory and reads back (`tables`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine.answer.counted import site_result
from ptxaudit.engine.answer.kept import Keeper, Kept, Places
from ptxaudit.engine.answer.record import SiteRecord, score_together
from ptxaudit.engine.answer.result import SiteResult, unfinished
from ptxaudit.engine.answer.task import Task
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.exec.endless import Endless, entries, kept_by, left_at_once_or_never
from ptxaudit.engine.exec.running import NeedBlocks, NeverLeft
from ptxaudit.engine.exec.simulate import MAX_ROWS, Simulation, TooManyRows
from ptxaudit.engine.memory import tables
from ptxaudit.engine.memory.cells import GRAIN, BarriersUnclear, Unsafe
from ptxaudit.engine.memory.draws import LOOKING, NotOnce, tells_blocks_apart
from ptxaudit.engine.memory.environment import Environment, Facts
from ptxaudit.engine.memory.extents import Extent
from ptxaudit.engine.memory.rows import environment, three
from ptxaudit.engine.memory.shadow import MOST_CELLS
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware.banks import Access
from ptxaudit.ir.deciding import Deciding
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function
from ptxaudit.ir.reasons import Kind, Reason, exhausted, first_of, several
from ptxaudit.ir.slices import Slice

MOST_BLOCK_ROWS = 1 << 20  # warps executed one by one before the engine gives up on block indices
MOST_REQUESTS = 1 << 18  # requests held by blocks that run together, if each access is made once
MOST_TABLE_ROWS = 1 << 15  # the same for a run that tracks shared memory
TABLES_SHARE = 0.25  # of the steps left, for such runs
RUN_SHARE = 0.9  # of the steps left, for a run; the rest is for scoring its requests and for inference
MOST_RUNS = 16  # each but the last is refuted, mostly early: loads of unrolled loops over what other threads write


class Simulated(Record):
    """endless: the first instruction of a loop that lanes certainly never leave."""

    sites: dict[int, SiteResult]
    endless: int | None = None


def simulate(task: Task, account: Account, whole: bool = True, tracking: bool = True) -> Simulated:
    """Executes the launch; if that leaves something open, once more with what the kernel writes to shared memory and
    reads back. Sites that the account cannot pay for are unknown.

    whole: if blocks may take tickets, accesses that no block index decides are also executed separately. tracking: the
    second run may be made.
    """
    graph, facts, accesses = task.graph, task.facts, task.accesses
    if not accesses:
        return Simulated({})
    try:
        part = _slice(task, account, entries(graph))
    except Exhausted as spent:
        return Simulated({i: unfinished(i, spent) for i in accesses})
    ran = _run(task, part, account)
    if ran.finished:
        ran = _with_loops(task, left_at_once_or_never(graph, part.branches), ran, account)
    results, finished = ran.results, ran.finished
    open_sites = {i: a for i, a in accesses.items() if finished and _open(results[i], a)}
    if open_sites and tracking:
        results |= _with_tables(replace(task, accesses=open_sites), results, account)
    if whole and facts.counters is not None and finished:
        some = _alike_in_all_blocks(task, {i: a for i, a in open_sites.items() if _open(results[i], a)}, account)
        if some and len(some) < len(accesses):  # else it equals the first run
            own = {i: task.originals[i] for i in some}
            found = simulate(replace(task, accesses=some, originals=own), account, whole=False)
            results |= {i: r for i, r in found.sites.items() if r.status in (Status.EXACT, Status.UNREACHED)}
    return Simulated(results, ran.endless)


def _alike_in_all_blocks(task: Task, accesses: Mapping[int, Access], account: Account) -> dict[int, Access]:
    """The accesses that no block index decides, judging by registers: all copies of an instruction, or none."""
    env = _environment(task)
    try:
        deciding = Deciding(task.graph, lambda op, _: tells_blocks_apart((op,), env), True, account, LOOKING)
        apart = {task.originals[i] for i in accesses if deciding.of(i)}
    except Exhausted:
        return {}
    whole = Counter(task.originals.values())
    some = {i: a for i, a in accesses.items() if task.originals[i] not in apart}
    found = Counter(task.originals[i] for i in some)
    return {i: a for i, a in some.items() if found[task.originals[i]] == whole[task.originals[i]]}


def _environment(task: Task) -> Environment:
    """The environment of the warps of one block."""
    launch = task.launch
    assert launch is not None and launch.block is not None
    return environment(task.function, launch, task.facts, three(launch.block))


def _open(result: SiteResult, access: Access) -> bool:
    """Values from shared memory might improve the result."""
    if access.unscored:
        return result.requests is None
    return result.status not in (Status.EXACT, Status.UNREACHED) and not (
        result.status == Status.BOUNDED and access.bypass
    )


def _with_tables(task: Task, before: Mapping[int, SiteResult], account: Account) -> dict[int, SiteResult]:
    """The results for these accesses with numbers tracked through shared memory (`tables`); {} if none are tracked."""
    accesses, env = task.accesses, _environment(task)
    unscored = {i for i, a in accesses.items() if a.unscored}
    try:
        plan = tables.plan(task.graph, env, [i for i in accesses if i not in unscored], unscored, account)
        if plan is None:
            return {}
        if isinstance(plan, Reason):
            raise Unsafe(plan)
        with account.part(TABLES_SHARE) as some:
            found = _trusting(lambda plan: _run(task, plan.part, some, plan).results, plan)
    except Exhausted:
        return {}
    except Unsafe as unsafe:
        return {
            i: replace(before[i], reason=several(before[i].reason, Reason(Kind.NOT_TRACKED, cause=unsafe.reason)))
            for i in accesses
            if before[i].status in (Status.DATA_DEPENDENT, Status.UNKNOWN) and before[i].reason
        }
    return {
        i: r
        for i, r in found.items()
        if r.status in (Status.EXACT, Status.UNREACHED) or r.requests is not None or before[i].requests is None
    }


def _trusting(run: Callable[[tables.Plan], dict[int, SiteResult]], plan: tables.Plan) -> dict[int, SiteResult]:
    """The first run that does not refute what it assumed to be known."""
    last: Unsafe
    for _ in range(MOST_RUNS):
        try:
            result: dict[int, SiteResult] = run(plan)
            return result
        except BarriersUnclear as unclear:
            plan, last = replace(plan, executed=False), unclear
        except Unsafe as unsafe:
            if not unsafe.loads:
                raise
            plan, last = replace(plan, distrusted=plan.distrusted | unsafe.loads), unsafe
    raise last


class _Ran(Record):
    """The results of a run.

    finished: if false, the accesses that it has passed for good are known nevertheless. endless: as in `Simulated`.
    """

    results: dict[int, SiteResult]
    finished: bool
    endless: int | None


def _slice(task: Task, account: Account, whether: Sequence[int]) -> Slice:
    """What decides the accesses, and whether instructions at `whether` execute. Raises Exhausted."""
    unscored = {i for i, a in task.accesses.items() if a.unscored}
    scored = task.accesses.keys() - unscored
    follow = task.facts.memory is not None
    return task.graph.slice(scored, follow, whether=(*unscored, *whether), account=account, barriers=True)


def _with_loops(task: Task, heads: Sequence[int], ran: _Ran, account: Account) -> _Ran:
    """The results of a run, or of another one that also executes loops on which no access depends, if lanes certainly
    never leave one of these.
    """
    alone = replace(task, accesses={}, originals={})
    try:
        if not heads or _run(alone, _slice(alone, account, heads), account).endless is None:
            return ran
        return _run(task, _slice(task, account, (*entries(task.graph), *heads)), account)
    except Exhausted:
        return ran


def _run(task: Task, part: Slice, account: Account, plan: tables.Plan | None = None) -> _Ran:
    """Executes once: with ranges of block indices first, with numbers if the slice needs them. May raise Unsafe if
    there is a plan.
    """
    with account.part(RUN_SHARE) as running:
        records, stop = _recorded(task, part, running, plan)
    for record in records.values():
        record.account = account
    score_together({id(record): record for record in records.values()}.values())
    results = {i: _result(i, record) for i, record in records.items()}
    if not isinstance(stop, NeverLeft) or not stop.certain:
        return _Ran(results, stop is None, None)
    return _Ran(kept_by(Endless(task.graph, stop.index), results), False, stop.index)


Stop = Exhausted | TooManyRows | NeverLeft


def _recorded(
    task: Task, part: Slice, account: Account, plan: tables.Plan | None
) -> tuple[dict[int, SiteRecord], Stop | None]:
    """The records of a run by access, and why it was not finished, or None."""
    function, graph, launch, facts, accesses = task.function, task.graph, task.launch, task.facts, task.accesses
    assert launch is not None and launch.block is not None and launch.grid is not None
    block, grid = three(launch.block), three(launch.grid)
    dims: set[int] = set()
    warps = -(-block[0] * block[1] * block[2] // LANES)
    at_once = min(MAX_ROWS // 4, 4096, MOST_REQUESTS // (1 + len(accesses))) // warps
    if plan is not None:
        at_once = min(at_once, MOST_CELLS // (2 * (function.shared_static + (launch.dynamic_shared or 0) + GRAIN)))
    while True:
        records = _new_records(task, account)
        total = int(np.prod([grid[d] for d in dims])) * warps
        allow = total <= (MOST_BLOCK_ROWS if plan is None else MOST_TABLE_ROWS)
        batches = _batches(function, launch, facts, block, grid, dims if allow else set(), max(1, at_once))
        simulation = None
        drawn: set[int] = set()
        try:
            for env, low, high in batches:
                if simulation is not None:
                    simulation.dissolve()
                    simulation = None  # else an abort before the next one has begun would hide the next one's warps
                simulation = Simulation(graph, part, env, records, low, high, account, allow, plan)
                simulation.run()
                drawn |= simulation.drawn()
            if facts.counters is not None:
                facts.counters.taken.update(drawn)
            return records, None
        except NeedBlocks as need:
            dims |= need.dimensions
        except NotOnce:
            facts = replace(facts, counters=None)
        except (Exhausted, TooManyRows, NeverLeft) as stop:
            if simulation is not None and simulation.env.counters is not None:  # tickets were not seen to the end
                facts = replace(facts, counters=None)
                continue
            why = _why_broken_off(stop)
            if plan is not None:
                raise Unsafe(why) from None
            every = simulation is None or next(batches, None) is not None
            open_ = accesses if simulation is None or every else simulation.unfinished()
            _left_open(graph, records, open_, stop, why)
            return records, stop
        finally:
            if simulation is not None:
                simulation.dissolve()


def _left_open(graph: Graph, records: dict[int, SiteRecord], accesses: Iterable[int], stop: Stop, why: Reason) -> None:
    """Marks the accesses that an aborted run may still have reached."""
    for i in accesses:
        records[i].undecided = first_of(records[i].undecided, why)
    if isinstance(stop, NeverLeft):
        loop = Endless(graph, stop.index)
        for i in filter(loop.makes_wait, records):
            if records[i].requests:
                records[i].undecided = first_of(records[i].undecided, why)


def _why_broken_off(stop: Stop) -> Reason:
    if isinstance(stop, Exhausted):
        return exhausted(stop)
    if isinstance(stop, NeverLeft):
        return Reason(Kind.NEVER_LEFT, stop.index)
    return Reason(Kind.MANY_WARPS, given=(MAX_ROWS,))


def _new_records(task: Task, account: Account) -> dict[int, SiteRecord]:
    """access -> the record of its requests, shared by all copies of an instruction."""
    facts, accesses = task.facts, task.accesses
    own = {
        i: SiteRecord(
            task.machine,
            a,
            account,
            kept=Keeper(a) if facts.keep else None,
            extent=Extent(a.width, facts.memory) if facts.extents and facts.memory and a.width else None,
            seen=facts.seen,
        )
        for i, a in accesses.items()
        if task.originals[i] == i
    }
    return {i: own[task.originals[i]] for i in accesses}


def _result(index: int, record: SiteRecord) -> SiteResult:
    try:
        result = site_result(index, record)
    except Exhausted as spent:
        return unfinished(index, spent)
    if record.extent is not None and record.undecided is None and record.unknown is None:
        result = replace(result, extent=record.extent)
    return result if record.kept is None else replace(result, kept=_kept(record))


def _kept(record: SiteRecord) -> Kept:
    """The requests with their places, if the run has met all of them."""
    open_ones = record.undecided or record.unknown
    if open_ones or record.kept is None:
        return Kept(record.access, partial(Places, missing=open_ones))
    return record.kept.kept()


def _batches(
    function: Function,
    launch: Launch,
    facts: Facts,
    block: tuple[int, int, int],
    grid: tuple[int, int, int],
    dims: set[int],
    at_once: int,
) -> Iterator[tuple[Environment, np.ndarray, np.ndarray]]:
    """(environment, low, high) of each batch of rows.

    In the dimensions `dims`, blocks have numbers as indices, `at_once` blocks in a batch.
    """
    single = sorted(d for d in dims if grid[d] > 1)
    warps = -(-block[0] * block[1] * block[2] // LANES)
    first, last = np.zeros(3, np.int64), np.array(grid, np.int64) - 1
    if not single:
        env = environment(function, launch, facts, block)
        yield env, np.tile(first, (env.rows, 1)), np.tile(last, (env.rows, 1))
        return
    indices = itertools.product(*(range(grid[d]) for d in reversed(single)))
    while chunk := list(itertools.islice(indices, at_once)):
        numbers = np.array(chunk, np.int64)[:, ::-1]
        concrete = {d: np.zeros((len(chunk) * warps, 1), np.uint32) for d in range(3) if grid[d] == 1}
        low = np.tile(first, (len(chunk) * warps, 1))
        high = np.tile(last, (len(chunk) * warps, 1))
        for k, d in enumerate(single):
            column = np.repeat(numbers[:, k], warps)
            concrete[d] = column.astype(np.uint32)[:, None]
            low[:, d] = high[:, d] = column
        yield environment(function, launch, facts, block, concrete, len(chunk)), low, high
