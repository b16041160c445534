"""Matches the kernels of two reports: by name, then renamed ones by the source lines they have in common.

    old  gemm<float, 32>  lines a b c d      new  gemm<float, 64>  lines a b c e      one kernel: an instance
    old  reduce           lines f g          new  sum              lines f g          one kernel: renamed
    old  reduce           lines f g          new  scan             lines p q          gone, and new
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from pathlib import PurePath

from ptxaudit.demangle import split_name
from ptxaudit.report import Kernel

LEAST = 0.5                  # of the lines of both that a renamed kernel keeps
LEAST_BLIND = 0.9            # of the costs, where no line is known,
FEWEST = 3                   # of as many sites
COMMON = 64                  # kernels with one line, from which on it tells nothing

Pair = tuple[Kernel | None, Kernel | None]


def match_kernels(olds: tuple[Kernel, ...], news: tuple[Kernel, ...]) -> list[Pair]:
    """Pairs in the order of the new report, those that are gone last; None where one side has no such kernel."""
    old_left, new_left = dict(enumerate(olds)), dict(enumerate(news))
    partner: dict[int, int] = {}

    def pair(old: int, new: int) -> None:
        partner[new] = old
        del old_left[old], new_left[new]

    for key in _KEYS:
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for at, kernel in reversed(old_left.items()):
            waiting[key(kernel)].append(at)
        for at, kernel in list(new_left.items()):
            if queue := waiting.get(key(kernel)):
                pair(queue.pop(), at)
    for _, old, new in sorted(_renamed(old_left, new_left), key=lambda found: (-found[0], found[1:])):
        if old in old_left and new in new_left:
            pair(old, new)
    pairs: list[Pair] = [(olds[partner[at]] if at in partner else None, kernel) for at, kernel in enumerate(news)]
    return pairs + [(kernel, None) for kernel in old_left.values()]


_KEYS: tuple[Callable[[Kernel], Hashable], ...] = (
    lambda kernel: (kernel.name, kernel.isa, repr(kernel.launch), kernel.input),
    lambda kernel: (kernel.name, kernel.isa, repr(kernel.launch), PurePath(kernel.input).name),
    lambda kernel: (kernel.name, kernel.isa, repr(kernel.launch)),
    lambda kernel: (kernel.name, kernel.isa),
)


def _renamed(olds: dict[int, Kernel], news: dict[int, Kernel]) -> Iterator[tuple[float, int, int]]:
    """(likeness, old, new) of the kernels that may be one: of one template, or with most in common."""
    old_tokens, new_tokens = ({at: _tokens(kernel) for at, kernel in side.items()} for side in (olds, news))
    having: dict[Hashable, list[int]] = defaultdict(list)
    for at, tokens in old_tokens.items():
        for token in (_template(olds[at]), *tokens):
            having[token].append(at)
    for new, tokens in new_tokens.items():
        places = [having[token] for token in (_template(news[new]), *tokens) if token in having]
        for old in {at for place in places if len(place) <= COMMON for at in place}:
            before, after = olds[old], news[new]
            if before.isa != after.isa:
                continue
            alike = len(tokens & old_tokens[old]) / len(tokens | old_tokens[old])
            texts = _has_text(before) and _has_text(after)
            template = _template(before) == _template(after) and (alike > 0 or not texts)
            if template or texts and alike >= LEAST or alike >= LEAST_BLIND and len(after.sites) >= FEWEST:
                yield alike + template + (repr(before.launch) == repr(after.launch)) / 2, old, new


def _has_text(kernel: Kernel) -> bool:
    return any(site.source and site.source.text for site in kernel.sites)


def _tokens(kernel: Kernel) -> frozenset[Hashable]:
    """What a renamed kernel keeps: its accesses by the text of their lines; where no text is to be had
    by what each costs, and its shared memory."""
    if _has_text(kernel):
        return frozenset((site.access, " ".join((site.source.text or "").split())) for site in kernel.sites if site.source)
    costs = Counter((site.access, site.opcode, site.status, site.wavefronts, site.excess, site.per_request) for site in kernel.sites)
    return frozenset({(*cost, nth) for cost, count in costs.items() for nth in range(count)} | {("shared", kernel.shared_static)})


def _template(kernel: Kernel) -> str:
    """The name without template arguments and parameters."""
    return split_name(kernel.name)[0].split("<")[0]
