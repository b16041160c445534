"""Finds the sites that a user names, with all intermediate results about them.

SITE is one of
    id                   transpose@transpose.cu:14:ptx.load      as in reports
    file:line            transpose.cu:14, also a line where it was inlined; k.ptx:120 a line of the PTX
    line                 120, in the PTX
    kernel+offset        transpose+0x1a0, in machine code
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from ptxaudit.base import printable
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.frontend.options import Options
from ptxaudit.hardware import banks
from ptxaudit.hardware.banks import Access
from ptxaudit.pipeline.collect import Part, Progress, silent, unmatched
from ptxaudit.pipeline.examine import examine
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.report.assemble import is_there
from ptxaudit.report.model import MemorySite, Problem, Site
from ptxaudit.review.wanted import names, no_site

if TYPE_CHECKING:
    from ptxaudit.review.fix.arrays import Use
    from ptxaudit.review.fix.repairs import ArrayRepairs
    from ptxaudit.review.fix.report import RepairEntry

FORMULA_SECONDS = 10.0  # on the reference machine, converted to steps (`work`)


class Mended(Record):
    """One request of a site before and after the best repair of its array. addresses, places: the byte offsets of its
    lanes in the array, before and after."""

    repair: RepairEntry
    access: Access
    addresses: np.ndarray
    places: np.ndarray
    active: np.ndarray


class Explained(Record):
    """One site under one launch: its entry in the report, and the engine's full result.

    copies: further sites of the same line (an unrolled loop) whose requests look the same. mended: the effect of a
    repair.
    """

    examined: Examined
    site: Site | MemorySite
    result: SiteResult
    formula: str = ""
    copies: tuple[Explained, ...] = ()
    mended: Mended | None = None


def explain(
    given: Any, wanted: str, options: Options, progress: Progress = silent
) -> tuple[list[Explained], list[Problem]]:
    """All sites of an input that `wanted` names, each with its copies, and the problems in reading the input.

    Raises InputError, listing the existing sites, if it names none.
    """
    part = Part()
    everything: list[Explained] = []
    found: list[Explained] = []
    for raw in examine([given], replace(options, keep=True), part, progress):
        examined = replace(raw, entry=printable.record(raw.entry))
        sites = [Explained(examined, site, result) for site, result in sites_of(examined)]
        named = [one for one in sites if names(wanted, one.site, one.examined.entry)]
        everything += sites
        found += with_copies(with_repairs(examined, with_formulas(examined, named)))
    problems = part.problems + ([] if part.failed else [Problem.of(error) for error in unmatched([(options, [part])])])
    if not found and not problems:
        raise no_site(wanted, [(one.site, one.examined.entry) for one in everything], part)
    return found, problems


def sites_of(examined: Examined) -> Iterator[tuple[Site | MemorySite, SiteResult]]:
    """The entries of the report with their results from the engine, those in shared memory first."""
    others = [result for result in examined.result.sites if examined.function.site(result.index).of != "shared"]
    yield from ((site, result) for result, site in examined.of_shared)
    yield from zip(examined.entry.memory, filter(is_there, others), strict=True)


def with_formulas(examined: Examined, sites: list[Explained]) -> list[Explained]:
    """The sites with their addresses as formulas in the lane and the unknowns.

    Executing a launch gives numbers only. With just the block's shape specified, the parameters and the block's index
    stay symbolic.
    """
    formulas = {one.result.index: one.site.formula for one in sites}
    if not all(formulas.values()):
        block = examined.launch.block if examined.launch else None
        symbolic = engine.evaluate(
            examined.function,
            examined.flow,
            machine=examined.machine,
            facts=Facts(block=block),
            account=Account.for_budget(FORMULA_SECONDS),
        )
        formulas = {site.index: formulas.get(site.index) or site.formula for site in symbolic.sites}
    return [replace(one, formula=formulas.get(one.result.index, "")) for one in sites]


def with_repairs(examined: Examined, sites: list[Explained]) -> list[Explained]:
    """The sites, each with its worst request under the best repair of its array, where a repair helps it."""
    if not any(
        isinstance(one.site, Site)
        and (one.site.excess or one.site.excess_per_request is not None and one.site.excess_per_request.high)
        for one in sites
    ):
        return sites
    from ptxaudit.review.fix.repairs import repairs_of

    found = [array for array in repairs_of([examined]) if array.repairs]
    return [replace(one, mended=_mended(one, found)) for one in sites]


def _mended(one: Explained, found: Sequence[ArrayRepairs]) -> Mended | None:
    from ptxaudit.review.fix.report import array_entry

    for array in found:
        repair = array.repairs[0]
        for use, before, after in zip(array.array.uses, array.per_use, repair.uses):
            if (
                use.index == one.result.index
                and (after.high, after.lines) < (before.high, before.lines)
                and not any(repair.found.parts)
            ):
                offsets, active = _worst(array, use, examined=one.examined)
                places = repair.found.layout.place(np.where(active, offsets, offsets[active.argmax()]))
                return Mended(array_entry(array).repairs[0], use.access, offsets, places, active)
    return None


def _worst(array: ArrayRepairs, use: Use, examined: Examined) -> tuple[np.ndarray, np.ndarray]:
    """(offsets, active) of the use's request with the most excess."""
    scored = [
        (r, banks.score(examined.machine, use.access, r.offsets, r.active, r.sources, zero_filled=r.filled))
        for r in use.requests
    ]
    r, scores = max(scored, key=lambda pair: int((pair[1].high - pair[1].ideal).max()))
    row = int((scores.high - scores.ideal).argmax())
    return r.offsets[row], r.active[row]


def with_copies(sites: list[Explained]) -> list[Explained]:
    """The first site of each kind, with the others of its kind as its copies."""
    kinds: dict[Hashable, list[Explained]] = {}
    for one in sites:
        kinds.setdefault(_kind(one), []).append(one)
    return [replace(first, copies=tuple(copies)) for first, *copies in kinds.values()]


def _kind(one: Explained) -> Hashable:
    """The properties that copies have in common: place, opcode, figures, and the requests up to a shift."""
    site = one.site
    requests = tuple((p.addresses.tobytes(), p.active.tobytes(), p.count, p.low, p.high) for p in one.result.patterns)
    return (
        site.source,
        site.opcode,
        site.status,
        site.reason,
        site.requests,
        site.conditions,
        site.cases,
        site.trips,
        requests,
        site.source is None and site.id,
    )
