"""Answers for the sites of a function without running it: what is asked, of which copies of the code and which rows,
and what is concluded from the requests that the interpreter saw.

    question (slice, order, accesses)  ->  interpreter, for each batch of rows  ->  one SiteResult a site

Loops with several entries are asked of a copy of the function in which they have one (`ir.reducible`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine.answer.kept import Kept, Places
from ptxaudit.engine.answer.observe import Conclusions, Seen
from ptxaudit.engine.answer.result import SiteResult, unfinished
from ptxaudit.engine.answer.seen_places import SeenPlaces
from ptxaudit.engine.answer.shape import Shape, is_two_dimensional, shapes_of
from ptxaudit.engine.answer.tabulate import Observation
from ptxaudit.engine.answer.task import Task
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.fixpoint import together
from ptxaudit.engine.fixpoint.interpreter import Interpreter
from ptxaudit.engine.fixpoint.loops import Paths
from ptxaudit.engine.memory.rows import Rows, rows_for
from ptxaudit.hardware import banks
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function
from ptxaudit.ir.reasons import Reason
from ptxaudit.ir.reducible import reducible

LONG = (
    15_000  # instructions in a slice from which on narrow blocks are not looked at: sites stay conditional on the shape
)


class Inference(Record):
    """One result per site, and the assumptions that the answers rest on."""

    sites: dict[int, SiteResult]
    assumed: tuple[str, ...]


class Question(Record):
    """What is asked of a function. paths: its slice, and the order of running it. accesses: sites in it. originals:
    access -> the first copy of the same instruction, which answers for all. named: an access that answers -> what the
    caller calls it. origin: for each instruction what the caller calls it; None: the same.
    """

    paths: Paths
    accesses: Mapping[int, banks.Access]
    originals: dict[int, int]
    named: dict[int, int]
    origin: list[int] | None = None


def infer(task: Task, account: Account) -> Inference:
    """Answers per request. What the account does not pay for is unknown."""
    function, facts, accesses, originals = task.function, task.facts, task.accesses, dict(task.originals)
    try:
        paths = _paths(function, task.graph.apart, accesses, account)
        narrow = len(paths.part.instructions) <= LONG and is_two_dimensional(function, paths.part)
        question = Question(paths, accesses, originals, {t: t for t in originals.values()})
        if paths.order is None:
            question = _with_single_entries(question, account)
            if facts.origins is not None:
                facts = replace(facts, origins=facts.origins.of_copy(question.paths.graph))
        batches = rows_for(question.paths.function, task.whole, task.launch, facts, narrow)
        observed = _observed(question, batches, account)
        shapes = {} if batches[0].shape_known else _shapes(question)
    except Exhausted as spent:
        return Inference({t: unfinished(t, spent) for t in dict.fromkeys(originals[i] for i in accesses)}, ())
    conclusions = Conclusions(task.machine, account, question.paths.function)
    found = _concluded(question, observed, shapes, conclusions, task.graph, facts.keep)
    return Inference(found, batches[0].assumed)


def _concluded(
    question: Question,
    observed: Observed,
    shapes: dict[int, Shape],
    conclusions: Conclusions,
    graph: Graph,
    keep: bool,
) -> dict[int, SiteResult]:
    """The answers, by what the caller calls the accesses. graph: the caller's; keep: with their requests."""
    out = {}
    places = SeenPlaces()
    for index in question.accesses:
        if question.originals[index] != index:
            continue
        name = question.named[index]
        if observed.failure:
            out[name] = SiteResult(name, Status.UNKNOWN, observed.failure)
        elif index in observed.left:
            out[name] = unfinished(name, observed.left[index])
        else:
            try:
                access, seen = question.accesses[index], observed.seen.get(index, [])
                shape = shapes.get(index, Shape.SPECIFIED)
                one_place = shape is Shape.DECIDES_LANES and not graph.may_differ_in_address(name)
                out[name] = conclusions.conclude(name, access, seen, shape, one_place)
                if (most := observed.together.get(index, 1)) > 1:
                    out[name] = together.of_several(
                        out[name], most, banks.bounds(conclusions.machine, access, 1, LANES)[1]
                    )
                if keep:
                    kept = _of_original(places.kept(access, seen), question.origin)
                    out[name] = replace(out[name], kept=kept)
            except Exhausted as spent:
                out[name] = unfinished(name, spent)
        reason = out[name].reason
        if question.origin is not None and reason is not None:
            out[name] = replace(out[name], reason=reason.moved(question.origin))
    return out


def _paths(function: Function, graph: Graph, accesses: Mapping[int, banks.Access], account: Account) -> Paths:
    return Paths(function, graph, graph.slice(accesses, follow_loads=True, account=account), account)


def _with_single_entries(question: Question, account: Account) -> Question:
    """The same, asked of a function whose loops have one entry each because some of its blocks are copies; the question
    itself where there is no such function."""
    split = reducible(question.paths.function, question.paths.graph, account)
    if split is None:
        return question
    origin = {i: old for i, old in enumerate(split.origin) if old in question.accesses}
    first: dict[int, int] = {}  # an access that answers -> the first copy of it
    for i, old in origin.items():
        first.setdefault(question.originals[old], i)
    accesses = {i: question.accesses[old] for i, old in origin.items()}
    return Question(
        _paths(split.function, split.graph.apart, accesses, account),
        accesses,
        {i: first[question.originals[old]] for i, old in origin.items()},
        {i: old for old, i in first.items()},
        split.origin,
    )


class Observed(Record):
    """seen: an access that answers -> its requests in all batches of rows. left: those of which these are not all,
    because the account did not pay for more. failure: why nothing is known of any. together: an access -> of how many
    requests that were seen one may be made up (1 where it is not here)."""

    seen: dict[int, list[Seen]]
    left: dict[int, Exhausted]
    failure: Reason | None
    together: dict[int, int]


def _observed(question: Question, batches: list[Rows], account: Account) -> Observed:
    seen: dict[int, list[Seen]] = defaultdict(list)
    left: dict[int, Exhausted] = {}
    joined: dict[int, int] = {}
    failure: Reason | None = None
    carried = question.paths.carried() if question.paths.order is not None else None
    for rows in batches:
        interpreter = Interpreter(question.paths, rows, question.accesses, account)
        try:
            if carried is not None:
                interpreter.ahead = Interpreter(carried, rows, {}, account)
                interpreter.ahead.run()
            interpreter.run()
        except Exhausted as spent:
            later = question.accesses if rows is not batches[-1] else interpreter.unfinished()
            left |= {question.originals[index]: spent for index in later}
        failure = failure or interpreter.failure
        for index, observations in interpreter.seen.items():
            if observations:
                seen[question.originals[index]] += [
                    Seen(rows.group, interpreter.placed(o, index)) for o in observations
                ]
        for index, most in _together(question, interpreter).items():
            joined[index] = max(most, joined.get(index, 1))
        if left:
            break
    return Observed(seen, left, failure, joined)


def _together(question: Question, interpreter: Interpreter) -> dict[int, int]:
    """Of how many requests in these rows one may be made up, for the accesses of which copies were seen."""
    if not question.paths.graph.yielding:
        return {}
    copies: dict[int, list[list[Observation]]] = defaultdict(list)
    for index, observations in interpreter.seen.items():
        if observations:
            copies[question.originals[index]].append(observations)
    return {index: together.most_together(every) for index, every in copies.items() if len(every) > 1}


def _of_original(kept: Kept, origin: list[int] | None) -> Kept:
    """The same, its reason about the function that was copied, where one was."""
    if origin is None:
        return kept

    def places() -> Places:
        missing = kept.missing
        return kept.places if missing is None else Places(missing=missing.moved(origin))

    return Kept(kept.access, places)


def _shapes(question: Question) -> dict[int, Shape]:
    """What the block's shape decides of each access that answers, for all of its copies."""
    paths = question.paths
    out: dict[int, Shape] = {}
    for index, shape in shapes_of(paths.function, paths.graph, paths.part, question.accesses).items():
        original = question.originals[index]
        out[original] = max(out.get(original, shape), shape, key=_MOST_LAST.index)
    return out


_MOST_LAST = tuple(Shape)
