"""Finds the sites that a user names, with everything that was found out about them on the way.

SITE is one of
    id                   transpose@transpose.cu:14:ptx.load      as reports have it
    file:line            transpose.cu:14, also a line it was inlined at; k.ptx:120 a line of the PTX
    line                 120, of the PTX
    kernel+offset        transpose+0x1a0, in machine code
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from ptxaudit import lanes
from ptxaudit.collect import Part, Progress, silent, unmatched
from ptxaudit.errors import InputError
from ptxaudit.kernels import Examined
from ptxaudit.lanes import Facts
from ptxaudit.lanes.result import SiteResult
from ptxaudit.launch import Launch
from ptxaudit.options import Options
from ptxaudit.pipeline import examine
from ptxaudit.report import Problem, Site
from ptxaudit.work import Account

MOST_SUGGESTED = 8
FORMULA_SECONDS = 10.0       # of the reference machine: steps (`work`)

_OFFSET = re.compile(r"(?P<kernel>.+)\+(?P<offset>0x[0-9a-fA-F]+|\d+)")
_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)")


@dataclass(frozen=True)
class Explained:
    """One site under one launch: its entry in the report, and the lane engine's whole answer.

    copies: further sites of the same line (an unrolled loop) whose requests look the same.
    """

    examined: Examined
    site: Site
    result: SiteResult
    formula: str = ""
    copies: tuple[Explained, ...] = ()


def explain(given: Any, wanted: str, options: Options, progress: Progress = silent) -> tuple[list[Explained], list[Problem]]:
    """All sites of an input that `wanted` names, copies behind the first of them, and what could not be read.

    Raises InputError, with the sites there are, when none is named by it.
    """
    part = Part()
    everything: list[Explained] = []
    found: list[Explained] = []
    for examined in examine([given], options, part, progress):
        pairs = zip(examined.entry.sites, examined.result.sites, strict=True)
        sites = [Explained(examined, site, result) for site, result in pairs]
        named = [one for one in sites if names(wanted, one)]
        everything += sites
        found += with_copies(with_formulas(examined, named))
    problems = part.problems + ([] if part.failed else [Problem.of(error) for error in unmatched(options, [part])])
    if not found and not problems:
        raise _no_site(wanted, everything, part)
    return found, problems


def with_formulas(examined: Examined, sites: list[Explained]) -> list[Explained]:
    """Each with its address as a formula in the lane and the unknowns.

    A launch that was run leaves numbers behind; with the block's shape alone told, the parameters
    and the place of the block stay in the formula.
    """
    formulas = {one.result.index: one.site.formula for one in sites}
    if not all(formulas.values()):
        block = examined.launch.block if examined.launch else None
        symbolic = lanes.evaluate(
            examined.function, examined.flow, machine=examined.machine, facts=Facts(block=block), account=Account.for_budget(FORMULA_SECONDS)
        )
        formulas = {site.index: formulas.get(site.index) or site.formula for site in symbolic.sites}
    return [replace(one, formula=formulas.get(one.result.index, "")) for one in sites]


def with_copies(sites: list[Explained]) -> list[Explained]:
    """The first of each kind, the others of its kind as its copies."""
    kinds: dict[Hashable, list[Explained]] = {}
    for one in sites:
        kinds.setdefault(_kind(one), []).append(one)
    return [replace(first, copies=tuple(copies)) for first, *copies in kinds.values()]


def _kind(one: Explained) -> Hashable:
    """What copies share: place, opcode, figures, and the requests up to a shift."""
    site = one.site
    requests = tuple((p.addresses.tobytes(), p.active.tobytes(), p.count, p.low, p.high) for p in one.result.patterns)
    return (site.source, site.opcode, site.status, site.reason, site.requests, site.conditions, site.trips, requests, site.source is None and site.id)


def names(wanted: str, one: Explained) -> bool:
    """Whether SITE means this one."""
    site, kernel = one.site, one.examined.entry
    if wanted == site.id:
        return True
    if wanted.isdecimal():
        return site.ptx_line == int(wanted)
    if match := _OFFSET.fullmatch(wanted):
        return site.offset == int(match["offset"], 0) and Launch(kernel=match["kernel"]).matches(kernel.name)
    if match := _PLACE.fullmatch(wanted):
        line = int(match["line"])
        if site.source is not None:
            places = (site.source, *site.source.inlined)
            if any(place.line == line and _ends_with(place.file, match["file"]) for place in places):
                return True
        return site.ptx_line == line and kernel.input.endswith(".ptx") and _ends_with(kernel.input, match["file"])
    return False


def _ends_with(file: str, wanted: str) -> bool:
    """`wanted` names the file: its last parts are the same."""
    parts, end = PurePath(file).parts, PurePath(wanted).parts
    return parts[-len(end) :] == end or file == wanted


def _no_site(wanted: str, sites: Sequence[Explained], part: Part) -> InputError:
    file = part.inputs[0].path if part.inputs else None
    if not sites:
        return InputError(f"there is no shared-memory site at {wanted}: no kernel here has one", "see `ptxaudit audit --list`", file)
    spellings = list(dict.fromkeys(_spellings(sites)))
    close = get_close_matches(wanted, spellings, n=3, cutoff=0.6) or spellings[:MOST_SUGGESTED]
    return InputError(f"there is no shared-memory site at {wanted}", f"there are sites at {', '.join(close)}", file)


def _spellings(sites: Iterable[Explained]) -> Iterable[str]:
    for one in sites:
        if one.site.source is not None:
            yield f"{PurePath(one.site.source.file).name}:{one.site.source.line}"
        elif one.site.offset is not None:
            yield f"{one.examined.entry.name}+{one.site.offset:#x}"
        else:
            yield str(one.site.ptx_line)
