"""Matches the kernels of two reports: first by name, then renamed ones by what they have in common.

    old  gemm<bf16, 128>  gemm<half, 64>     new  gemm<bf16, 256>  gemm<half, 32>      instances with the most
                                                                                       equal arguments
    old  reduce           lines f g          new  sum              lines f g           one kernel: renamed
    old  reduce           lines f g          new  scan             lines p q           gone, and new

Kernels with equal names, with or without qualifiers, pair first. The rest is an assignment problem: candidate pairs
are taken greedily from the best score down while both kernels are free, which gives at least half the score of the
best assignment. Candidates share a template and arguments, or a source line, or, without line information, the costs
of sites. Features that more than COMMON kernels share make no candidates, so that their number grows linearly with
the kernels and not quadratically.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import PurePath

from ptxaudit.base.demangle import demangle, split_arguments, split_name
from ptxaudit.base.sequences import align
from ptxaudit.report.model import Kernel

LEAST = 0.5  # of the lines of both kernels, kept by a renamed one
LEAST_BLIND = 0.9  # of the costs, where no lines are known,
FEWEST = 3  # of at least this many sites
COMMON = 64  # kernels with one line, above which the line is no evidence
MOST_CHANGED = 2  # template arguments that may differ where more than COMMON instances are left

Pair = tuple[Kernel | None, Kernel | None]
Score = tuple[bool, float, bool, float]

_QUALIFIER = re.compile(r"(?:[\w$]+|\(anonymous namespace\))::")


def match_kernels(olds: tuple[Kernel, ...], news: tuple[Kernel, ...]) -> list[Pair]:
    """Pairs in the order of the new report, removed kernels last; None where one side has no such kernel."""
    old_left, new_left = dict(enumerate(olds)), dict(enumerate(news))
    partner: dict[int, int] = {}

    def pair(old: int, new: int) -> None:
        partner[new] = old
        del old_left[old], new_left[new]

    for key, once in _keys(olds, news):
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for at, kernel in reversed(old_left.items()):
            waiting[key(kernel)].append(at)
        there = Counter(key(kernel) for kernel in new_left.values())
        for at, kernel in list(new_left.items()):
            if (queue := waiting.get(key(kernel))) and not (once and (len(queue) > 1 or there[key(kernel)] > 1)):
                pair(queue.pop(), at)
    for _, old, new in sorted(
        _renamed(old_left, new_left, _apart(olds, news)), key=lambda found: (*(-part for part in found[0]), *found[1:])
    ):
        if old in old_left and new in new_left:
            pair(old, new)
    pairs: list[Pair] = [(olds[partner[at]] if at in partner else None, kernel) for at, kernel in enumerate(news)]
    return pairs + [(kernel, None) for kernel in old_left.values()]


def _keys(olds: Sequence[Kernel], news: Sequence[Kernel]) -> Iterator[tuple[Callable[[Kernel], Hashable], bool]]:
    """Keys that identify a kernel on both sides, surest first, each with whether it must be unique on each side.
    Kernels of different architectures are matched only if the reports have no architecture in common."""
    apart = _apart(olds, news)

    def of(kernel: Kernel) -> Hashable:
        return kernel.isa, None if apart else kernel.arch

    yield lambda kernel: (kernel.name, of(kernel), repr(kernel.launch), kernel.input), False
    yield lambda kernel: (kernel.name, of(kernel), repr(kernel.launch), PurePath(kernel.input).name), False
    yield lambda kernel: (kernel.name, of(kernel), repr(kernel.launch)), False
    yield lambda kernel: (kernel.name, of(kernel)), False
    yield lambda kernel: (_unqualified(kernel.name), of(kernel), repr(kernel.launch)), True
    yield lambda kernel: (_unqualified(kernel.name), of(kernel)), True


def _apart(olds: Iterable[Kernel], news: Iterable[Kernel]) -> bool:
    """The reports have no architecture in common."""
    return {kernel.arch for kernel in olds}.isdisjoint(kernel.arch for kernel in news)


def _renamed(olds: dict[int, Kernel], news: dict[int, Kernel], apart: bool) -> Iterator[tuple[Score, int, int]]:
    """(score, old, new) of kernels that may be the same: instances of one template, or with much in common."""
    old_tokens, new_tokens = ({at: _tokens(kernel) for at, kernel in side.items()} for side in (olds, news))
    having: dict[Hashable, list[int]] = defaultdict(list)
    for at, tokens in old_tokens.items():
        for token in (*_instance_keys(olds[at]), *tokens):
            having[token].append(at)
    for new, tokens in new_tokens.items():
        places = [having[token] for token in (*_instance_keys(news[new]), *tokens) if token in having]
        for old in {at for place in places if len(place) <= COMMON for at in place}:
            before, after = olds[old], news[new]
            if before.isa != after.isa or not apart and before.arch != after.arch:
                continue
            score = _score(before, after, old_tokens[old], tokens)
            if score is not None:
                yield score, old, new


def _score(old: Kernel, new: Kernel, old_tokens: frozenset[Hashable], new_tokens: frozenset[Hashable]) -> Score | None:
    """(same template, equal arguments, same launch, similarity), greater is surer; None for two different kernels."""
    alike = len(old_tokens & new_tokens) / len(old_tokens | new_tokens)
    texts = _has_text(old) and _has_text(new)
    same_launch = repr(old.launch) == repr(new.launch)
    equal = equal_arguments(_arguments(old), _arguments(new))
    if _template(old) == _template(new):
        one_of_one = max(len(_arguments(old)), len(_arguments(new))) <= 1
        if texts and alike > 0 or not texts and (equal > 0 or one_of_one or alike >= LEAST_BLIND):
            return True, equal, same_launch, alike
        return None
    if texts and alike >= LEAST or alike >= LEAST_BLIND and len(new.sites) >= FEWEST:
        return False, alike + equal + same_launch / 2, same_launch, alike
    return None


def equal_arguments(old: Sequence[str], new: Sequence[str]) -> float:
    """The share of template arguments that two instances have in common, in order: (bf16, 5, 2048), (bf16, 4, 2048)
    -> 2/3."""
    longest = max(len(old), len(new))
    if not longest:
        return 0.0
    equal = sum(a == b for a, b in zip(old, new, strict=True)) if len(old) == len(new) else len(align(old, new))
    return equal / longest


def _has_text(kernel: Kernel) -> bool:
    return any(site.source and site.source.text for site in kernel.sites)


def _tokens(kernel: Kernel) -> frozenset[Hashable]:
    """The features that a renamed kernel keeps: its accesses by the text of their lines; without text, the cost of
    each, and its shared memory."""
    if _has_text(kernel):
        return frozenset(
            (site.access, " ".join((site.source.text or "").split())) for site in kernel.sites if site.source
        )
    costs = Counter(
        (site.access, site.opcode, site.status, site.wavefronts, site.excess, site.per_request) for site in kernel.sites
    )
    return frozenset(
        {(*cost, nth) for cost, count in costs.items() for nth in range(count)} | {("shared", kernel.shared_static)}
    )


def _instance_keys(kernel: Kernel) -> Iterator[Hashable]:
    """The features that instances of one template share: the template, and all arguments but a few."""
    template, arguments = _template(kernel), _arguments(kernel)
    yield template
    for changed in range(1, min(MOST_CHANGED, len(arguments) - 1) + 1):
        for places in combinations(range(len(arguments)), changed):
            yield template, places, *(argument for at, argument in enumerate(arguments) if at not in places)


@lru_cache(maxsize=100_000)
def _unqualified(name: str) -> str:
    """The demangled name without namespaces, which some libraries rename in each release."""
    return _QUALIFIER.sub("", demangle(name))


def _template(kernel: Kernel) -> str:
    """The name without namespaces, template arguments and parameters."""
    return _parts(kernel.name)[0]


def _arguments(kernel: Kernel) -> tuple[str, ...]:
    return _parts(kernel.name)[1]


@lru_cache(maxsize=100_000)
def _parts(name: str) -> tuple[str, tuple[str, ...]]:
    """("gemm", ("__half", "128")) for a mangled name."""
    head, arguments = split_arguments(_QUALIFIER.sub("", split_name(name)[0]))
    return head, tuple(arguments)
