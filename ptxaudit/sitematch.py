"""Matches the sites of one kernel across two builds, by source position and never by offsets.

Positions move: a line inserted above shifts all that follow. So the lines of each file are
aligned first (`linematch`), and sites then pair by (file, aligned line, inline stack, access), in order.
Sites without a position pair by the order of their accesses.

The lines of one statement are one place, as compilers name one or another of them. Copies of one
access are told apart by their cost first, then by order; where a vector became scalars, or a line was
unrolled further, all copies of both sides are one group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import PurePath

from ptxaudit.linematch import WINDOW, FileLines, Line, LineMap, align_lines, carried, statements
from ptxaudit.report import Frame, Kernel, Site, Source
from ptxaudit.sequences import align
from ptxaudit.status import Status

RECUT = 0.1                      # of its requests that a loop may have more or fewer of when it is unrolled otherwise: lanes part elsewhere

Group = tuple[tuple[Site, ...], tuple[Site, ...]]
Indices = tuple[Sequence[int], Sequence[int]]


def match_sites(old: Kernel, new: Kernel) -> list[Group]:
    """Groups in the order of the new kernel; ((…), ()) gone, at the end; ((), (…)) new.

    A group is one site a side, unless the compiler cut the same work into other pieces: a vector
    access into scalars, or an unrolled line into more copies.
    """
    old_name, new_name = _file_names(old, new)
    old_lines, new_lines = _lines(old, old_name), _lines(new, new_name)
    aligned = {name: align_lines(lines, new_lines.get(name, {})) for name, lines in old_lines.items()}

    heads = {name: statements(old_lines.get(name, {}), new_lines.get(name, {}), aligned.get(name, {})) for name in {*old_lines, *new_lines}}
    old_places, new_places = _places_of(old, old_name, aligned, heads), _places_of(new, new_name, None, heads)
    groups: list[Indices] = []
    for key, there in new_places.items():
        groups += _pair_up(old_places.get(key, []), there, old.sites, new.sites)

    left_old, left_new = _left(groups, len(old.sites), len(new.sites))
    groups += _pair_near(
        old.sites, new.sites,
        [(at, _near(old.sites[at], old_name, aligned, heads)) for at in left_old],
        [(at, _near(new.sites[at], new_name, None, heads)) for at in left_new],
    )
    left_old, left_new = _left(groups, len(old.sites), len(new.sites))
    blind = any(sites and not any(site.source for site in sites) for sites in (old.sites, new.sites))
    if blind:
        tokens = [[(sites[at].access, sites[at].opcode, signature(sites[at])) for at in left]
                  for sites, left in ((old.sites, left_old), (new.sites, left_new))]
        groups += [((left_old[i],), (left_new[j],)) for i, j in align(*tokens)]
        left_old, left_new = _left(groups, len(old.sites), len(new.sites))
        groups += [((i,), (j,)) for i, j in _alike(left_old, left_new, old.sites, new.sites)]
        left_old, left_new = _left(groups, len(old.sites), len(new.sites))
    old_rest = [_likeness(old.sites[at], old_name, blind) for at in left_old]
    new_rest = [_likeness(new.sites[at], new_name, blind) for at in left_new]
    groups += [((left_old[i],), (left_new[j],)) for i, j in align(old_rest, new_rest)]
    left_old, left_new = _left(groups, len(old.sites), len(new.sites))
    if unchanged(old_lines, new_lines):        # the same source: what is left was attributed to other lines
        groups += [((i,), (j,)) for i, j in _alike(left_old, left_new, old.sites, new.sites)]
        left_old, left_new = _left(groups, len(old.sites), len(new.sites))
    groups += [((), (at,)) for at in left_new]
    groups.sort(key=lambda group: group[1][0])
    groups += [((at,), ()) for at in left_old]
    return [(tuple(old.sites[at] for at in group[0]), tuple(new.sites[at] for at in group[1])) for group in groups]


def _left(groups: list[Indices], olds: int, news: int) -> tuple[list[int], list[int]]:
    """The indices of both sides that are in no group yet."""
    here, there = {at for group in groups for at in group[0]}, {at for group in groups for at in group[1]}
    return [at for at in range(olds) if at not in here], [at for at in range(news) if at not in there]


def unchanged(old: FileLines, new: FileLines) -> bool:
    """Every line that both sides have a text of has the same one, and there is one: a file of one name
    is the same file."""
    pairs = [(line.text, new[name][number].text) for name, lines in old.items() if name in new
             for number, line in lines.items() if number in new[name]]
    return bool(pairs) and all(before is not None and before == after for before, after in pairs)


def _places_of(kernel: Kernel, name: Callable[[str], str], aligned: dict[str, LineMap] | None, heads: dict[str, LineMap]) -> dict[Hashable, list[int]]:
    """The sites that have a position, by it."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for at, site in enumerate(kernel.sites):
        if site.source:
            places[_key(site, name, aligned, heads)].append(at)
    return places


def _pair_up(olds: list[int], news: list[int], old: Sequence[Site], new: Sequence[Site]) -> Iterator[Indices]:
    """Sites of one position: one to one in order where they are as many, or all together where the same
    work is cut differently; copies of a line that is the same are copies. Others are left to those nearby."""
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
    elif _texts(olds, old) == _texts(news, new) != {None}:
        yield from _copies(olds, news, old, new)


def _texts(places: list[int], sites: Sequence[Site]) -> set[str | None]:
    return {source and source.text for source in (sites[at].source for at in places)}


def _copies(olds: list[int], news: list[int], old: Sequence[Site], new: Sequence[Site]) -> Iterator[Indices]:
    """More or fewer copies of one statement: those of equal cost pair, all of them where it is not known how
    often each runs; the rest of both sides is one group where it does the same work but for a RECUT."""
    alike: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for i in olds:
        alike[signature(old[i])][0].append(i)
    for j in news:
        alike[signature(new[j])][1].append(j)
    left_old: list[int] = []
    left_new: list[int] = []
    for key, (here, there) in alike.items():
        if here and there and len(here) != len(there) and old[here[0]].active_requests is None:
            yield tuple(here), tuple(there)
            continue
        both = min(len(here), len(there))
        yield from (((i,), (j,)) for i, j in zip(here, there, strict=False))
        left_old += here[both:]
        left_new += there[both:]
    before, after = _work([old[i] for i in left_old])[0], _work([new[j] for j in left_new])[0]
    if before and after and abs(before - after) <= RECUT * before:
        yield tuple(left_old), tuple(left_new)


def _equal(before: list[tuple[int, int]], after: list[tuple[int, int]], old: Sequence[Site], new: Sequence[Site]) -> list[tuple[int, int]]:
    """Index pairs of (line, index) lists: of one line and one cost, in order."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for line, i in reversed(before):
        waiting[line, signature(old[i])].append(i)
    return [(queue.pop(), j) for line, j in after if (queue := waiting.get((line, signature(new[j]))))]


def _likely(olds: list[int], news: list[int], old: Sequence[Site], new: Sequence[Site]) -> list[tuple[int, int]]:
    """Copies of one access: those of equal cost pair first, then the rest in order; a compiler may have
    turned them round."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for i in reversed(olds):
        waiting[signature(old[i])].append(i)
    pairs = [(queue.pop(), j) for j in news if (queue := waiting.get(signature(new[j])))]
    here, there = {i for i, _ in pairs}, {j for _, j in pairs}
    rest = zip((i for i in olds if i not in here), (j for j in news if j not in there), strict=False)
    return pairs + list(rest)


def _alike(olds: list[int], news: list[int], old: Sequence[Site], new: Sequence[Site]) -> Iterator[tuple[int, int]]:
    """Sites of one access and opcode that cost the same, in order, wherever they are."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for i in reversed(olds):
        waiting[old[i].access, old[i].opcode, signature(old[i])].append(i)
    for j in news:
        if queue := waiting.get((new[j].access, new[j].opcode, signature(new[j]))):
            yield queue.pop(), j


def signature(site: Site) -> Hashable:
    """What a site costs: equal of sites that cost the same."""
    return (site.width, site.status, site.active_requests, site.wavefronts, site.excess, site.per_request, site.lines)


Near = tuple[Hashable, int]          # (access, width, file and inline stack; line as the new side counts)


def _near(site: Site, name: Callable[[str], str], aligned: dict[str, LineMap] | None, heads: dict[str, LineMap]) -> Near | None:
    """What sites of one statement share whichever of its lines the compiler names, and the line: the
    statement's first where the text tells it, else any line in a WINDOW."""
    if site.source is None:
        return None
    file = name(site.source.file)
    stack, _ = _key(site, name, aligned, {})                    # type: ignore[misc]
    line = site.source.line if aligned is None else carried(site.source.line, aligned[file])
    if site.source.text is not None:
        return (site.access, site.width, file, stack[1:], heads[file].get(line, line)), 0
    return (site.access, site.width, file, stack[1:]), line


def _pair_near(
    old: Sequence[Site], new: Sequence[Site], olds: list[tuple[int, Near | None]], news: list[tuple[int, Near | None]],
) -> Iterator[Indices]:
    """Sites of one stack, access and width at most WINDOW lines apart, in the order of their lines; on one
    line those of equal cost first."""
    there: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for at, near in news:
        if near:
            there[near[0]].append((near[1], at))
    here: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for at, near in olds:
        if near and near[0] in there:
            here[near[0]].append((near[1], at))
    for key, before in here.items():
        pairs = _equal(before, there[key], old, new)
        yield from (((i,), (j,)) for i, j in pairs)
        here_too, there_too = {i for i, _ in pairs}, {j for _, j in pairs}
        before = sorted(one for one in before if one[1] not in here_too)
        after = sorted(one for one in there[key] if one[1] not in there_too)
        i = j = 0
        while i < len(before) and j < len(after):
            apart = before[i][0] - after[j][0]
            if abs(apart) <= WINDOW:
                yield (before[i][1],), (after[j][1],)
            i, j = i + (apart <= WINDOW), j + (apart >= -WINDOW)


def _work(sites: Sequence[Site]) -> tuple[int | None, int | None]:
    """(bytes a lane over the launch, bytes a lane of one pass), None where not known. The latter only for
    sites that are told apart by their widths: more copies of one width may be more trips of a loop."""
    if any(site.width is None for site in sites):
        return None, None
    counts = [0 if site.status is Status.UNREACHED else site.active_requests for site in sites]
    launch = None if None in counts else sum((count or 0) * (site.width or 0) for count, site in zip(counts, sites, strict=True))
    return launch, sum(site.width or 0 for site in sites)


def _likeness(site: Site, name: Callable[[str], str], blind: bool) -> Hashable:
    """What two sites must share to pair by order alone: where a side is without line information the
    access and width; else the same line of the same file too, so that only the inline stack differs."""
    if site.source is None or blind:
        return (site.access, site.width)
    line = site.source.line if site.source.text is None else site.source.text
    return (site.access, site.width, name(site.source.file), line)


# --- files ----------------------------------------------------------------------------------

def _file_names(old: Kernel, new: Kernel) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """Functions from a file of each kernel to a name that both share.

    Folders differ between machines, so names are base names; the inputs themselves are one
    name, and so are the only two names that the other side lacks: a renamed file.
    """
    old_names, new_names = _names(old), _names(new)
    own = PurePath(old.input).name, PurePath(new.input).name
    renames: dict[str, str] = {}
    if own[0] in old_names and own[1] in new_names:
        renames[own[0]] = own[1]
    left_old, left_new = old_names - new_names - set(renames), new_names - old_names - set(renames.values())
    if len(left_old) == len(left_new) == 1:
        renames[left_old.pop()] = left_new.pop()
    return _namer(renames), _namer({})


def _names(kernel: Kernel) -> set[str]:
    return {PurePath(place.file).name for site in kernel.sites for place in _places(site)}


def _namer(renames: dict[str, str]) -> Callable[[str], str]:
    table: dict[str, str] = {}

    def name(file: str) -> str:
        if file not in table:
            short = PurePath(file).name
            table[file] = renames.get(short, short)
        return table[file]

    return name


def _places(site: Site) -> tuple[Source | Frame, ...]:
    return (site.source, *site.source.inlined) if site.source else ()


def _lines(kernel: Kernel, name: Callable[[str], str]) -> FileLines:
    files: FileLines = defaultdict(dict)
    for site in kernel.sites:
        for depth, place in enumerate(_places(site)):
            line = files[name(place.file)].setdefault(place.line, Line(place.line, place.text))
            line.accesses.append(site.access if depth == 0 else "inlined")
    return files


def _key(site: Site, name: Callable[[str], str], aligned: dict[str, LineMap] | None, heads: dict[str, LineMap]) -> Hashable:
    """File, first line of the statement and inline stack, with old lines as the new ones they became (None = gone)."""
    places = []
    for place in _places(site):
        file = name(place.file)
        line = place.line if aligned is None else aligned[file].get(place.line)
        places.append((file, heads.get(file, {}).get(line, line)) if line is not None else (file, "gone", place.line))
    return (tuple(places), site.access)
