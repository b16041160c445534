"""Runs of a launch, and what they say of each site.

Blocks are run as classes with ranges of block indices; where the slice needs the indices themselves, as numbers (`NeedBlocks`).
What a run leaves open is run once more with the numbers that the kernel writes to shared memory and reads back (`tables`).
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np

from ..graph import OutOfTime
from . import tables
from .cells import GRAIN
from .env import LANES
from .observe import MIXED
from .record import SiteRecord
from .repeat import Unsafe
from .result import SiteResult, Status
from .rows import environment, three
from .shadow import MOST_CELLS
from .simulate import MAX_ROWS, NeedBlocks, OutOfBudget, Simulation

MOST_BLOCK_ROWS = 1 << 20      # warps run one by one before the engine gives up on block indices
MOST_TABLE_ROWS = 1 << 15      # the same of a run that follows shared memory
TABLES_SHARE = 0.25            # of the time that is left, for such runs
MOST_RUNS = 8


def simulate(function, graph, launch, machine, facts, accesses, twins, deadline) -> dict[int, SiteResult]:
    """Run the launch; where that leaves something open, once more with what the kernel writes to shared memory and reads back."""
    if not accesses:
        return {}
    unscored = {i for i, a in accesses.items() if a.unscored}
    part = graph.slice(accesses.keys() - unscored, follow_loads=facts.memory is not None, whether=unscored, deadline=deadline)
    results = _run(function, graph, part, launch, machine, facts, accesses, twins, deadline)
    open_sites = {i: a for i, a in accesses.items() if _open(results[i], a)}
    return results | _with_tables(function, graph, launch, machine, facts, open_sites, twins, results, deadline) if open_sites else results


def _open(result: SiteResult, access) -> bool:
    """Numbers out of shared memory might tell more."""
    if access.unscored:
        return result.requests is None
    return result.status not in (Status.EXACT, Status.UNREACHED) and not (result.status == Status.BOUNDED and access.bypass)


def _with_tables(function, graph, launch, machine, facts, accesses, twins, before, deadline) -> dict[int, SiteResult]:
    """What is known of these accesses when numbers are followed through shared memory (`tables`); {} where none are."""
    unscored = {i for i, a in accesses.items() if a.unscored}
    env = environment(function, launch, facts, three(launch.block))
    try:
        plan = tables.plan(graph, env, accesses.keys() - unscored, unscored, deadline)
        if plan is None:
            return {}
        if isinstance(plan, str):
            raise Unsafe(plan)
        now = time.perf_counter()
        found = _trusting(lambda plan: _run(function, graph, plan.part, launch, machine, facts, accesses, twins,
                                            now + TABLES_SHARE * (deadline - now), plan), plan)
    except OutOfTime:
        return {}
    except Unsafe as unsafe:
        return {i: replace(before[i], reason=f"{before[i].reason}; what it reads from shared memory is not followed: {unsafe}")
                for i in accesses if before[i].status in (Status.DATA_DEPENDENT, Status.UNKNOWN) and before[i].reason}
    return {i: r for i, r in found.items() if r.status in (Status.EXACT, Status.UNREACHED) or r.requests is not None or before[i].requests is None}


def _trusting(run, plan: tables.Plan) -> dict[int, SiteResult]:
    """The first run that does not find what it took as known to be otherwise."""
    for _ in range(MOST_RUNS):
        try:
            return run(plan)
        except Unsafe as unsafe:
            if not unsafe.loads:
                raise
            plan, last = replace(plan, distrusted=plan.distrusted | unsafe.loads), unsafe
    raise last


def _run(function, graph, part, launch, machine, facts, accesses, twins, deadline, plan=None) -> dict[int, SiteResult]:
    """One run; block indices as ranges first, as numbers where the slice needs them. With a plan, Unsafe may be raised."""
    block, grid = three(launch.block), three(launch.grid)
    dims: set[int] = set()
    out_of_budget = False
    warps = -(-block[0] * block[1] * block[2] // LANES)
    at_once = min(MAX_ROWS // 4, 4096) // warps
    if plan is not None:
        at_once = min(at_once, MOST_CELLS // (2 * (function.shared_static + (launch.dynamic_shared or 0) + GRAIN)))
    while True:
        records = {i: SiteRecord(machine, a) for i, a in accesses.items() if twins[i] == i}
        records = {i: records[twins[i]] for i in accesses}
        total = int(np.prod([grid[d] for d in dims])) * warps
        allow = total <= (MOST_BLOCK_ROWS if plan is None else MOST_TABLE_ROWS)
        try:
            for env, low, high in _batches(function, launch, facts, block, grid, dims if allow else set(), max(1, at_once)):
                Simulation(graph, part, env, records, low, high, deadline, allow, plan).run()
        except NeedBlocks as need:
            dims |= need.dimensions
            continue
        except OutOfBudget:
            out_of_budget = True
            if plan is not None:
                raise Unsafe("it takes too long") from None
        break
    results = {}
    for i, record in records.items():
        if out_of_budget:
            record.doubt = record.doubt or "budget: the run was not finished in the time given"
        results[i] = site_result(i, record)
    return results


def _batches(function, launch, facts, block, grid, dims, at_once):
    """(environment, low, high) of each batch of rows: blocks run one by one in the dimensions `dims`, so many in a batch."""
    dims = sorted(d for d in dims if grid[d] > 1)
    warps = -(-block[0] * block[1] * block[2] // LANES)
    first, last = np.zeros(3, np.int64), np.array(grid, np.int64) - 1
    if not dims:
        env = environment(function, launch, facts, block)
        yield env, np.tile(first, (env.rows, 1)), np.tile(last, (env.rows, 1))
        return
    indices = itertools.product(*(range(grid[d]) for d in reversed(dims)))
    while chunk := list(itertools.islice(indices, at_once)):
        numbers = np.array(chunk, np.int64)[:, ::-1]
        concrete = {d: np.zeros((len(chunk) * warps, 1), np.uint32) for d in range(3) if grid[d] == 1}
        low = np.tile(first, (len(chunk) * warps, 1))
        high = np.tile(last, (len(chunk) * warps, 1))
        for k, d in enumerate(dims):
            column = np.repeat(numbers[:, k], warps)
            concrete[d] = column.astype(np.uint32)[:, None]
            low[:, d] = high[:, d] = column
        yield environment(function, launch, facts, block, concrete, len(chunk)), low, high


def site_result(index: int, record: SiteRecord) -> SiteResult:
    """What a run says of one site."""
    if record.access.unscored:
        if record.doubt or record.maybe:
            return SiteResult(index, Status.UNKNOWN, record.doubt or record.lost)
        if not record.requests:
            return SiteResult(index, Status.UNREACHED, "never issued in this launch", 0, 0, 0, 0, 0, 0, evidence="by rule")
        return SiteResult(index, Status.UNKNOWN, requests=record.requests, active_requests=record.active_requests)
    record.flush()
    if record.doubt:
        status = Status.DATA_DEPENDENT if record.doubt_data else Status.UNKNOWN
        return SiteResult(index, status, record.doubt, evidence=record.evidence)
    t = record.totals()
    if record.requests == 0:
        return SiteResult(index, Status.UNREACHED, "never issued in this launch", 0, 0, 0, 0, 0, 0, evidence=record.evidence)
    common = dict(requests=record.requests + record.elsewhere, evidence=record.evidence,
                  active_requests=None if record.maybe else record.active_requests + record.elsewhere_active,
                  patterns=record.patterns(), trips=record.trip_table())
    per = None if t.per_low is None or t.uncounted else (t.per_low, t.per_high)
    ideal_per = None if t.ideal_low is None else (t.ideal_low, t.ideal_high)
    if record.lost:
        low, high = t.low + record.lost_low, t.high + record.lost_high
        status = Status.DATA_DEPENDENT if record.lost_data else Status.BOUNDED
        high += record.mixed
        each = [p for p in (per, (record.lost_low, record.lost_high)) if p]
        wide = None
        if record.lost_each is not None and not t.uncounted:
            few, many = record.lost_each
            wide = (min(few, per[0]), max(many, per[1])) if per else (few, many)
        return SiteResult(index, status, record.lost, bounds=(low, high) if each and not t.uncounted else None,
                          per_request=wide, **common)
    if t.uncounted:
        reason = "cp.async.cg: no counter sees its wavefronts; `lines` tells its cost"
        if record.loose:
            reason += f"; {record.loose}"
        return SiteResult(index, Status.BOUNDED, reason, line_class_max=t.line_class_max, lines=t.lines,
                          lines_ideal=t.lines_ideal, **common)
    if record.mixed:
        reason = "; ".join([MIXED, *([record.loose] if record.loose else [])])
        wide = None if per is None else (per[0], per[1] + record.mixed_most)
        return SiteResult(index, Status.BOUNDED, reason, bounds=(t.low, t.high + record.mixed), ideal=t.ideal, per_request=wide, **common)
    if record.residues:
        return SiteResult(index, Status.CONDITIONAL, record.loose, bounds=(t.low, t.high), ideal=t.ideal, per_request=per,
                          ideal_per_request=ideal_per, conditions=record.base_cases(), **common)
    if t.low != t.high or record.loose:
        reason = record.loose or record.machine.why_range(record.access) or "the rule gives a range for this request"
        return SiteResult(index, Status.BOUNDED, reason, bounds=(t.low, t.high), ideal=t.ideal, ways=None,
                          per_request=per, ideal_per_request=ideal_per, **common)
    return SiteResult(index, Status.EXACT, "", wavefronts=t.low, ideal=t.ideal, excess=t.low - t.ideal, ways=t.ways,
                      bounds=(t.low, t.high), per_request=per, ideal_per_request=ideal_per, **common)
