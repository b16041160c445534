"""Infers answers for the sites of a function without execution.

    question (slice, order, accesses)  ->  interpreter, for each batch of rows  ->  one SiteResult per site

Code with loops that have several entries is replaced by a copy in which they have one (`ir.reducible`).
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

LONG = 15_000  # instructions in a slice above which narrow blocks are not analysed: sites stay conditional on the shape


class Inference(Record):
    """One result per site, and the assumptions behind the answers."""

    sites: dict[int, SiteResult]
    assumed: tuple[str, ...]


class Question(Record):
    """The accesses to analyse in a function.

    paths: its slice, and the order of running it. accesses: sites in it. originals: access -> the first copy of the
    same instruction, which represents all copies. named: a representative -> the caller's index of it. origin: for
    each instruction the caller's index; None: the same.
    """

    paths: Paths
    accesses: Mapping[int, banks.Access]
    originals: dict[int, int]
    named: dict[int, int]
    origin: list[int] | None = None


def infer(task: Task, account: Account) -> Inference:
    """Answers per request. Sites that the account cannot pay for are unknown."""
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
    """The answers, by the caller's indices of the accesses. graph: the caller's; keep: with their requests."""
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
    """The question about an equivalent function whose loops have one entry each, as some blocks are copied; the
    question itself if there is none.
    """
    split = reducible(question.paths.function, question.paths.graph, account)
    if split is None:
        return question
    origin = {i: old for i, old in enumerate(split.origin) if old in question.accesses}
    first: dict[int, int] = {}  # a representative -> its first copy
    for i, old in origin.items():
        first.setdefault(question.originals[old], i)
    accesses = {i: question.accesses[old] for i, old in origin.items()}
    return Question(
        _paths(split.function, split.graph, accesses, account),
        accesses,
        {i: first[question.originals[old]] for i, old in origin.items()},
        {i: old for old, i in first.items()},
        split.origin,
    )


class Observed(Record):
    """The observations of an inference.

    seen: representative access -> its requests in all batches of rows. left: those whose requests are incomplete, as
    the account was exhausted. failure: why nothing is known of any access. together: access -> the number of observed
    requests that may be served as one (1 if absent).
    """

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
    """The number of requests in these rows that may be served as one, for accesses with several observed copies."""
    if not question.paths.graph.yielding:
        return {}
    copies: dict[int, list[list[Observation]]] = defaultdict(list)
    for index, observations in interpreter.seen.items():
        if observations:
            copies[question.originals[index]].append(observations)
    return {index: together.most_together(every) for index, every in copies.items() if len(every) > 1}


def _of_original(kept: Kept, origin: list[int] | None) -> Kept:
    """The same, with its reason in terms of the original function, if it is about a copy."""
    if origin is None:
        return kept

    def places() -> Places:
        missing = kept.missing
        return kept.places if missing is None else Places(missing=missing.moved(origin))

    return Kept(kept.access, places)


def _shapes(question: Question) -> dict[int, Shape]:
    """What the block's shape decides of each representative access, over all of its copies."""
    paths = question.paths
    out: dict[int, Shape] = {}
    for index, shape in shapes_of(paths.function, paths.graph, paths.part, question.accesses).items():
        original = question.originals[index]
        out[original] = max(out.get(original, shape), shape, key=_MOST_LAST.index)
    return out


_MOST_LAST = tuple(Shape)
