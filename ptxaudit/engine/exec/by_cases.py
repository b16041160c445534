"""Sums over a launch by cases: where they depend on a few truth values, each case is executed.

    if (n > 4) s[…] = …;                "n > 4 is true": 64 requests; "n > 4 is false": 0
    if (__syncthreads_or(…)) s[…] = …;  "… is true in every warp": 64 requests; "… is false in every warp": 0;
                                        "otherwise": 0 to 64

A truth value is supposed to be true, and then to be false (`domain.supposed`); in each case, others may decide what is
still open. One that is one number in the whole launch has a table that holds for all blocks. Any other belongs to the
nth time that a warp executes an instruction, and may differ from warp to warp: the sums of a launch are those of each
warp's case. Warps are executed independently then, without what they tell each other through shared memory. So the
sums are between those of the cases in which all warps agree if no warp makes a request in one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine.answer.result import LaunchCase, Pattern, SiteResult
from ptxaudit.engine.answer.task import Task
from ptxaudit.engine.domain.supposed import Supposed, Visit, inverse_of
from ptxaudit.engine.domain.truths import truth_of
from ptxaudit.engine.domain.value import Uniform, fingerprint, unknown
from ptxaudit.engine.exec.runs import simulate
from ptxaudit.ir.nodes import Function
from ptxaudit.ir.placed import place_of
from ptxaudit.ir.reasons import Kind, Reason
from ptxaudit.ir.unknown_words import LONG_NAME, called, in_formula, is_source, listed, of_unknowns, without_inversion

MOST_CONDITIONS = 4  # truth values that one case combines
MOST_RUNS = 16  # executions of cases of a kernel
TIMES_THE_RUN, LEAST_STEPS = 3, 500_000  # of all of these: a multiple of the steps of the run without a case, or these

Settle = Callable[[int, SiteResult], SiteResult]
Condition = tuple[Uniform, int]  # a truth value, and the instruction that depends on it


class _Split(Record):
    """The answers of a site if a condition is true and if it is false."""

    condition: Condition
    true: _Answer
    false: _Answer


_Answer = SiteResult | _Split | None  # None: no figure over the launch
Answers = dict[int, _Answer]


def by_cases(
    task: Task, results: Mapping[int, SiteResult], settle: Settle, account: Account, steps: int
) -> dict[int, SiteResult]:
    """Better answers for sites that a run of the launch left open, by the caller's index.

    results: of the run, with the answers of inference. settle: combines the answer of a run for a site with that of
    inference. steps: that the run took.
    """
    left = None if account.limit is None else max(1, account.limit - account.spent)
    try:
        with account.part(0.5 if left is None else min(0.5, max(LEAST_STEPS, TIMES_THE_RUN * steps) / left)) as some:
            answers = _Cases(task, settle, some).of_launch(results, Supposed())
    except Exhausted:
        return {}
    names = _Names(task.function)
    found = {i: _answer(results[i], answer, names) for i, answer in answers.items()}
    return {i: one for i, one in found.items() if one is not None}


class _Cases:
    """Executes cases of a task. runs: how many so far."""

    def __init__(self, task: Task, settle: Settle, account: Account):
        self.task, self.settle, self.account, self.runs = task, settle, account, 0

    def of_launch(self, results: Mapping[int, SiteResult], supposed: Supposed) -> Answers:
        """The answers of those sites that are counted, by cases where they are not counted in this one."""
        found = _in_one_case(results)
        open_ = {i: _conditions(r, True) for i, r in results.items() if not _settled(r)}
        known = {u.identity for u, _ in supposed.launch_wide}
        while len(supposed) < MOST_CONDITIONS and (condition := _first(open_.values(), known)) is not None:
            sites = _on(condition, open_)
            cases = [supposed.with_launch_wide(condition[0], truth) for truth in (True, False)]
            found |= self._both(condition, sites, cases, True)
            open_ = {i: needed for i, needed in open_.items() if i not in sites}
        rest = [i for i in open_ if _conditions(results[i], False) and not isinstance(found[i], _Split)]
        if rest and len(supposed) < MOST_CONDITIONS and self.task.facts.counters is None:
            ran = self._run(rest, supposed, False)
            more = {} if ran is None else self._of_warps(ran, supposed)
            found |= {i: answer for i, answer in more.items() if isinstance(answer, _Split) or found[i] is None}
        return found

    def _of_warps(self, results: Mapping[int, SiteResult], supposed: Supposed) -> Answers:
        """As `of_launch`, of what each warp decides. supposed: in the run of these results."""
        found = _in_one_case(results)
        # what decides a site may be clear only in a case of what decides before it, such as whether lanes exit
        open_ = {i: self._visits(r, supposed) for i, r in results.items() if not _settled(r) and _conditions(r, False)}
        while len(supposed) < MOST_CONDITIONS and (condition := _first(open_.values(), set())) is not None:
            made = supposed.visit_of(condition[0])
            assert made is not None  # of `_visits`
            visit, direct = made
            sites = _on(condition, open_) | {i: None for i in open_ if not open_[i]}
            if visit not in supposed.of_warps:
                cases = [supposed.with_visit(visit, truth is direct) for truth in (True, False)]
                found |= self._both(condition, sites, cases, False)
            open_ = {i: needed for i, needed in open_.items() if i not in sites}
        return found

    def _both(self, condition: Condition, sites: Iterable[int], cases: Iterable[Supposed], of_launch: bool) -> Answers:
        """The answers of sites if a condition is true and if it is false, with the cases of each, where both have one.

        of_launch: the condition is one in the whole launch.
        """
        sides: list[Answers] = []
        for case in cases:
            sites = [i for i in sites if not sides or sides[0].get(i) is not None]
            ran = self._run(sites, case, of_launch) if sites else None
            among = self.of_launch if of_launch else self._of_warps
            sides.append({} if ran is None else among(ran, case))
        answers = {i: _split(condition, *(side.get(i) for side in sides)) for i in sites}
        return {i: answer for i, answer in answers.items() if answer is not None}

    def _visits(self, result: SiteResult, supposed: Supposed) -> tuple[Condition, ...]:
        """The truth values of an answer's reason that a warp computes in one visit of an instruction.

        None of an instruction with more visits than conditions may follow: each case would leave the other visits open.
        """
        return tuple(
            condition
            for condition in _conditions(result, False)
            if (made := supposed.visit_of(condition[0])) is not None
            and self._is_clear(made[0], supposed)
            and supposed.visits_like(made[0]) <= MOST_CONDITIONS - len(supposed)
        )

    def _is_clear(self, visit: Visit, supposed: Supposed) -> bool:
        """In the run, each warp executed the instruction as a whole, as often as it would in the launch."""
        return visit.index not in supposed.unclear and self.task.graph.block_of[visit.index] not in supposed.skipped

    def _run(self, sites: list[int], supposed: Supposed, tracking: bool) -> dict[int, SiteResult] | None:
        """The answers for some sites in one case; None if there are none.

        tracking: of what warps tell each other through shared memory, too.
        """
        task = self.task
        self.runs += 1
        if self.runs > MOST_RUNS:
            return None
        chosen = frozenset(sites)
        copies = {i: a for i, a in task.accesses.items() if task.originals[i] in chosen}
        originals = {i: task.originals[i] for i in copies}
        task = replace(task, facts=replace(task.facts, supposed=supposed), accesses=copies, originals=originals)
        ran = simulate(task, self.account, tracking=tracking)
        if ran.endless is not None:  # a launch that does not end has no sums
            return None
        if not all(self._is_clear(visit, supposed) for visit in supposed.of_warps):
            return None
        return {i: self.settle(i, ran.sites[i]) for i in sites}


def _in_one_case(results: Mapping[int, SiteResult]) -> Answers:
    return {i: r if _counted(r) else None for i, r in results.items()}


def _on(condition: Condition, sites: Mapping[int, tuple[Condition, ...]]) -> dict[int, None]:
    """The sites that depend on a condition."""
    return dict.fromkeys(i for i, needed in sites.items() if any(u == condition[0] for u, _ in needed))


def _settled(result: SiteResult) -> bool:
    """Its sums over the launch are known."""
    return result.status in (Status.EXACT, Status.UNREACHED)


def _counted(result: SiteResult) -> bool:
    """They are known, at least as a range of wavefronts."""
    return _settled(result) or result.requests is not None and result.bounds is not None


def _conditions(result: SiteResult, launch_wide: bool) -> tuple[Condition, ...]:
    """The truth values that the reason of an answer names: those that are one in the whole launch, or the others."""
    if result.reason is None:
        return ()
    return tuple(
        (truth_of(u), reason.index)
        for reason in result.reason.all_of_it()
        for u in reason.unknowns
        if isinstance(u, Uniform) and u.launch_wide is launch_wide and truth_of(u).bits == 1
    )


def _first(needed: Iterable[tuple[Condition, ...]], known: set[bytes]) -> Condition | None:
    """The condition on which the first instruction depends: it may decide whether the others are executed."""
    every = (one for conditions in needed for one in conditions if one[0].identity not in known)
    return min(every, key=lambda condition: condition[1], default=None)


def _split(condition: Condition, true: _Answer, false: _Answer) -> _Answer:
    """The answer in both cases; None if one of them has none, or a launch in which warps differ."""
    if true is None or false is None:
        return None
    if not condition[0].launch_wide and not (_makes_none(true) or _makes_none(false)):
        return None
    if isinstance(true, SiteResult) and isinstance(false, SiteResult) and _sums(true) == _sums(false):
        return _of_both(true, false)
    return _Split(condition, true, false)


def _makes_none(answer: _Answer) -> bool:
    """No warp makes a request with an active lane."""
    return isinstance(answer, SiteResult) and (answer.requests == 0 or answer.active_requests == 0)


def _sums(result: SiteResult) -> tuple[object, ...]:
    return (
        result.status,
        result.requests,
        result.active_requests,
        _bounds(result),
        result.ideal,
        result.ways,
        result.lines,
        result.lanes,
    )


def _bounds(result: SiteResult) -> tuple[int, int]:
    """The wavefronts of a site that is counted, over the launch."""
    if result.wavefronts is not None:
        return result.wavefronts, result.wavefronts
    assert result.bounds is not None  # as it is counted
    return result.bounds


def _of_both(one: SiteResult, other: SiteResult) -> SiteResult:
    """The answer of two cases with the same sums, with what their requests have in common."""
    same = list(map(_pattern, one.patterns)) == list(map(_pattern, other.patterns))
    return replace(
        one,
        reason=one.reason or other.reason,
        patterns=one.patterns if same else (),
        distinct=one.distinct if same else 0,
        common=one.common if one.common == other.common else None,
        trips=one.trips if one.trips == other.trips else (),
        per_request=_hull((one.per_request, other.per_request)),
        ideal_per_request=_hull((one.ideal_per_request, other.ideal_per_request)),
        meeting_assumed=one.meeting_assumed or other.meeting_assumed,
        kept=None,
    )


def _pattern(one: Pattern) -> tuple[object, ...]:
    return one.addresses.tobytes(), one.active.tobytes(), one.count, one.low, one.high, one.ideal, one.ways, one.seen


def _hull(ranges: Iterable[tuple[int, int] | None]) -> tuple[int, int] | None:
    """The range of all of them; None if one is unknown, or there is none."""
    each = list(ranges)
    known = [one for one in each if one is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known and None not in each else None


def _answer(before: SiteResult, answer: _Answer, names: _Names) -> SiteResult | None:
    """The answer for a site, with a case for each number of requests and wavefronts; None: as before."""
    if not isinstance(answer, _Split):
        return None if answer is before else answer
    leaves = list(_leaves(answer, ()))
    made = [result for _, result in leaves if not _makes_none(result)]
    per, ideal = _hull(r.per_request for r in made), _hull(r.ideal_per_request for r in made)
    ways = [0 if r.status is Status.UNREACHED else r.ways for _, r in leaves]
    bounds = _hull(_bounds(result) for _, result in leaves)
    assert bounds is not None  # as all of them are counted
    unknowns = tuple(dict.fromkeys(unknown for path, _ in leaves for (unknown, _), _ in path))
    cases = [_case(path, result, names) for path, result in leaves]
    if not (wide := all(unknown.launch_wide for unknown in unknowns)):
        cases.append(LaunchCase("otherwise", before.requests, None, *bounds))
    invariant = before.status is Status.INVARIANT and before.line_class_max is None
    data = any(result.status is Status.DATA_DEPENDENT for result in made)
    status = Status.DATA_DEPENDENT if data else Status.CONDITIONAL if wide and not invariant else before.status
    return replace(
        before,
        status=status,
        reason=Reason(Kind.BY_CASE, unknowns=unknowns) if wide and not invariant and not data else before.reason,
        requests=_only(case.requests for case in cases),
        active_requests=_only(case.active for case in cases),
        wavefronts=None,
        ideal=None,
        excess=None,
        bounds=bounds,
        per_request=per or before.per_request,
        ideal_per_request=ideal,
        ways=None if None in ways else max(w for w in ways if w is not None),
        conditions=() if per is not None and per[0] == per[1] else before.conditions,
        cases=tuple(cases),
        patterns=tuple(replace(pattern, count=0) for pattern in before.patterns),
        trips=(),
    )


def _only(numbers: Iterable[int | None]) -> int | None:
    """The number, if all are the same."""
    each = set(numbers)
    return each.pop() if len(each) == 1 else None


Path = tuple[tuple[Condition, bool], ...]


def _leaves(answer: _Answer, path: Path) -> Iterator[tuple[Path, SiteResult]]:
    """The answers of the cases, each with the truth values of its conditions."""
    if isinstance(answer, _Split):
        yield from _leaves(answer.true, (*path, (answer.condition, True)))
        yield from _leaves(answer.false, (*path, (answer.condition, False)))
    elif answer is not None:
        yield path, answer


def _case(path: Path, result: SiteResult, names: _Names) -> LaunchCase:
    when = " and ".join(names.of(condition, truth) for condition, truth in path)
    ideal = 0 if result.status is Status.UNREACHED else result.ideal
    return LaunchCase(when, result.requests or 0, result.active_requests, *_bounds(result), ideal)


class _Names:
    """The words for conditions, each of which has its own."""

    def __init__(self, function: Function):
        self.function = function
        self._words: dict[bytes, str] = {}

    def of(self, condition: Condition, truth: bool) -> str:
        """ "n > 4 is true"."""
        this = inverse_of(condition[0]) or fingerprint(unknown(condition[0]))  # the same for a value and its inverse
        words, direct = self._new(*condition)
        if this not in self._words:
            others = sum(words == other or other.startswith(f"{words} (") for other in self._words.values())
            self._words[this] = f"{words} ({others + 1})" if others else words
        where = "" if condition[0].launch_wide else " in every warp"
        return f"{self._words[this]} is {'true' if truth is direct else 'false'}{where}"

    def _new(self, truth: Uniform, index: int) -> tuple[str, bool]:
        """The words for a condition, or for its inverse: then False. (Formulas have other numbers in other warps.)"""
        name, inverted = without_inversion(truth.name)
        if truth.launch_wide and len(name) <= LONG_NAME:
            return in_formula(name), not inverted
        if is_source(name):
            return called(name), not inverted
        of = listed(of_unknowns([truth]))
        words = f"the condition at {place_of(self.function, index)}{f', computed from {of},' if of else ''}"
        return words, inverse_of(truth) is None
