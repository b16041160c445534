"""Matches the sites of one kernel across two builds, by source position and never by offsets.

Positions move: a line inserted above shifts all that follow. The lines of each file are therefore aligned first
(`linematch`), and sites then pair by (file, aligned line, inline stack, access), in order. Sites without a position
pair by the order of their accesses.

The lines of one statement count as one place, because compilers attribute a statement to any of them. The copies of
one source access, all at one position, are a group: those of equal cost pair one to one, and the rest of both sides
is one group whose sums are compared. Such a rest is a vector that became scalars, a line that is unrolled
differently, or a line where one access was edited and another inserted. `leftovers` groups what positions leave over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import PurePath

from ptxaudit.base.sequences import align
from ptxaudit.base.status import Status
from ptxaudit.report.model import AnySite, Frame, Kernel, Site, Source
from ptxaudit.review.diff.leftovers import Pieces, pair_behind_calls
from ptxaudit.review.diff.linematch import WINDOW, Carried, FileLines, Line, LineMap, align_lines, statements

Group = tuple[tuple[AnySite, ...], tuple[AnySite, ...]]
Indices = tuple[Sequence[int], Sequence[int]]


def match_sites(old: Kernel, new: Kernel, space: str = "shared") -> list[Group]:
    """Groups of accesses to one memory in the order of the new kernel; ((…), ()) gone, at the end; ((), (…)) new.

    A group has one site per side, unless the same work is cut into other pieces (a vector access into scalars, two
    stores into one, an unrolled line into more copies), or it is ambiguous which of several sites became which.
    """
    matching = _Matching(old, new, space)
    matching.by_position()
    matching.by_neighbourhood(_equal_near)
    matching.rest_of_positions()
    matching.by_neighbourhood(_ordered_near)
    if matching.blind:
        matching.by_order_and_cost()
    matching.by_text()
    if unchanged(*matching.lines):  # the same source: the rest was attributed to other lines
        matching.by_cost()
    matching.behind_calls()
    matching.in_pieces()
    matching.ambiguous_positions()
    return matching.result()


class _Matching:
    """The sites of two kernels with the groups found so far; each stage takes what the previous ones left."""

    def __init__(self, old: Kernel, new: Kernel, space: str) -> None:
        self.sites = old.of(space), new.of(space)
        self.names = _file_names(self.sites, (old.input, new.input))
        self.lines = _lines(self.sites[0], self.names[0]), _lines(self.sites[1], self.names[1])
        self.aligned = {name: align_lines(lines, self.lines[1].get(name, {})) for name, lines in self.lines[0].items()}
        self.carried = {name: Carried(lines) for name, lines in self.aligned.items()}
        self.heads = {
            name: statements(self.lines[0].get(name, {}), self.lines[1].get(name, {}), self.aligned.get(name, {}))
            for name in {*self.lines[0], *self.lines[1]}
        }
        self.blind = any(sites and not any(site.source for site in sites) for sites in self.sites)
        self.places = (
            _places_of(self.sites[0], self.names[0], self.aligned, self.heads),
            _places_of(self.sites[1], self.names[1], None, self.heads),
        )
        self.groups: list[Indices] = []

    def left(self) -> tuple[list[int], list[int]]:
        """The indices on both sides that are in no group yet."""
        here, there = ({at for group in self.groups for at in group[side]} for side in (0, 1))
        return [at for at in range(len(self.sites[0])) if at not in here], [
            at for at in range(len(self.sites[1])) if at not in there
        ]

    def by_position(self) -> None:
        for key, there in self.places[1].items():
            self.groups += _pair_up(self.places[0].get(key, []), there, *self.sites)

    def by_neighbourhood(self, pairs: NearPairs) -> None:
        """Pairs sites that a compiler may have attributed to another line of the same statement."""
        here: dict[Hashable, list[tuple[int, int]]] = {}
        there: dict[Hashable, list[tuple[int, int]]] = {}
        maps = (self.aligned, self.carried), (None, None)
        for of, left, name, (lines, carried), sites in zip(
            (here, there), self.left(), self.names, maps, self.sites, strict=True
        ):
            for at in left:
                if near := _near(sites[at], name, lines, carried, self.heads):
                    of.setdefault(near[0], []).append((near[1], at))
        for key in here:
            self.groups += (((i,), (j,)) for i, j in pairs(here[key], there.get(key, []), *self.sites))

    def rest_of_positions(self) -> None:
        """Groups what is left on both sides of one position."""
        olds, news = map(set, self.left())
        for key, there in self.places[1].items():
            here, there = [at for at in self.places[0].get(key, ()) if at in olds], [at for at in there if at in news]
            if here and there:
                self.groups.append((tuple(here), tuple(there)))

    def by_order_and_cost(self) -> None:
        olds, news = self.left()
        tokens = [
            [(sites[at].access, sites[at].opcode, signature(sites[at])) for at in left]
            for sites, left in zip(self.sites, (olds, news), strict=True)
        ]
        self.groups += [((olds[i],), (news[j],)) for i, j in align(*tokens)]
        self.by_cost()

    def by_cost(self) -> None:
        self.groups += [((i,), (j,)) for i, j in _alike(*self.left(), *self.sites)]

    def by_text(self) -> None:
        """Pairs sites on lines with the same text in order; without line information, by access and width alone."""
        olds, news = self.left()
        rests = [
            [_likeness(sites[at], name, self.blind) for at in left]
            for sites, name, left in zip(self.sites, self.names, (olds, news), strict=True)
        ]
        self.groups += [((olds[i],), (news[j],)) for i, j in align(*rests)]

    def behind_calls(self) -> None:
        self.groups += pair_behind_calls(*self.sites, *self.left(), self.names, self.aligned, signature)

    def in_pieces(self) -> None:
        self.groups = Pieces(*self.sites, self.names, self.carried).joined(self.groups, *self.left())

    def ambiguous_positions(self) -> None:
        """Merges all sites of a position into one group where it is ambiguous which is which: an edited line has more
        accesses on one side, and a leftover one conflicts at a cost that none of the pairs has."""
        positions = [{at: key for key, places in side.items() for at in places} for side in self.places]
        left = self.left()
        waiting: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side in (0, 1):
            for at in left[side]:
                if at in positions[side]:
                    waiting[positions[side][at]][side].append(at)
        inside: dict[Hashable, list[Indices]] = defaultdict(list)
        for group in self.groups:
            of = {positions[side].get(at) for side in (0, 1) for at in group[side]}
            if len(of) == 1 and (key := of.pop()) in waiting:
                inside[key].append(group)
        joined = {key: found for key, found in inside.items() if self._is_ambiguous(key, waiting[key], found)}
        gone = {id(group) for found in joined.values() for group in found}
        self.groups = [group for group in self.groups if id(group) not in gone]
        for key, found in joined.items():
            olds, news = (
                sorted([*waiting[key][side], *(at for group in found for at in group[side])]) for side in (0, 1)
            )
            self.groups.append((tuple(olds), tuple(news)))

    def _is_ambiguous(self, key: Hashable, left: tuple[list[int], list[int]], found: list[Indices]) -> bool:
        texts = [_texts(self.places[side].get(key, []), self.sites[side]) for side in (0, 1)]
        costs = [{signature(self.sites[side][at]) for at in left[side]} for side in (0, 1)]
        paired = {signature(self.sites[side][at]) for group in found for side in (0, 1) for at in group[side]}
        conflicts = any(self.sites[side][at].wasted != 0 for side in (0, 1) for at in left[side])
        return conflicts and (texts[0] != texts[1] or texts[0] == {None}) and bool((costs[0] | costs[1]) - paired)

    def result(self) -> list[Group]:
        olds, news = self.left()
        groups = sorted([*self.groups, *(((), (at,)) for at in news)], key=lambda group: group[1][0])
        groups += [((at,), ()) for at in olds]
        return [
            (tuple(self.sites[0][at] for at in group[0]), tuple(self.sites[1][at] for at in group[1]))
            for group in groups
        ]


def unchanged(old: FileLines, new: FileLines) -> bool:
    """Every line whose text both sides have has the same text, and there is at least one: the file is the same. Files
    are identified by name."""
    pairs = [
        (line.text, new[name][number].text)
        for name, lines in old.items()
        if name in new
        for number, line in lines.items()
        if number in new[name]
    ]
    return bool(pairs) and all(before is not None and before == after for before, after in pairs)


def _places_of(
    sites: Sequence[AnySite], name: Callable[[str], str], aligned: dict[str, LineMap] | None, heads: dict[str, LineMap]
) -> dict[Hashable, list[int]]:
    """The sites that have a position, by position."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for at, site in enumerate(sites):
        if site.source:
            places[_key(site, name, aligned, heads)].append(at)
    return places


def _pair_up(olds: list[int], news: list[int], old: Sequence[AnySite], new: Sequence[AnySite]) -> Iterator[Indices]:
    """Pairs sites of one position: one to one in order if both sides have the same number, as one group if the same
    work is cut differently, else by cost."""
    if not olds:
        return
    same = len(olds) == len(news) and sorted(old[i].width or 0 for i in olds) == sorted(new[j].width or 0 for j in news)
    if not same and (len(olds) > 1 or len(news) > 1):
        before, after = _work([old[i] for i in olds]), _work([new[j] for j in news])
        if any(a is not None and a == b for a, b in zip(before, after, strict=True)):
            yield tuple(olds), tuple(news)
            return
    if len(olds) == len(news):
        yield from (((i,), (j,)) for i, j in _likely(olds, news, old, new))
    else:
        yield from _copies(olds, news, old, new, unchanged=_texts(olds, old) == _texts(news, new) != {None})


def _texts(places: list[int], sites: Sequence[AnySite]) -> set[str | None]:
    return {source.text if source else None for source in (sites[at].source for at in places)}


def _copies(
    olds: list[int], news: list[int], old: Sequence[AnySite], new: Sequence[AnySite], unchanged: bool
) -> Iterator[Indices]:
    """Pairs accesses of one statement that are more on one side, by equal cost; all of one cost as one group if the
    statement is unchanged and it is unknown how often they run. The rest is left, as it may belong to a nearby
    line."""
    alike: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for i in olds:
        alike[signature(old[i])][0].append(i)
    for j in news:
        alike[signature(new[j])][1].append(j)
    for here, there in alike.values():
        if unchanged and here and there and len(here) != len(there) and old[here[0]].active_requests is None:
            yield tuple(here), tuple(there)
        else:
            yield from (((i,), (j,)) for i, j in zip(here, there, strict=False))


def _likely(olds: list[int], news: list[int], old: Sequence[AnySite], new: Sequence[AnySite]) -> list[tuple[int, int]]:
    """Pairs copies of one access: first those of equal cost, then the rest in order; a compiler may have reordered
    them."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for i in reversed(olds):
        waiting[signature(old[i])].append(i)
    pairs = [(queue.pop(), j) for j in news if (queue := waiting.get(signature(new[j])))]
    here, there = {i for i, _ in pairs}, {j for _, j in pairs}
    rest = zip((i for i in olds if i not in here), (j for j in news if j not in there), strict=False)
    return pairs + list(rest)


def _alike(
    olds: list[int], news: list[int], old: Sequence[AnySite], new: Sequence[AnySite]
) -> Iterator[tuple[int, int]]:
    """Pairs sites of equal access, opcode and cost in order, wherever they are."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for i in reversed(olds):
        waiting[old[i].access, old[i].opcode, signature(old[i])].append(i)
    for j in news:
        if queue := waiting.get((new[j].access, new[j].opcode, signature(new[j]))):
            yield queue.pop(), j


def signature(site: AnySite) -> Hashable:
    """A site's cost: equal for sites that cost the same."""
    lines = site.lines if isinstance(site, Site) else site.tag_requests
    return (site.width, site.status, site.active_requests, site.paid, site.wasted, site.per_request, lines)


Near = tuple[Hashable, int]  # (access, width, file and inline stack; line number on the new side)
NearPairs = Callable[
    [list[tuple[int, int]], list[tuple[int, int]], Sequence[AnySite], Sequence[AnySite]], Iterable[tuple[int, int]]
]


def _near(
    site: AnySite,
    name: Callable[[str], str],
    aligned: dict[str, LineMap] | None,
    carried: dict[str, Carried] | None,
    heads: dict[str, LineMap],
) -> Near | None:
    """The properties that sites of one statement share whichever of its lines the compiler names, and the line: 0 if
    the text determines the statement, else a line to be compared within WINDOW."""
    if site.source is None:
        return None
    file = name(site.source.file)
    stack, _ = _key(site, name, aligned, {})
    line = site.source.line if carried is None else carried[file](site.source.line)
    if site.source.text is not None:
        return (site.access, site.width, file, stack[1:], heads[file].get(line, line)), 0
    return (site.access, site.width, file, stack[1:]), line


def _equal_near(
    olds: list[tuple[int, int]], news: list[tuple[int, int]], old: Sequence[AnySite], new: Sequence[AnySite]
) -> list[tuple[int, int]]:
    """Index pairs from (line, index) lists, of equal line and cost, in order."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for line, i in reversed(olds):
        waiting[line, signature(old[i])].append(i)
    return [(queue.pop(), j) for line, j in news if (queue := waiting.get((line, signature(new[j]))))]


def _ordered_near(
    olds: list[tuple[int, int]], news: list[tuple[int, int]], old: Sequence[AnySite], new: Sequence[AnySite]
) -> Iterator[tuple[int, int]]:
    """Index pairs at most WINDOW lines apart, in the order of their lines."""
    before, after = sorted(olds), sorted(news)
    i = j = 0
    while i < len(before) and j < len(after):
        apart = before[i][0] - after[j][0]
        if abs(apart) <= WINDOW:
            yield before[i][1], after[j][1]
        i, j = i + (apart <= WINDOW), j + (apart >= -WINDOW)


def _work(sites: Sequence[AnySite]) -> tuple[int | None, int | None]:
    """(bytes per lane over the launch, bytes per lane for one execution of each), None where unknown. The latter
    matches only sites that differ in width: more copies of one width may be more trips of a loop."""
    if any(site.width is None for site in sites):
        return None, None
    counts = [0 if site.status is Status.UNREACHED else site.active_requests for site in sites]
    launch = (
        None
        if None in counts
        else sum((count or 0) * (site.width or 0) for count, site in zip(counts, sites, strict=True))
    )
    return launch, sum(site.width or 0 for site in sites)


def _likeness(site: AnySite, name: Callable[[str], str], blind: bool) -> Hashable:
    """The properties by which sites pair in order: access and width if a side has no line information; else also the
    line of the same file, so that only the inline stack differs."""
    if site.source is None or blind:
        return (site.access, site.width)
    line = site.source.line if site.source.text is None else site.source.text
    return (site.access, site.width, name(site.source.file), line)


# --- files ----------------------------------------------------------------------------------


def _file_names(
    sites: tuple[Sequence[AnySite], Sequence[AnySite]], inputs: tuple[str, str]
) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """Functions that map a file of each kernel to a common name.

    Folders differ between machines, so these are base names. The inputs themselves map to one name, and so do two
    names if each is the only one that the other side lacks: a renamed file.
    """
    old_names, new_names = map(_names, sites)
    own = PurePath(inputs[0]).name, PurePath(inputs[1]).name
    renames: dict[str, str] = {}
    if own[0] in old_names and own[1] in new_names:
        renames[own[0]] = own[1]
    left_old, left_new = old_names - new_names - set(renames), new_names - old_names - set(renames.values())
    if len(left_old) == len(left_new) == 1:
        renames[left_old.pop()] = left_new.pop()
    return _namer(renames), _namer({})


def _names(sites: Sequence[AnySite]) -> set[str]:
    return {PurePath(file).name for file in {place.file for site in sites for place in _places(site)}}


def _namer(renames: dict[str, str]) -> Callable[[str], str]:
    table: dict[str, str] = {}

    def name(file: str) -> str:
        if file not in table:
            short = PurePath(file).name
            table[file] = renames.get(short, short)
        return table[file]

    return name


def _places(site: AnySite) -> tuple[Source | Frame, ...]:
    return (site.source, *site.source.inlined) if site.source else ()


def _lines(sites: Sequence[AnySite], name: Callable[[str], str]) -> FileLines:
    files: FileLines = defaultdict(dict)
    for site in sites:
        for depth, place in enumerate(_places(site)):
            line = files[name(place.file)].setdefault(place.line, Line(place.line, place.text))
            line.accesses.append(site.access if depth == 0 else "inlined")
    return files


def _key(
    site: AnySite, name: Callable[[str], str], aligned: dict[str, LineMap] | None, heads: dict[str, LineMap]
) -> tuple[tuple[tuple[Hashable, ...], ...], str]:
    """File, first line of the statement and inline stack, with old line numbers mapped to new ones (None = gone)."""
    places: list[tuple[Hashable, ...]] = []
    for place in _places(site):
        file = name(place.file)
        line = place.line if aligned is None else aligned[file].get(place.line)
        places.append((file, heads.get(file, {}).get(line, line)) if line is not None else (file, "gone", place.line))
    return (tuple(places), site.access)
