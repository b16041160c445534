"""Matches sites with a user's SITE, and builds the error if none matches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePath

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import whole
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.pipeline.collect import Part
from ptxaudit.report.model import AnySite, Kernel
from ptxaudit.report.paths import place

MOST_SUGGESTED = 8

_OFFSET = re.compile(r"(?P<kernel>.+)\+(?:0x(?P<hex>[0-9a-fA-F]+)|(?P<offset>\d+))")
_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)")

Placed = tuple[AnySite, Kernel]  # a site with its kernel


def names(wanted: str, site: AnySite, kernel: Kernel) -> bool:
    """Whether SITE refers to this site."""
    if wanted == site.id:
        return True
    if wanted.isdecimal():
        return (line := whole(wanted)) is not None and site.ptx_line == line
    if match := _OFFSET.fullmatch(wanted):
        offset = whole(match["offset"]) if match["hex"] is None else int(match["hex"], 16)
        return offset is not None and site.offset == offset and Launch(kernel=match["kernel"]).matches(kernel.name)
    if match := _PLACE.fullmatch(wanted):
        return (line := whole(match["line"])) is not None and _is_at(match["file"], line, site, kernel)
    return False


def _is_at(file: str, line: int, site: AnySite, kernel: Kernel) -> bool:
    """A line of the source, or of the PTX, is the site's."""
    places = site.source.places if site.source is not None else ()
    if any(place.line == line and _ends_with(place.file, file) for place in places):
        return True
    return site.ptx_line == line and kernel.input.endswith(".ptx") and _ends_with(kernel.input, file)


def _ends_with(file: str, wanted: str) -> bool:
    """`wanted` names the file: its last parts are equal."""
    parts, end = PurePath(file).parts, PurePath(wanted).parts
    return parts[-len(end) :] == end or file == wanted


def no_site(wanted: str, sites: Sequence[Placed], part: Part) -> InputError:
    """The error for a SITE that matches none, with the existing ones."""
    file = part.inputs[0].path if part.inputs else None
    if not sites:
        return InputError(
            f"there is no shared-memory site at {wanted}: no kernel here has one",
            "see `ptxaudit audit --list`; --space global audits global memory",
            file,
        )
    spellings = list(dict.fromkeys(_spellings(sites)))
    close = get_close_matches(wanted, spellings, n=3, cutoff=0.6) or spellings[:MOST_SUGGESTED]
    return InputError(f"there is no shared-memory site at {wanted}", f"there are sites at {', '.join(close)}", file)


def _spellings(sites: Iterable[Placed]) -> Iterable[str]:
    for site, kernel in sites:
        if site.source is not None:
            yield place(site, kernel)
        elif site.offset is not None:
            yield f"{kernel.name}+{site.offset:#x}"
        else:
            yield str(site.ptx_line)
