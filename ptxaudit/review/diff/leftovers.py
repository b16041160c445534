"""Groups the sites that their positions left over: behind another call, or cut into other pieces.

    old  k.cu:12            LDS  8 wavefronts      new  k.cu:4 inlined at k.cu:15  LDS  8      a helper was extracted
    old  k.cu:12, 13 (of two statements)  STS ×2   new  k.cu:13  STS.64                        two stores were merged

Both are linear but for sorting. Outer lines, those of the kernel's own text, are aligned by their anchors: a longest
increasing subsequence of the lines that have a counterpart. Sites pair between the same two anchors only. Pieces are
grouped where they move the same bytes.
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

NEAR = 16  # lines between the accesses that a compiler made one of


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
    """Sites whose outermost lines lie between the same lines of the kernel's text, and that cost the same, in order;
    then, where as many of one access are left on both sides, those behind more calls or fewer than before."""
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
    """Those of one gap, access and cost, in order."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for i, gap in reversed(olds.items()):
        waiting[gap, old[i].access, signature(old[i])].append(i)
    for j, gap in news.items():
        if queue := waiting.get((gap, new[j].access, signature(new[j]))):
            yield queue.pop(), j


def _as_many(old: Sequence[AnySite], new: Sequence[AnySite], olds: Gaps, news: Gaps) -> Iterator[tuple[int, int]]:
    """Those of one gap and access that run as often, where there are as many on both sides and all of them are inlined
    otherwise.
    """
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
    """The line of the kernel's own text that an access is of: where the outermost call was inlined, or its own."""
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
    """A longest subsequence of pairs that is increasing in the second too; they are in the first."""
    ends: list[int] = []  # the least end of a subsequence of each length, by index
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
    """The file, and how many anchors are at or above a line."""
    file, line = outer
    return file, bisect_right(anchors.get(file, []), line, key=lambda pair: pair[side])


# --- in other pieces ------------------------------------------------------------------------


Buckets = dict[Hashable, list[tuple[int, int]]]  # what pieces have alike -> (line, site)


class Pieces:
    """Groups of one kernel's sites, joined with leftovers that were merged into them or split off them."""

    def __init__(
        self, old: Sequence[AnySite], new: Sequence[AnySite], names: tuple[Named, Named], carried: dict[str, Carried]
    ) -> None:
        self._sites = old, new
        self._names, self._of_file = names, carried

    def joined(self, groups: Sequence[Indices], olds: Sequence[int], news: Sequence[int]) -> list[Indices]:
        """The groups, each with the leftovers nearest to it that make both of its sides move the same bytes; and
        groups of leftovers alone."""
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
            return group  # the same pieces, more or fewer of them
        first = group[short][0]
        taken = self._nearest(
            free[short].get(self._key(first, short), []), self._line(first, short), abs(news - olds), short
        )
        if not taken:
            return group
        whole = tuple(sorted((*group[short], *taken)))
        return (whole, group[1]) if short == 0 else (group[0], whole)

    def _nearest(self, free: list[tuple[int, int]], line: int, missing: int, side: int) -> list[int]:
        """The leftovers nearest to a line that move so many bytes together, taken out; [] where none do."""
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
        """Leftovers of both sides in their order, cut into the smallest groups that move the same bytes."""
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
        """Wider or narrower accesses on the other side, all of them near each other."""
        lines = [self._line(at, side) for side in (0, 1) for at in group[side] if self._sites[side][at].source]
        near = not lines or max(lines) - min(lines) <= NEAR
        return near and self._widest(group[0], 0) != self._widest(group[1], 1)

    def _widest(self, places: Sequence[int], side: int) -> int:
        return max(self._sites[side][at].width or 0 for at in places)

    def _bytes(self, places: Sequence[int], side: int) -> int | None:
        """Bytes a lane that these sites move, over the launch where it is known how often all of them run."""
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
        """What pieces of one access share: what it does, how often it runs, the file, and where it was inlined."""
        site = self._sites[side][at]
        if site.source is None:
            return site.access, site.status is Status.UNREACHED, site.active_requests
        name = self._names[side]
        stack = tuple(
            (name(frame.file), self._carried(name(frame.file), frame.line, side)) for frame in site.source.inlined
        )
        return site.access, site.status is Status.UNREACHED, site.active_requests, name(site.source.file), stack

    def _line(self, at: int, side: int) -> int:
        """The line as the new side counts; without lines the place in the program."""
        source = self._sites[side][at].source
        return at if source is None else self._carried(self._names[side](source.file), source.line, side)

    def _carried(self, file: str, line: int, side: int) -> int:
        return line if side or file not in self._of_file else self._of_file[file](line)


def moved(sites: Sequence[AnySite]) -> int | None:
    """Bytes a lane: over the launch where it is known how often each of the sites runs, else of one pass; None where
    a width is not known, or only of some how often they run."""
    counts = [0 if site.status is Status.UNREACHED else site.active_requests for site in sites]
    if any(site.width is None for site in sites) or None in counts and any(count is not None for count in counts):
        return None
    return sum((1 if count is None else count) * (site.width or 0) for count, site in zip(counts, sites, strict=True))
