"""The entry point of the engine: from a kernel and a launch (or none) to one result per site.

evaluate(function, graph, launch, machine)  ->  KernelResult(sites=(SiteResult, …), assumed=(…))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cache, partial

from msgspec.structs import replace

from ptxaudit.base.quiet import no_collection
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.words import plural
from ptxaudit.base.work import DEFAULT_BUDGET, Account, Exhausted
from ptxaudit.engine.answer.assumptions import assumed, with_meetings
from ptxaudit.engine.answer.kept import Kept
from ptxaudit.engine.answer.placements import NO_TABLES, Tables, with_placements
from ptxaudit.engine.answer.result import KernelResult, SiteResult, unfinished
from ptxaudit.engine.answer.task import Task
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.memory import copied, tickets
from ptxaudit.engine.memory.clusters import clustered
from ptxaudit.engine.memory.constants import Constants
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.engine.memory.pointers import Seen, seen
from ptxaudit.engine.memory.reach import Reach
from ptxaudit.engine.memory.rows import environment, three
from ptxaudit.engine.memory.written import given
from ptxaudit.engine.ops.operations import on_machine
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import banks
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.hardware.unscored import MEASURED
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function, Instruction, Site
from ptxaudit.ir.reasons import Kind, Reason, several

Accesses = dict[int, banks.Access]  # by instruction


@no_collection()
def evaluate(
    function: Function,
    graph: Graph,
    *,
    launch: Launch | None = None,
    machine: Machine,
    facts: Facts = Facts(),
    account: Account | None = None,
) -> KernelResult:
    """The results for all sites of a kernel.

    launch: ptxaudit.launch.Launch with a grid and a block, or None. machine: machines.Machine. facts: what is stated
    besides a launch. account: pays for the analysis (None: one of the default budget); sites that are open when it is
    exhausted are unknown.
    """
    asked = _accesses(function, graph, machine, clustered(function, launch))
    if not asked.accesses and not asked.hidden and (launch is None or not asked.counted):
        return KernelResult(tuple(asked.listed.values()))
    account = account or Account.for_budget(DEFAULT_BUDGET)
    try:
        run = partial(_evaluated, graph, launch, machine, facts, asked)
        found = with_placements(function, graph, run, account) if function.chooses else run(account)
        return replace(
            found,
            sites=tuple(_in_range(site, asked.accesses.get(site.index), machine, function) for site in found.sites),
        )
    except Exhausted as spent:
        late = {i: unfinished(i, spent) for i, first in _originals(function, asked.accesses).items() if i == first}
        return KernelResult(tuple(site for _, site in sorted((asked.listed | late).items())))


def not_begun(function: Function, spent: Exhausted) -> KernelResult:
    """All sites unknown, because an earlier stage was not finished."""
    return KernelResult(
        tuple(unfinished(i.index, spent) for i in function.instructions if i.site is not None and not i.site.again)
    )


def _reach(function: Function, graph: Graph, launch: Launch, visible: Seen, facts: Facts) -> Reach | None:
    """The reach of addresses under a launch. visible: what the code sees of it.

    Where the buffers lie is a number only if the launch specifies where they really are.
    """
    if launch.grid is None or launch.block is None:
        return None
    number = launch if launch.memory else visible.launch
    return Reach(graph, environment(function, number, facts, three(launch.block)))


class _Asked(Record):
    """The accesses of a kernel by what is needed.

    accesses: to be scored, by instruction; listed: answers for those that are not; counted: of these, those whose
    requests are counted; hidden: those that an unmodelled call may enter, known only if a run does not reach such a
    call.
    """

    accesses: Accesses
    listed: dict[int, SiteResult]
    counted: Accesses
    hidden: Accesses


def _evaluated(
    graph: Graph,
    launch: Launch | None,
    machine: Machine,
    facts: Facts,
    asked: _Asked,
    account: Account,
    code: Tables = NO_TABLES,
) -> KernelResult:
    """Evaluates with a placement of functions and their tables. code: the placement."""
    function, accesses = graph.function, asked.accesses
    visible = seen(launch, function)
    facts = _specified(graph, launch, visible, machine, facts, account, code)
    task = Task(graph, visible.launch, machine, facts, accesses, _originals(function, accesses))
    results, simulated, endless = asked.listed, dict[int, SiteResult](), None
    spent = account.spent
    if task.whole is not None:
        simulated, of_run, endless = _simulated(task, asked, account)
        if endless is None:
            task = _with_stores(task, asked, simulated, of_run, account)
        results = results | of_run
    facts, spent = task.facts, account.spent - spent
    open_sites = {
        i: a
        for i, a in accesses.items()
        if (i not in simulated or not _settled(simulated[i])) and not function.site(i).again
    }
    inferred: dict[int, SiteResult] = {}
    supposed: tuple[str, ...] = ()
    if open_sites:
        from ptxaudit.engine.fixpoint.infer import infer  # not loaded if a run answers everything

        inference = infer(replace(task, accesses=open_sites), account)
        inferred, supposed = inference.sites, inference.assumed

    def settle(i: int, of_run: SiteResult | None) -> SiteResult:
        return _either(of_run, inferred.get(i), partial(_widest, machine, accesses[i], function.site(i)), facts.keep)

    found = {i: settle(i, simulated.get(i)) for i in accesses if task.originals[i] == i}
    if simulated and endless is None:
        found |= _by_cases(task, found, settle, account, spent)
    results = results | found
    sites = with_meetings(graph, tuple(results[i] for i in sorted(results)))
    return KernelResult(sites, supposed + assumed(task, code, sites), endless=endless)


def _specified(
    graph: Graph,
    launch: Launch | None,
    visible: Seen,
    machine: Machine,
    facts: Facts,
    account: Account,
    code: Tables,
) -> Facts:
    """The facts, including those from the launch, the machine and the file. visible: what the code sees of it."""
    function, symbols = graph.function, visible.symbols
    values, known = launch.buffer(function) if launch is not None else (b"", b"")
    origins = Origins(graph, values, known, account=account)
    facts = replace(
        facts,
        constants=Constants.of(code.initialised(function), symbols.constants),
        origins=origins,
        meanings=on_machine(machine.measurements.special),
        code=code.functions,
    )
    if launch is not None and (launch.buffers or symbols.variables):
        reach = _reach(function, graph, launch, visible, facts)
        memory = given(graph, origins, launch.buffers, symbols.variables, reach, placed=bool(launch.memory))
        facts = replace(facts, memory=replace(memory, pointers=visible.pointers))
        variables = {name: address for name, (address, _) in symbols.variables.items()}
        pointed = (*launch.buffers, *symbols.variables.values())
        facts = replace(
            facts, counters=tickets.counters(graph, origins, pointed, variables, None if reach is None else reach.of)
        )
    facts = replace(facts, memory=code.beside(facts.memory))
    if launch is None or launch.grid is not None and launch.block is not None:
        return facts
    return replace(
        facts,
        block=facts.block or launch.block,
        grid=facts.grid or launch.grid,
        dynamic_shared=launch.dynamic_shared if facts.dynamic_shared is None else facts.dynamic_shared,
    )


def _simulated(
    task: Task, asked: _Asked, account: Account
) -> tuple[dict[int, SiteResult], dict[int, SiteResult], Reason | None]:
    """(results of a run for the accesses, and for those that are listed; why the launch does not end)."""
    from ptxaudit.engine.exec.runs import simulate  # not loaded if nothing is specified

    function, every, counted = task.function, asked.accesses | asked.hidden, asked.counted
    first = simulate(replace(task, accesses=every, originals=_originals(function, every)), account)
    # a separate run: what decides whether they are issued may be unknown, and does not concern the others
    issued = simulate(replace(task, accesses=counted, originals=_originals(function, counted)), account)
    listed = {i: first.sites[i] for i in asked.hidden if i in asked.listed} | {
        i: _issued(asked.listed[i], function.instructions[i].site, counted[i], run, task.machine)
        for i, run in issued.sites.items()
        if i in asked.listed  # the first copy
    }
    loop = issued.endless if first.endless is None else first.endless
    return first.sites, listed, None if loop is None else Reason(Kind.NEVER_LEFT, loop)


def _with_stores(
    task: Task,
    asked: _Asked,
    simulated: dict[int, SiteResult],
    of_run: dict[int, SiteResult],
    account: Account,
) -> Task:
    """The task with what the launch's stores leave of the contents that it specifies, where that may answer accesses
    that a run left open: these are run again.
    """
    every = asked.accesses | asked.hidden
    left = {i for i, one in simulated.items() if not _settled(one)}
    listed = {i for i, one in of_run.items() if one.requests is None and one.status is not Status.UNREACHED}
    memory = task.facts.memory
    if not (left or listed) or memory is None or not memory.refused:
        return task
    from ptxaudit.engine.exec.stores import stored  # not loaded if nothing is written

    known = stored(task, memory, account)
    if known is None:
        return task
    task = replace(task, facts=replace(task.facts, memory=known))
    originals = _originals(task.function, every)
    again = replace(
        asked,
        accesses={i: a for i, a in asked.accesses.items() if originals[i] in left},
        hidden={i: a for i, a in asked.hidden.items() if originals[i] in left},
        counted=asked.counted if listed else {},
    )
    found, of_more, _ = _simulated(task, again, account)
    simulated |= found
    of_run |= of_more
    return task


def _by_cases(
    task: Task,
    results: dict[int, SiteResult],
    settle: Callable[[int, SiteResult | None], SiteResult],
    account: Account,
    steps: int,
) -> dict[int, SiteResult]:
    """Answers by cases for sites that the run left open, if it depends on the launch alone how often they execute."""
    if all(result.reason is None or result.status is Status.UNREACHED for result in results.values()):
        return {}
    from ptxaudit.engine.exec.by_cases import by_cases  # not loaded if there are none

    return by_cases(task, results, settle, account, steps)


def _either(
    simulated: SiteResult | None,
    inferred: SiteResult | None,
    widest: Callable[[], tuple[int, int]],
    keep: bool,
) -> SiteResult:
    """The answer of a run, of inference, or of both. widest: gives the argument of `_merge`; keep: with requests."""
    if simulated is None or inferred is None or _settled(simulated):
        found = simulated or inferred
        assert found is not None  # every access has a result of one of them
        return found
    both = _merge(simulated, inferred, widest())
    if not keep:
        return both
    of_run, supposed = simulated.kept, inferred.kept
    if of_run is None or supposed is None:
        return replace(both, kept=supposed)
    known = of_run
    return replace(both, kept=Kept(of_run.access, lambda: supposed.places if known.missing else known.places))


def _accesses(function: Function, graph: Graph, machine: Machine, in_clusters: bool) -> _Asked:
    """The accesses of a kernel by what is needed. in_clusters: the launch has clusters of several blocks."""
    asked = _Asked({}, {}, {}, {})
    called = {_code(function, i) for i in graph.sites() if graph.block_of[i] in graph.hidden}
    never_shared = _elsewhere(graph)
    named: set[Hashable] = set()  # the concealed ones that are listed
    for i in graph.sites():
        site = function.site(i)
        if site.again and i - 1 not in asked.accesses:  # of an access that is only listed
            continue
        if graph.loose_jump is not None:
            asked.listed[i] = _unscored(i, Reason(Kind.JUMP_NOT_RESOLVED, graph.loose_jump.index))
            continue
        concealed = (code := _code(function, i)) in called
        if concealed and code not in named and graph.loose_call is not None:
            named.add(code)
            asked.listed[i] = _unscored(i, Reason(Kind.HIDDEN, graph.loose_call.index))
        if graph.block_of[i] not in graph.reachable and not concealed:
            asked.listed[i] = _unscored(i, Reason(Kind.NO_PATH), Status.UNREACHED)
            continue
        if site.access is None:
            if not concealed:
                asked.listed[i] = _unscored(i, Reason(Kind.NO_RULE, i, (site.opcode, site.no_rule)))
            continue
        access = _in_cluster(site.access) if in_clusters and site.of == "shared" else site.access
        if code in never_shared:
            access = _never_made(access)
        refusal = machine.refusal(access)
        said = refusal if refusal and access.access in MEASURED else site.unscored or refusal
        if not said:
            (asked.hidden if concealed else asked.accesses)[i] = access
        elif not concealed:
            asked.listed[i] = _charged(_unscored(i, Reason(Kind.NOT_SCORED, i, (said,))), site, access, machine)
            if access.unscored and site.space == site.of == "shared" and not _waits(function.instructions[i]):
                asked.counted[i] = access
    return replace(asked, listed=_one_of_each(graph, asked))


def _one_of_each(graph: Graph, asked: _Asked) -> dict[int, SiteResult]:
    """What is listed, without further copies of an instruction that is listed or scored: a routine has a copy for each
    of its calls, and these are one site."""
    function, hidden = graph.function, graph.hidden
    named, out = {_code(function, i) for i in asked.accesses}, dict[int, SiteResult]()
    for i in sorted(asked.listed, key=lambda i: (asked.listed[i].status is Status.UNREACHED, i)):
        if graph.block_of[i] in hidden or (code := _code(function, i)) not in named:
            out[i] = asked.listed[i]
            if graph.block_of[i] not in hidden:
                named.add(code)
    return out


def _elsewhere(graph: Graph) -> set[Hashable]:
    """The generic instructions without a rule of which no copy has an address in shared memory: a routine has a copy
    for each of its calls, and these are one site."""
    origins, found = Origins(graph), dict[Hashable, bool]()
    for i in graph.sites():
        site, block = graph.function.site(i), graph.block_of[i]
        if site.access is None or not (site.access.generic and site.access.unscored and site.of == "shared"):
            continue
        if block in graph.reachable or block in graph.hidden:
            spaces = origins.spaces_of_site(i)
            code = _code(graph.function, i)
            found[code] = found.get(code, True) and spaces is not None and "shared" not in spaces
    return {code for code, elsewhere in found.items() if elsewhere}


@cache
def _never_made(access: banks.Access) -> banks.Access:
    """The access with an arbitrary rule: as it never accesses shared memory, its cost there does not matter."""
    return replace(access, unscored="", operation="atomic", width=4)


def _unscored(index: int, why: Reason, status: Status = Status.UNKNOWN) -> SiteResult:
    """An access without a figure, and why."""
    return SiteResult(index, status, why, evidence="by rule")


@cache
def _in_cluster(access: banks.Access) -> banks.Access:
    """The access in a cluster: the same object for the same access, so that caches keyed by it hit."""
    return replace(access, clustered=True)


def _waits(instruction: Instruction) -> bool:
    """A test of a barrier: how often it executes depends on timing."""
    return any(d is not None and d.bits == 1 for op in instruction.ops for d in op.dst)


WARPGROUP = 4  # warps that issue one wgmma together


def _charged(listed: SiteResult, site: Site, access: banks.Access, machine: Machine) -> SiteResult:
    """An access without a rule for its lanes, with what a counter charges per warp of the warpgroup, if known."""
    charge = machine.charge(access, site.first)
    if charge is None or charge % WARPGROUP:
        return listed
    each = charge // WARPGROUP
    return replace(
        listed,
        status=Status.INVARIANT,
        per_request=(each, each),
        ideal_per_request=(each, each),
        ways=1,
        evidence=machine.evidence(access),
    )


def _issued(
    listed: SiteResult, site: Site | None, access: banks.Access, run: SiteResult, machine: Machine
) -> SiteResult:
    """An access without a rule for its lanes: how often it was issued, and what a counter charges for it, if known."""
    if run.status is Status.UNREACHED:
        return run
    if run.requests is None:
        return listed
    known = replace(
        listed, requests=run.requests, active_requests=run.active_requests, meeting_assumed=run.meeting_assumed
    )
    charge = machine.charge(access, site.first if site else None)
    if charge is None or run.requests * charge % WARPGROUP:
        return known
    wavefronts = run.requests * charge // WARPGROUP
    return replace(
        known,
        status=Status.EXACT,
        reason=None,
        wavefronts=wavefronts,
        ideal=wavefronts,
        excess=0,
        ways=1,
        bounds=(wavefronts, wavefronts),
        evidence=machine.evidence(access),
    )


def _originals(function: Function, accesses: Iterable[int]) -> dict[int, int]:
    """access -> the first copy of the same instruction: `link` copies functions that are called from several places."""
    first: dict[Hashable, int] = {}
    out = {}
    for i in sorted(accesses):
        out[i] = first.setdefault(_code(function, i), i)
    return out


def _code(function: Function, index: int) -> Hashable:
    """What identifies an instruction across its copies. (With several memories analysed, it may be a site of each.)"""
    site, place = function.instructions[index].site, function.code_at(index)
    return place if site is None or site.of == "shared" else (place, site.of)


def _widest(machine: Machine, access: banks.Access, site: Site) -> tuple[int, int]:
    """The range of a request's cost: from zero if all its lanes may access other memory, or another block's."""
    low, high = banks.bounds(machine, access, 1, LANES)
    return 0 if site.space in ("generic", "shared::cluster") or copied.may_fill(site) else low, high


def _in_range(result: SiteResult, access: banks.Access | None, machine: Machine, function: Function) -> SiteResult:
    """The answer, with the range of any request if nothing is known: so that no launch says less than none, where the
    shapes that are tried have a range. For cp.async.cg, whose wavefronts no counter covers, the range of its steps."""
    if access is None or result.status in (Status.EXACT, Status.UNREACHED):
        return result
    if access.bypass:
        known = result.line_class_max is not None or result.per_request == (0, 0)
        open_ = replace(result, per_request=None, ideal_per_request=None, bounds=None, line_class_max=LANES)
        return result if known else open_
    if result.status != Status.UNKNOWN or result.per_request is not None:
        return result
    return replace(result, per_request=_widest(machine, access, function.site(result.index)))


def _settled(result: SiteResult) -> bool:
    """Inference has nothing to add: all requests were counted, and all addresses are known."""
    if result.status == Status.BOUNDED:
        return None not in (result.requests, result.active_requests, result.unaligned)
    return result.status in (Status.EXACT, Status.UNREACHED)


def _merge(simulated: SiteResult, inferred: SiteResult, widest: tuple[int, int]) -> SiteResult:
    """Combines the run's reason and requests with the answer per request, for a site that the run could not count.

    widest: the range of the cost of any request of this access.
    """
    if (
        inferred.status == Status.UNREACHED
        and simulated.reason is not None
        and simulated.reason.of_kind(Kind.BARRIER_SHARED)
    ):
        return simulated  # no path leads there, except from one BSYNC to where lanes of another continue
    if inferred.status == Status.UNREACHED:  # whatever was unknown in the run
        return replace(inferred, requests=0, active_requests=0, wavefronts=0, ideal=0, excess=0, ways=0)
    if inferred.reason is not None and inferred.reason.kind in (Kind.NEVER_SHARED, Kind.NEVER_THERE):
        return _never(simulated, inferred)
    with_formula = replace(simulated, formula=inferred.formula, unaligned=inferred.unaligned)
    if simulated.status == Status.INVARIANT:
        return with_formula
    if simulated.requests is not None:
        return _costing(with_formula, simulated.requests, inferred)
    if inferred.status == Status.UNKNOWN:
        if simulated.status == Status.DATA_DEPENDENT:
            return replace(with_formula, reason=several(simulated.reason, inferred.reason), per_request=widest)
        return replace(inferred, reason=several(simulated.reason, inferred.reason))
    if inferred.status == Status.INVARIANT and simulated.reason is not None:
        return replace(inferred, reason=several(_how_often(simulated.reason, _cost(inferred)), inferred.reason))
    status = simulated.status if simulated.status == Status.DATA_DEPENDENT else inferred.status
    return replace(inferred, status=status, reason=several(simulated.reason, inferred.reason))


def _never(simulated: SiteResult, inferred: SiteResult) -> SiteResult:
    """The answer if no address is in the memory under analysis, however often the access is made."""
    counted = simulated.requests is not None and simulated.active_requests is not None
    return replace(
        inferred,
        status=Status.EXACT if counted else Status.INVARIANT,
        requests=simulated.requests,
        meeting_assumed=simulated.meeting_assumed,
        active_requests=simulated.active_requests,
        wavefronts=0,
        ideal=0,
        excess=0,
        bounds=(0, 0),
        unaligned=() if counted else inferred.unaligned,
    )


def _costing(counted: SiteResult, requests: int, inferred: SiteResult) -> SiteResult:
    """Requests that a run has counted, with the cost of each from inference."""
    if inferred.status == Status.INVARIANT and inferred.line_class_max is not None and counted.line_class_max is None:
        return replace(
            inferred,
            requests=counted.requests,
            active_requests=counted.active_requests,
            meeting_assumed=counted.meeting_assumed,
        )
    if inferred.status == Status.INVARIANT and inferred.per_request is not None and counted.line_class_max is None:
        return replace(
            counted,
            status=Status.INVARIANT,
            per_request=inferred.per_request,
            ideal_per_request=inferred.ideal_per_request,
            ways=inferred.ways,
            patterns=tuple(replace(pattern, count=0) for pattern in inferred.patterns),
            common=inferred.common,
        ).counted()
    if inferred.per_request is None or inferred.status == Status.UNKNOWN:
        return counted
    active = counted.active_requests
    low = 0 if active is None else inferred.per_request[0] * active
    high = inferred.per_request[1] * (requests if active is None else active)
    if counted.bounds is not None:
        low, high = max(low, counted.bounds[0]), min(high, counted.bounds[1])
    few, many = counted.per_request or inferred.per_request
    by_cases = counted.status == Status.BOUNDED and inferred.status == Status.CONDITIONAL and bool(inferred.conditions)
    return replace(
        counted,
        status=Status.CONDITIONAL if by_cases else counted.status,
        bounds=(low, high),
        per_request=(max(few, inferred.per_request[0]), min(many, inferred.per_request[1])),
        ideal_per_request=inferred.ideal_per_request,
        conditions=inferred.conditions,
    )


def _cost(invariant: SiteResult) -> int | str:
    """The cost of a request: wavefronts, or steps of a copy that no counter sees."""
    if invariant.line_class_max is not None:
        return plural(invariant.line_class_max, "step")
    assert invariant.per_request is not None  # as it is invariant
    return invariant.per_request[0]


def _how_often(reason: Reason, cost: int | str) -> Reason:
    """Why the number of requests is unknown, besides what each of them costs."""
    return reason if reason.of_kind(Kind.EXHAUSTED) else Reason(Kind.HOW_OFTEN, given=(cost,), cause=reason)
