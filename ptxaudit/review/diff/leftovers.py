"""Groups the sites that matching by position left over: moved behind another call, or cut into other pieces.

    old  k.cu:12            LDS  8 wavefronts      new  k.cu:4 inlined at k.cu:15  LDS  8      a helper was extracted
    old  k.cu:12, 13 (of two statements)  STS ×2   new  k.cu:13  STS.64                        two stores were merged

Both take linear time except for sorting. Outer lines, those in the kernel's own text, are aligned by anchors: a
longest increasing subsequence of the lines that have a counterpart. Sites pair only between the same two anchors.
Pieces are grouped if they move the same number of bytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from ptxaudit.base.status import Status
from ptxaudit.report.model import AnySite
from ptxaudit.review.diff.linematch import Carried, LineMap

Indices = tuple[Sequence[int], Sequence[int]]
Named = Callable[[str], str]

NEAR = 16  # lines between accesses that a compiler merged


# --- behind another call --------------------------------------------------------------------


def pair_behind_calls(
    old: Sequence[AnySite],
    new: Sequence[AnySite],
    olds: Sequence[int],
    news: Sequence[int],
    names: tuple[Named, Named],
    aligned: dict[str, LineMap],
    signature: Callable[[AnySite], Hashable],
) -> Iterator[Indices]:
    """Pairs sites whose outermost lines lie between the same anchors and that cost the same, in order; then, if both
    sides have the same number of one access left, those with a different inline depth."""
    outers = [
        [_outer(site, name) for site in sites if site.source] for sites, name in zip((old, new), names, strict=True)
    ]
    anchors = _anchors({*outers[0]}, {*outers[1]}, aligned)
    gaps = [
        {at: _between(_outer(sites[at], name), anchors, side) for at in places if sites[at].source}
        for side, (sites, places, name) in enumerate(((old, olds, names[0]), (new, news, names[1])))
    ]
    paired: tuple[set[int], set[int]] = (set(), set())
    here, there = gaps
    for i, j in _equal(old, new, here, there, signature):
        paired[0].add(i)
        paired[1].add(j)
        yield (i,), (j,)
    rest = [{at: gap for at, gap in gaps[side].items() if at not in paired[side]} for side in (0, 1)]
    yield from (((i,), (j,)) for i, j in _as_many(old, new, *rest))


Gaps = dict[int, tuple[str, int]]  # site -> the anchors that it lies between


def _equal(
    old: Sequence[AnySite], new: Sequence[AnySite], olds: Gaps, news: Gaps, signature: Callable[[AnySite], Hashable]
) -> Iterator[tuple[int, int]]:
    """Pairs of equal gap, access and cost, in order."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for i, gap in reversed(olds.items()):
        waiting[gap, old[i].access, signature(old[i])].append(i)
    for j, gap in news.items():
        if queue := waiting.get((gap, new[j].access, signature(new[j]))):
            yield queue.pop(), j


def _as_many(old: Sequence[AnySite], new: Sequence[AnySite], olds: Gaps, news: Gaps) -> Iterator[tuple[int, int]]:
    """Pairs of equal gap, access and number of executions, if both sides have the same number of them and none of
    their inline depths is the same."""
    alike: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, (gaps, sites) in enumerate(((olds, old), (news, new))):
        for at, gap in gaps.items():
            alike[gap, sites[at].access, sites[at].width, sites[at].active_requests][side].append(at)
    for here, there in alike.values():
        if len(here) == len(there) and _depths(old, here).isdisjoint(_depths(new, there)):
            yield from zip(here, there, strict=True)


def _depths(sites: Sequence[AnySite], places: Sequence[int]) -> set[int]:
    return {len(source.inlined) for at in places if (source := sites[at].source) is not None}


def _outer(site: AnySite, name: Named) -> tuple[str, int]:
    """An access's line in the kernel's own text: where the outermost call was inlined, or its own."""
    assert site.source is not None
    place = site.source.inlined[-1] if site.source.inlined else site.source
    return name(place.file), place.line


def _anchors(
    olds: set[tuple[str, int]], news: set[tuple[str, int]], aligned: dict[str, LineMap]
) -> dict[str, list[tuple[int, int]]]:
    """file -> (old, new) lines that have a counterpart on the other side, increasing in both."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for file, line in sorted(olds):
        became = aligned.get(file, {}).get(line)
        if became is not None and (file, became) in news:
            found[file].append((line, became))
    return {file: _increasing(pairs) for file, pairs in found.items()}


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A longest subsequence of pairs that also increases in the second element; the input is sorted by the first."""
    ends: list[int] = []  # the subsequence of each length with the least end, by index
    before: list[int | None] = []
    for at, (_, line) in enumerate(pairs):
        place = bisect_left(ends, line, key=lambda end: pairs[end][1])
        before.append(ends[place - 1] if place else None)
        ends[place : place + 1] = [at]
    chosen: list[tuple[int, int]] = []
    last = ends[-1] if ends else None
    while last is not None:
        chosen.append(pairs[last])
        last = before[last]
    return chosen[::-1]


def _between(outer: tuple[str, int], anchors: dict[str, list[tuple[int, int]]], side: int) -> tuple[str, int]:
    """The file, and the number of anchors at or above a line."""
    file, line = outer
    return file, bisect_right(anchors.get(file, []), line, key=lambda pair: pair[side])


# --- in other pieces ------------------------------------------------------------------------


Buckets = dict[Hashable, list[tuple[int, int]]]  # the common properties of pieces -> (line, site)


class Pieces:
    """Groups of one kernel's sites, joined with leftovers that were merged into them or split off them."""

    def __init__(
        self, old: Sequence[AnySite], new: Sequence[AnySite], names: tuple[Named, Named], carried: dict[str, Carried]
    ) -> None:
        self._sites = old, new
        self._names, self._of_file = names, carried

    def joined(self, groups: Sequence[Indices], olds: Sequence[int], news: Sequence[int]) -> list[Indices]:
        """The groups, each completed with the nearest leftovers with which both its sides move the same bytes; and
        groups of leftovers only."""
        free = self._buckets(olds, 0), self._buckets(news, 1)
        out = [self._completed(group, free) for group in groups]
        for key, here in free[0].items():
            out += [group for group in self._balanced(here, free[1].get(key, [])) if self._cut_otherwise(group)]
        return out

    def _completed(self, group: Indices, free: tuple[Buckets, Buckets]) -> Indices:
        olds, news = (self._bytes(group[side], side) for side in (0, 1))
        if olds is None or news is None or olds == news or not group[0] or not group[1]:
            return group
        short = 0 if olds < news else 1
        if self._widest(group[short], short) >= self._widest(group[1 - short], 1 - short):
            return group  # the same pieces, but more or fewer of them
        first = group[short][0]
        taken = self._nearest(
            free[short].get(self._key(first, short), []), self._line(first, short), abs(news - olds), short
        )
        if not taken:
            return group
        whole = tuple(sorted((*group[short], *taken)))
        return (whole, group[1]) if short == 0 else (group[0], whole)

    def _nearest(self, free: list[tuple[int, int]], line: int, missing: int, side: int) -> list[int]:
        """Removes and returns the leftovers nearest to a line that together move `missing` bytes; [] if none do."""
        taken: list[tuple[int, int]] = []
        right = bisect_left(free, (line, -1))
        left = right - 1
        while missing > 0 and (left >= 0 or right < len(free)):
            down = line - free[left][0] if left >= 0 else NEAR + 1
            up = free[right][0] - line if right < len(free) else NEAR + 1
            if min(down, up) > NEAR:
                break
            one = free[left] if down <= up else free[right]
            left, right = (left - 1, right) if down <= up else (left, right + 1)
            taken.append(one)
            missing -= self._bytes((one[1],), side) or 0
        if missing:
            return []
        del free[left + 1 : right]
        return [at for _, at in taken]

    def _balanced(self, here: list[tuple[int, int]], there: list[tuple[int, int]]) -> Iterator[Indices]:
        """Leftovers of both sides in order, cut into the smallest groups that move the same bytes."""
        rest = [here[::-1], there[::-1]]
        taken: tuple[list[int], list[int]] = ([], [])
        sums = [0, 0]
        while rest[side := 0 if sums[0] <= sums[1] else 1]:
            _, at = rest[side].pop()
            taken[side].append(at)
            sums[side] += self._bytes((at,), side) or 0
            if taken[0] and taken[1] and sums[0] == sums[1]:
                yield tuple(taken[0]), tuple(taken[1])
                taken, sums = ([], []), [0, 0]

    def _cut_otherwise(self, group: Indices) -> bool:
        """The other side's accesses are wider or narrower, and all are near each other."""
        lines = [self._line(at, side) for side in (0, 1) for at in group[side] if self._sites[side][at].source]
        near = not lines or max(lines) - min(lines) <= NEAR
        return near and self._widest(group[0], 0) != self._widest(group[1], 1)

    def _widest(self, places: Sequence[int], side: int) -> int:
        return max(self._sites[side][at].width or 0 for at in places)

    def _bytes(self, places: Sequence[int], side: int) -> int | None:
        """Bytes per lane that these sites move; over the launch if it is known how often each of them runs."""
        return moved([self._sites[side][at] for at in places])

    def _buckets(self, places: Sequence[int], side: int) -> dict[Hashable, list[tuple[int, int]]]:
        """Leftovers that may be pieces of one access: (line, index), sorted."""
        buckets: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
        for at in places:
            if self._sites[side][at].width is not None:
                buckets[self._key(at, side)].append((self._line(at, side), at))
        for bucket in buckets.values():
            bucket.sort()
        return buckets

    def _key(self, at: int, side: int) -> Hashable:
        """The properties that the pieces of one access share: access, number of executions, file, and inline stack."""
        site = self._sites[side][at]
        if site.source is None:
            return site.access, site.status is Status.UNREACHED, site.active_requests
        name = self._names[side]
        stack = tuple(
            (name(frame.file), self._carried(name(frame.file), frame.line, side)) for frame in site.source.inlined
        )
        return site.access, site.status is Status.UNREACHED, site.active_requests, name(site.source.file), stack

    def _line(self, at: int, side: int) -> int:
        """The line number on the new side; without line information, the index of the site."""
        source = self._sites[side][at].source
        return at if source is None else self._carried(self._names[side](source.file), source.line, side)

    def _carried(self, file: str, line: int, side: int) -> int:
        return line if side or file not in self._of_file else self._of_file[file](line)


def moved(sites: Sequence[AnySite]) -> int | None:
    """Bytes per lane: over the launch if it is known how often each site runs, else for one execution of each; None
    if a width is unknown, or if it is known for only some of them how often they run."""
    counts = [0 if site.status is Status.UNREACHED else site.active_requests for site in sites]
    if any(site.width is None for site in sites) or None in counts and any(count is not None for count in counts):
        return None
    return sum((1 if count is None else count) * (site.width or 0) for count, site in zip(counts, sites, strict=True))
