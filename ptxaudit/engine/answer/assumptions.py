"""States the assumptions that figures rest on, for the report.

A figure of PTX whose lanes diverge      lanes reconverge at the post-dominator of the branch
A range of an atomic that is a loop      no other warp changes its word meanwhile
"""

from __future__ import annotations

from math import prod

from msgspec.structs import replace

from ptxaudit.base.work import Exhausted
from ptxaudit.engine.answer.placements import Tables
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.engine.answer.task import Task
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.memory import generic
from ptxaudit.hardware.machine_model import Uncertainty
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.member_masks import behind_several_masks

MEETING = (
    "divergent branches: lanes reconverge where the paths of a branch join, at its post-dominator; ptxas may let them"
    " reconverge later"
)
MASKS = (
    "member masks: lanes that name different masks (of vote.sync, shfl.sync and the like) stay converged; ptxas may run"
    " the code that follows once for each mask"
)
RETRIES = (
    "atomic loops: no other warp changes the word of an atomic that is a loop between its load and its swap; if one"
    " does, the loop takes more passes than the range has"
)
POINTERS = (
    "pointers out of memory: none leads to shared memory, as the kernel computes no generic address of it; one that"
    " another kernel has left there would be invalid"
)


def assumed(task: Task, code: Tables, sites: tuple[SiteResult, ...]) -> tuple[str, ...]:
    """The assumptions behind the answers, for the report, besides those of inference."""
    graph, facts = task.graph, task.facts
    told = [one for one in (facts.constants, facts.memory, facts.counters) if one is not None]
    sentences = dict.fromkeys(sentence for one in told for sentence in one.sentences())
    return (
        *sentences,
        *code.sentences(),
        *_of_branches(sites),
        *_of_masks(graph, sites),
        *_of_loops(task, sites),
        *_of_pointers(task),
        *generic.assumed(graph.function),
    )


def with_meetings(graph: Graph, sites: tuple[SiteResult, ...]) -> tuple[SiteResult, ...]:
    """The sites; marked are those whose inferred figures rest on lanes that PTX does not say to be together again.

    (A run marks those that it counts.)
    """
    inferred = {site.index for site in sites if site.requests is None and _rests_on_whole_requests(site)}
    if graph.function.explicit_reconvergence or not inferred:
        return sites
    try:
        inferred &= graph.behind_branches()
    except Exhausted:
        pass  # perhaps all of them
    return tuple(replace(site, meeting_assumed=True) if site.index in inferred else site for site in sites)


def _rests_on_whole_requests(site: SiteResult) -> bool:
    """Whether the figures would be others if parts of a warp made the requests, each of which costs at least 1."""
    costs = [site.per_request, *((case.low, case.high) for case in site.conditions)]
    return site.bounds is not None or any(cost is not None and cost[0] > 1 for cost in costs)


def _of_branches(sites: tuple[SiteResult, ...]) -> tuple[str, ...]:
    """The assumption behind figures in PTX where lanes diverge: PTX does not specify where they reconverge."""
    told = (site.requests is not None or _rests_on_whole_requests(site) for site in sites if site.meeting_assumed)
    return (MEETING,) if any(told) else ()


def _of_masks(graph: Graph, sites: tuple[SiteResult, ...]) -> tuple[str, ...]:
    """The assumption behind counts in PTX where lanes name different member masks: it does not say where they
    reconverge.
    """
    counted = [site.index for site in sites if site.requests is not None]
    if graph.function.explicit_reconvergence or not counted:
        return ()
    try:
        return () if behind_several_masks(graph).isdisjoint(counted) else (MASKS,)
    except Exhausted:
        return (MASKS,)


def _of_pointers(task: Task) -> tuple[str, ...]:
    """The assumption behind accesses through loaded pointers that are known to be elsewhere."""
    origins, function = task.facts.origins, task.function
    generic_ones = (i for i in task.accesses if function.site(i).space == "generic" and function.site(i).of == "shared")
    try:
        return (POINTERS,) if origins is not None and any(map(origins.excludes_shared, generic_ones)) else ()
    except Exhausted:
        return (POINTERS,)


def _of_loops(task: Task, sites: tuple[SiteResult, ...]) -> tuple[str, ...]:
    """What the ranges of atomics that are loops rest on, where a block may have several warps."""
    block = (task.launch.block if task.launch is not None else None) or task.facts.block or task.function.block
    if block is not None and prod(block) <= LANES:
        return ()
    open_ends = {i for i, a in task.accesses.items() if task.machine.known_rule(a).uncertainty is Uncertainty.PASSES}
    return (RETRIES,) if any(site.index in open_ends and site.per_request is not None for site in sites) else ()
