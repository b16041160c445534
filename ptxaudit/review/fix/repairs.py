"""From kernels to proved repairs: the entry of `ptxaudit fix`.

    Examined(transpose, …)  ->  ArrayRepairs("tile", excess=3968, repairs=(Repair("pad", "pad the row to 33 floats",
                                excess=0, …), …))

Only proved repairs are listed: one-to-one on every byte of the array, all vectors whole and aligned, every request of
every site scored at its new place, bytes within the limit. Each states what it is proved for. Arrays with incomplete
information are refused, with the reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.words import bare_name, listing
from ptxaudit.base.work import Exhausted
from ptxaudit.hardware.occupancy import STATIC_LIMIT, blocks_per_sm, limits_of
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.review.fix.accesses import changes
from ptxaudit.review.fix.arrays import Array, Use, place_of
from ptxaudit.review.fix.candidates import Candidate, Repair, candidates_of, proved, without_places
from ptxaudit.review.fix.cost import Costs, Figure, NotProvable
from ptxaudit.review.fix.declared import Declared, rows_of
from ptxaudit.review.fix.hints import hints_of
from ptxaudit.review.fix.layouts import SAME, Chain, Layout, Pad, Xor
from ptxaudit.review.fix.rewrite import accessed, rewrite, swizzle_for
from ptxaudit.review.fix.search import STEPS, STEPS_A_SITE, Found
from ptxaudit.review.fix.searched import Searched

MOST_REPAIRS = 5  # per array
_NOTHING_SURE = "its excess depends on unspecified values (--block, --launch)"
_BEHIND = 16  # bytes: the widest vector


class ArrayRepairs(Record, eq=False):
    """One array of a kernel under one launch. now: its cost; floor: the bound for all layouts that keep its vectors;
    per_use: the cost of each use.

    counted: figures are sums over the launch; otherwise of each site's worst request. ended: the steps after which
    the search ended with layouts untried; None if it was complete, or if no other layout can cost less.
    """

    examined: Examined
    array: Array
    declared: Declared | None
    counted: bool
    now: Figure
    floor: Figure | None
    per_use: tuple[Figure, ...] = ()
    refused: str = ""
    hints: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    ended: int | None = None


def sums_by_site(found: ArrayRepairs, figures: Iterable[Figure]) -> dict[str, Figure]:
    """The id of each site of the array -> its cost, from the figures of its uses."""
    sums: dict[str, Figure] = defaultdict(Figure)
    for use, figure in zip(found.array.uses, figures):
        sums[use.site.id] += figure
    return sums


def repairs_of(
    kernels: Iterable[Examined],
    limit: int | None = None,
    steps: tuple[int, int] = (STEPS, STEPS_A_SITE),
    quick: bool = False,
    best: bool = False,
) -> list[ArrayRepairs]:
    """All arrays of the kernels with excess, each with its repairs, best first. The kernels were examined with
    `Options.keep`.

    limit: bytes of shared memory that a block may have after a repair; None = what its kind of memory allows. steps:
    of work for each array, and for each of its sites. quick: as in `Search.found`, with the likeliest row lengths
    only, without hints, and without the effect of a repair on arrays without excess.
    """
    every: list[Candidate] = []
    for examined in kernels:
        found = candidates_of(examined, costly=quick)
        every += [*found, *([] if quick else without_places(examined, found))]
    siblings: dict[tuple[Any, ...], list[Candidate]] = defaultdict(list)
    for candidate in every:
        if candidate.declared is not None:
            siblings[candidate.declared.place, candidate.array.name].append(candidate)
    out = []
    for one in every:
        if one.has_excess:
            same = siblings[one.declared.place, one.array.name] if one.declared is not None else [one]
            out.append(_repaired(one, [other for other in same if other is not one], limit, steps, quick, best))
    return out


def _repaired(
    one: Candidate, others: Sequence[Candidate], limit: int | None, steps: tuple[int, int], quick: bool, best: bool
) -> ArrayRepairs:
    """The repairs of one array, with their effects on the same declaration in other kernels."""
    array, examined = one.array, one.examined
    counted = one.costs.counted and all(use.site.wavefronts is not None for use in array.uses)
    nothing = ArrayRepairs(examined, array, one.declared, counted, _reported(array), None)
    if array.refused:
        return replace(nothing, refused=array.refused)
    rows = rows_of(array, one.declared)
    element = one.declared.element if one.declared and not array.part else 1
    search = Searched(examined.machine, array, rows, element, steps, quick)
    try:
        if quick and not search.now.excess:
            return replace(nothing, refused=_NOTHING_SURE)
        bounds = search.bounds
        now = replace(
            nothing,
            counted=search.counted,
            now=bounds[0],
            floor=bounds[1],
            per_use=search.under(SAME),
            hints=() if quick else hints_of(array, one.declared, search.costs),
        )
    except (NotProvable, Exhausted) as why:
        return replace(nothing, refused=str(why))
    if wrong := _disagrees(array, now) or ("" if now.now.excess else _NOTHING_SURE):
        return replace(nothing, refused=wrong)
    found, ended = search.found()
    made = _best_made(found, one, search, limit) if best else _all_made(found, one, search, limit)
    if not quick:
        made += _accessed_otherwise(one, search)
    in_order = ranked(made)[: 1 if best else None]
    repairs = tuple(
        replace(
            repair,
            uses=repair.uses or search.under(repair.found.layout, repair.found.parts, repair.align or None),
            also=_also(repair, one, others, limit),
        )
        for repair in in_order
    )
    return replace(now, repairs=repairs, ended=None if any(repair.floor for repair in repairs) else ended)


def _all_made(found: Iterable[Found], one: Candidate, search: Searched, limit: int | None) -> list[Repair]:
    """The repairs with these layouts that can be proved."""
    return [repair for layout in found if (repair := _made(layout, one, search, limit)) is not None]


def _best_made(found: Sequence[Found], one: Candidate, search: Searched, limit: int | None) -> list[Repair]:
    """Some repairs, including the best: layouts that cost more than a proved one are skipped. (If some cost a range,
    all are made, because the array's alignment may change what the range becomes.)"""
    costs = sorted({_cost(f.figure) for f in found})
    if any(f.figure.low != f.figure.high for f in found):
        return _all_made(found, one, search, limit)
    made: list[Repair] = []
    for cost in costs:
        made = _all_made([f for f in found if _cost(f.figure) == cost], one, search, limit)
        if made:
            break
    return made


def _cost(figure: Figure) -> tuple[int, int]:
    """The primary key for ranking repairs."""
    return figure.low + figure.high, figure.lines


def _reported(array: Array) -> Figure:
    """The report's figures for the array's sites: sums over the launch if it has them for all, else of each site's
    worst request."""
    sites = {use.index: use.site for use in array.uses}.values()
    if all(site.wavefronts is not None and site.ideal is not None for site in sites):
        wavefronts = sum(site.wavefronts or 0 for site in sites)
        return Figure(wavefronts, wavefronts, sum(site.ideal or 0 for site in sites))
    each = [(s.per_request, s.excess_per_request.high) for s in sites if s.per_request and s.excess_per_request]
    low, high = sum(span.low for span, _ in each), sum(span.high for span, _ in each)
    return Figure(low, high, high - sum(excess for _, excess in each))


def _disagrees(array: Array, now: ArrayRepairs) -> str:
    """The reason if the placed requests do not cost what the report says, so that nothing is proved about them."""
    if not now.counted:
        return ""
    by_site: dict[int, list[Figure]] = defaultdict(list)
    for use, figure in zip(array.uses, now.per_use):
        by_site[use.index].append(figure)
    for use in array.uses:
        site, mine = use.site, sum(by_site[use.index], Figure())
        alone = sum(other.index == use.index for other in array.uses) == len(by_site[use.index])
        if (
            site.status is Status.EXACT
            and alone
            and not _elsewhere(use, array)
            and (mine.low, mine.high) != (site.wavefronts, site.wavefronts)
        ):
            return (
                f"{place_of(site)}: its requests add up to {mine.low:,} wavefronts, but the audit counted"
                f" {site.wavefronts:,}"
            )
    return ""


def _elsewhere(use: Use, array: Array) -> bool:
    """Some of the site's requests go to another array or, for a generic access, to other memory."""
    weights = sum(
        int(r.weights.sum())
        for other in array.uses
        if other.index == use.index
        for r in other.requests
        if r.weights is not None
    )
    return weights != (use.site.active_requests or 0)


# --- one repair ---------------------------------------------------------------------------------


def _made(found: Found, one: Candidate, search: Searched, limit: int | None) -> Repair | None:
    """The repair with a layout; None if it cannot be proved or adds too many bytes."""
    array, more = one.array, _added(found.layout, one)
    if found.layout.kind == "same" and not any(found.parts):
        return None
    widths = {part or use.access.width or 1 for use, part in zip(array.uses, found.parts or [0] * len(array.uses))}
    if not proved(found.layout, array, sorted(widths)) or not _fits(one, more, limit):
        return None
    figure, align = found.figure, _alignment(found, one, search)
    if align:
        figure = sum(search.under(found.layout, found.parts, align), Figure())
    shared = _shared(one)
    before, after = (blocks_per_sm(one.examined.entry.arch, size, _threads(one)) for size in (shared, shared + more))
    return Repair(
        found,
        rewrite(found, array, one.declared, align),
        figure,
        (),
        more,
        _proved_for(one, search.counted, found.layout),
        found.whole or found.floor,
        before,
        after,
        align=align,
    )


def _accessed_otherwise(one: Candidate, search: Searched) -> list[Repair]:
    """Repairs that change accesses and not the array: of each kind the cheapest one, if it costs less than now."""
    found: dict[str, Repair] = {}
    now, _ = search.bounds
    block = _threads(one)
    blocks = blocks_per_sm(one.examined.entry.arch, _shared(one), block)
    for changed in changes(one.array, one.examined.function, one.examined.flow):
        try:
            figures = Costs(one.examined.machine, changed.uses, max(one.array.align, changed.align)).under(SAME)
        except NotProvable:
            continue
        total = sum(figures, Figure())
        if total.low + total.high >= now.low + now.high or total.lines > now.lines:
            continue
        uses = [Figure()] * len(one.array.uses)
        for figure, origin in zip(figures, changed.origin):
            uses[origin[0]] = figure
        repair = Repair(
            Found(SAME, total, whole=False),
            accessed(changed, one.array, one.declared),
            total,
            tuple(uses),
            0,
            _proved_for(one, search.counted, SAME),
            False,
            blocks,
            blocks,
        )
        best = found.get(changed.kind)
        if best is None or total.weight < best.figure.weight:
            found[changed.kind] = repair
    return list(found.values())


def _threads(one: Candidate) -> int | None:
    """Threads per block, if specified."""
    block = (
        one.examined.launch.block
        if one.examined.launch is not None and one.examined.launch.block
        else one.examined.function.block
    )
    return prod(block) if block else None


def _alignment(found: Found, one: Candidate, search: Searched) -> int:
    """The alignment of the array's beginning that makes the repair's cost exact; 0 if none is needed or none does."""
    for align in (4, 16):
        if (
            found.figure.low < found.figure.high
            and one.array.align < align
            and one.declared is not None
            and not one.array.part
        ):
            then = sum(search.under(found.layout, found.parts, align), Figure())
            if then.low == then.high:
                return align
    return 0


def _added(layout: Layout, one: Candidate) -> int:
    """Bytes that are added to a block's shared memory."""
    more = _more(layout, one)
    return -(-more // _BEHIND) * _BEHIND if one.array.part or one.array.dynamic else more  # keeps what follows aligned


def _more(layout: Layout, one: Candidate) -> int:
    """Bytes that are added. Declared but unused bytes are available for padding if the code uses one index only."""
    more = sum(layout.size(size) - size for size in one.array.sizes if size)
    unused = one.declared is not None and isinstance(layout, Pad) and _fills_unused(layout, one.array, one.declared)
    return 0 if unused else more


def _fills_unused(layout: Pad, array: Array, declared: Declared) -> bool:
    """A flat array's padding fits into declared bytes that no access reaches."""
    size = array.size or 0
    return (
        len(declared.dims) == 1
        and not array.part
        and not array.others
        and array.used is not None
        and layout.size(array.used) <= size < layout.size(size)
    )


def _shared(one: Candidate) -> int:
    """Bytes of shared memory per block now."""
    return one.examined.function.shared_static + _dynamic(one.examined)


def _dynamic(examined: Examined) -> int:
    return (examined.launch.dynamic_shared or 0) if examined.launch is not None else 0


def _fits(one: Candidate, more: int, limit: int | None) -> bool:
    """The bytes of a block are within the limit."""
    static = one.examined.function.shared_static
    return more <= 0 or fits(one.examined, static + (0 if one.array.dynamic else more), _shared(one) + more, limit)


def fits(examined: Examined, static: int, shared: int, limit: int | None) -> bool:
    """Whether a block of the kernel may have this much shared memory, `static` of it static. limit: as in
    `repairs_of`; no limit raises that of the architecture."""
    if static > STATIC_LIMIT and limit is None:
        return False
    limits = limits_of(examined.entry.arch)
    most = limits.shared_of_block if limits else STATIC_LIMIT if limit is None else limit
    return shared <= (most if limit is None else min(most, limit))


def too_large(examined: Examined, limit: int | None) -> bool:
    """A block of the kernel has more shared memory than the limit."""
    static = examined.function.shared_static
    return not fits(examined, static, static + _dynamic(examined), limit)


def _proved_for(one: Candidate, counted: bool, layout: Layout) -> str:
    """The scope of the proof, in words."""
    inside = kept_inside(layout, one.array, one.declared)
    return _launches(one, counted) + (f", as long as {inside}" if inside else "")


def kept_inside(layout: Layout, array: Array, declared: Declared | None) -> str:
    """The assumption of a layout that cuts rows, or that uses declared bytes beyond those that are accessed; "" if it
    makes none."""
    pad = layout.first if isinstance(layout, Chain) else layout
    if declared is None or not isinstance(pad, Pad):
        return ""
    cut = [(row, more) for row, more in pad.rows if more < 0]
    if cut:
        row, more = cut[0]
        return f"no access goes beyond the first {(row + more) // declared.element} elements of a row"
    if _fills_unused(pad, array, declared):
        return f"no access goes beyond the first {(array.used or 0) // declared.element} elements"
    return ""


def _launches(one: Candidate, counted: bool) -> str:
    launch, function = one.examined.launch, one.examined.function
    certain = all(r.certain for use in one.array.uses for r in use.requests)
    lanes = "" if certain else ", with all possibly active lanes: no request costs more with fewer"
    if counted:
        return "this launch"
    stays = f", as long as {one.array.assumed}" if one.array.assumed else ""
    if launch is not None and launch.block is not None and launch.grid is not None:
        return f"every request of this launch, however often it is issued{lanes}{stays}"
    block = launch.block if launch is not None and launch.block else function.block
    if block is not None:
        shape = "×".join(map(str, block[: max((k for k, n in enumerate(block, 1) if n != 1), default=1)]))
        return f"every launch with blocks of {shape} threads{lanes}{stays}"
    return f"every launch whose warps are 32 threads along x{lanes}{stays}"


def ranked(repairs: Sequence[Repair]) -> tuple[Repair, ...]:
    """The best of each kind, in order of: cost, completeness, lost blocks, instructions, bytes."""

    def order(repair: Repair) -> tuple[Any, ...]:
        figure = repair.figure
        lost = repair.before.blocks_per_sm - repair.after.blocks_per_sm if repair.before and repair.after else 0
        return (
            *_cost(figure),
            not repair.code.complete,
            max(0, lost),
            repair.code.instructions,
            repair.bytes,
        )

    best: dict[str, Repair] = {}
    for repair in sorted(repairs, key=order):
        best.setdefault(repair.code.kind, repair)
    in_order = sorted(best.values(), key=order)
    return tuple(repair for at, repair in enumerate(in_order) if not _no_use(repair, in_order[:at]))[:MOST_REPAIRS]


_RARELY_WANTED = frozenset(("order", "skew"))
_OF_ACCESSES = frozenset(("widen", "align"))


def _no_use(repair: Repair, better: Sequence[Repair]) -> bool:
    """A better-ranked repair saves as much, and is easier to write."""
    alike = [one for one in better if one.figure.weight <= repair.figure.weight]
    if repair.code.kind in _RARELY_WANTED:
        return bool(alike)
    if repair.code.kind in _OF_ACCESSES:
        return False
    return not repair.code.complete and any(one.code.complete for one in alike)


# --- the same declaration in other kernels ------------------------------------------------------


def _also(repair: Repair, one: Candidate, others: Sequence[Candidate], limit: int | None) -> tuple[str, ...]:
    """The effects of the repair where the same line of source declares the array of another kernel, or of another
    instance of a template."""
    said: dict[str, list[str]] = defaultdict(list)
    for other in others:
        name = bare_name(other.examined.entry.demangled)
        if other.array.refused:
            said[f"nothing is proved for {{}}, with the same declaration: {other.array.refused}"].append(name)
            continue
        layout = for_other(repair.found.layout, one.declared, other.declared)
        try:
            now = other.costs.total(SAME)
            then = (
                None
                if layout is None or not proved(layout, other.array, [other.array.width])
                else other.costs.total(layout)
            )
        except (NotProvable, Exhausted) as why:
            said[f"nothing is proved for {{}}, with the same declaration: {why}"].append(name)
            continue
        if repair.code.kind in _OF_ACCESSES:
            continue
        if layout is not None and not _fits(other, _added(layout, other), limit):
            said["it does not fit into the shared memory of {}, with the same declaration"].append(name)
        elif then is None:
            said["not for {}: the same declaration with other values"].append(name)
        elif then.low + then.high > now.low + now.high:
            said["it would cost {}, which the same declaration is of: change it for this kernel only"].append(
                f"{name} {then.excess - now.excess:,} more"
            )
        elif then.weight < now.weight:
            said["it also repairs {}"].append(name)
    return tuple(sentence.format(listing(list(dict.fromkeys(names)))) for sentence, names in said.items())


def for_other(layout: Layout, mine: Declared | None, theirs: Declared | None) -> Layout | None:
    """The layout that the same change of the source is for a declaration with other numbers; None if that is
    unclear."""
    if mine is None or theirs is None or mine.dims == theirs.dims and mine.element == theirs.element:
        return layout
    if isinstance(layout, Xor):
        return swizzle_for(layout, mine, theirs)
    if not isinstance(layout, Pad) or len(mine.dims) != len(theirs.dims):
        return None
    rows = []
    for row, more in layout.rows:
        if row not in mine.rows:
            return None
        at = mine.rows.index(row)
        rows.append(
            (
                theirs.rows[at],
                more // (mine.rows[at - 1] if at else mine.element) * (theirs.rows[at - 1] if at else theirs.element),
            )
        )
    return Pad(tuple(rows))
