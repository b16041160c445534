"""From a kernel and a launch (or none) to one figure a site.

    evaluate(function, graph, launch, machine)  ->  KernelResult(sites=(SiteResult, …), assumed=(…))
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from functools import cache

import numpy as np

from .. import banks
from ..errors import InputError
from ..graph import Graph, OutOfTime
from ..ir import Const, Function, Instruction
from ..quiet import no_collection
from . import tables
from .cells import GRAIN
from .clusters import clustered
from .env import LANES, Facts
from .given import given
from .infer import Inference, infer
from .observe import access_reason
from .record import SiteRecord
from .repeat import Unsafe
from .result import KernelResult, SiteResult, Status
from .rows import environment, three
from .shadow import MOST_CELLS
from .simulate import MAX_ROWS, NeedBlocks, OutOfBudget, Simulation

OUT_OF_TIME = "budget: the analysis was not finished in the time given"
BUDGET = 30.0                  # seconds a kernel and launch may take when nothing else is said
MOST_BLOCK_ROWS = 1 << 20      # warps run one by one before the engine gives up on block indices
MOST_TABLE_ROWS = 1 << 15      # the same of a run that follows shared memory
TABLES_SHARE = 0.25            # of the time that is left, for such runs
MOST_RUNS = 8


@no_collection()
def evaluate(function: Function, graph: Graph, *, launch=None, machine, facts: Facts = Facts(),
             budget: float | None = None) -> KernelResult:
    """All sites of a kernel.

    launch: ptxaudit.launch.Launch with a grid and a block, or None. machine: machines.Machine.
    facts: what is stated beside a launch. budget: seconds (BUDGET when None); when spent, what is open is unknown.
    """
    accesses, listed, counted = _accesses(function, graph, machine, clustered(function, launch))
    if not accesses and (launch is None or not counted):
        return KernelResult(tuple(listed.values()))
    deadline = time.perf_counter() + (BUDGET if budget is None else budget)
    try:
        return _evaluated(function, graph, launch, machine, facts, accesses, listed, counted, deadline)
    except OutOfTime:
        late = {i: SiteResult(i, Status.UNKNOWN, OUT_OF_TIME, evidence="by rule") for i, first in _twins(function, accesses).items() if i == first}
        return KernelResult(tuple(site for _, site in sorted((listed | late).items())))


def _evaluated(function: Function, graph: Graph, launch, machine, facts: Facts, accesses, listed, counted, deadline: float) -> KernelResult:
    simulated: dict[int, SiteResult] = {}
    if launch is not None and launch.buffers:
        facts = replace(facts, memory=given(graph, environment(function, launch, facts, (1, 1, 1)), launch.buffers))
    if launch is not None and (launch.grid is None or launch.block is None):
        facts = replace(facts, block=facts.block or launch.block, grid=facts.grid or launch.grid,
                        dynamic_shared=launch.dynamic_shared if facts.dynamic_shared is None else facts.dynamic_shared)
        told, launch = launch, None
    else:
        told = launch
    if launch is not None:
        simulated = _simulate(function, graph, launch, machine, facts, accesses, _twins(function, accesses), deadline)
        # a run of their own: what decides whether they are issued may not be known, and is nothing to the others
        issued = _simulate(function, graph, launch, machine, facts, counted, {i: i for i in counted}, deadline)
        listed |= {i: _issued(listed[i], function.instructions[i], counted[i], run) for i, run in issued.items()}
    twins = _twins(function, accesses)
    open_sites = {i: a for i, a in accesses.items()
                  if (i not in simulated or not _settled(simulated[i])) and not function.instructions[i].site.again}
    try:
        inferred = infer(function, graph, launch, told, machine, facts, open_sites, twins, deadline) if open_sites else Inference({}, ())
    except OutOfTime:
        if not simulated:
            raise
        inferred = Inference({}, ())
    results = dict(listed)
    for i in accesses:
        if twins[i] != i:
            continue
        if i in simulated and (_settled(simulated[i]) or i not in inferred.sites):
            results[i] = simulated[i]
        elif i in simulated:
            results[i] = _merge(simulated[i], inferred.sites[i], banks.bounds(machine, accesses[i], 1, LANES))
        else:
            results[i] = inferred.sites[i]
    return KernelResult(tuple(results[i] for i in sorted(results)), inferred.assumed)


def _accesses(function: Function, graph: Graph, machine, in_clusters: bool):
    """({index: Access} to score, {index: SiteResult} of those that are only listed, {index: Access} of these, to be counted)."""
    accesses, listed, counted = {}, {}, {}
    hidden = graph.hidden
    for i in graph.sites():
        site = function.instructions[i].site
        if site.again and i - 1 not in accesses:            # of an access that is only listed
            continue
        if graph.block_of[i] in hidden:
            reason = f"a call that is not followed may lead there: {graph.loose_call.text.strip()}"
            listed[i] = SiteResult(i, Status.UNKNOWN, reason, evidence="by rule")
            continue
        if graph.block_of[i] not in graph.reachable:
            listed[i] = SiteResult(i, Status.UNREACHED, "no path leads there", evidence="by rule")
            continue
        try:
            access = banks.classify(site.opcode, _added(function, i))
            access = _varied(access, in_clusters, access.access == "cp.async" and not (site.ignore is None and site.source_size is None))
        except InputError as error:
            listed[i] = SiteResult(i, Status.UNKNOWN, f"{site.opcode} has no rule: {error.what}", evidence="by rule")
            continue
        reason = site.unscored or machine.refusal(access)
        if reason:
            listed[i] = SiteResult(i, Status.UNKNOWN, reason, evidence="by rule")
            if access.unscored and site.space == "shared" and not _waits(function.instructions[i]):
                counted[i] = access
        else:
            accesses[i] = access
    return accesses, listed, counted


@cache
def _varied(access: banks.Access, in_clusters: bool, may_fill: bool) -> banks.Access:
    """The same object for the same, so that what is remembered of an access is found again."""
    return replace(access, clustered=in_clusters, zero_fill=access.zero_fill or may_fill)


def _waits(instruction: Instruction) -> bool:
    """A test of a barrier: how often it is made is a matter of time."""
    return any(d is not None and d.bits == 1 for op in instruction.ops for d in op.dst)


WARPGROUP = 4              # warps that issue one wgmma together


def _issued(listed: SiteResult, instruction: Instruction, access, run: SiteResult) -> SiteResult:
    """An access without a rule for its lanes: how often it was issued, and what a counter charges for it where that is known."""
    if run.status is Status.UNREACHED:
        return run
    if run.requests is None:
        return listed
    known = replace(listed, requests=run.requests, active_requests=run.active_requests)
    if access.charge is None or instruction.site.first is None or run.requests % WARPGROUP:
        return known
    wavefronts = run.requests // WARPGROUP * access.charge[instruction.site.first == "shared"]
    return replace(known, status=Status.EXACT, reason="", wavefronts=wavefronts, ideal=wavefronts, excess=0, ways=1,
                   bounds=(wavefronts, wavefronts), evidence="measured")


def _twins(function: Function, accesses) -> dict[int, int]:
    """access -> the first copy of the same instruction: `link` copies what is called from several places."""
    first: dict[tuple, int] = {}
    out = {}
    for i in sorted(accesses):
        instruction = function.instructions[i]
        out[i] = first.setdefault((instruction.place, instruction.opcode, instruction.text), i)
    return out


def _added(function: Function, index: int) -> int | None:
    """The constant that an atomic operation combines with memory, where the instruction names one."""
    for op in function.instructions[index].ops:
        if op.name == "atom" and len(op.src) > 1 and isinstance(op.src[1], Const):
            return op.src[1].value
    return None


def _settled(result: SiteResult) -> bool:
    return result.status in (Status.EXACT, Status.UNREACHED) or result.status == Status.BOUNDED and result.requests is not None


def _simulate(function, graph, launch, machine, facts, accesses, twins, deadline) -> dict[int, SiteResult]:
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
        return SiteResult(index, status, record.doubt)
    t = record.totals()
    if record.requests == 0:
        return SiteResult(index, Status.UNREACHED, "never issued in this launch", 0, 0, 0, 0, 0, 0, evidence=t.evidence)
    common = dict(requests=record.requests + record.elsewhere, evidence=t.evidence,
                  active_requests=None if record.maybe else record.active_requests + record.elsewhere,
                  patterns=record.patterns(), trips=record.trip_table())
    per = None if t.per_low is None or t.uncounted else (t.per_low, t.per_high)
    ideal_per = None if t.ideal_low is None else (t.ideal_low, t.ideal_high)
    if record.lost:
        low, high = t.low + record.lost_low, t.high + record.lost_high
        status = Status.DATA_DEPENDENT if record.lost_data else Status.BOUNDED
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
    if record.residues:
        return SiteResult(index, Status.CONDITIONAL, record.loose, bounds=(t.low, t.high), ideal=t.ideal, per_request=per,
                          ideal_per_request=ideal_per, conditions=record.base_cases(), **common)
    if t.low != t.high or record.loose:
        reason = record.loose or access_reason(record.machine, record.access) or "the rule gives a range for this request"
        return SiteResult(index, Status.BOUNDED, reason, bounds=(t.low, t.high), ideal=t.ideal, ways=None,
                          per_request=per, ideal_per_request=ideal_per, **common)
    return SiteResult(index, Status.EXACT, "", wavefronts=t.low, ideal=t.ideal, excess=t.low - t.ideal, ways=t.ways,
                      bounds=(t.low, t.high), per_request=per, ideal_per_request=ideal_per, **common)


def _merge(simulated: SiteResult, inferred: SiteResult, widest: tuple[int, int]) -> SiteResult:
    """A site that the run could not count: the run's reason and requests with the per-request answer.

    widest: what a request of this access can cost at all.
    """
    if simulated.requests is not None:
        if inferred.per_request is not None and inferred.status != Status.UNKNOWN:
            active = simulated.active_requests
            low = 0 if active is None else inferred.per_request[0] * active
            high = inferred.per_request[1] * (simulated.requests if active is None else active)
            if simulated.bounds is not None:
                low, high = max(low, simulated.bounds[0]), min(high, simulated.bounds[1])
            return replace(simulated, bounds=(low, high), per_request=inferred.per_request, formula=inferred.formula)
        return replace(simulated, formula=inferred.formula)
    if inferred.status == Status.UNKNOWN:
        if simulated.status == Status.DATA_DEPENDENT:
            return replace(simulated, reason=f"{simulated.reason}; {inferred.reason}", per_request=widest, formula=inferred.formula)
        apart = simulated.reason and simulated.reason != inferred.reason
        return replace(inferred, reason=f"{simulated.reason}; {inferred.reason}") if apart else inferred
    status = simulated.status if simulated.status == Status.DATA_DEPENDENT else inferred.status
    return replace(inferred, status=status, reason=simulated.reason + (f"; {inferred.reason}" if inferred.reason else ""))
