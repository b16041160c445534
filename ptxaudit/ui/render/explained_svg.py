"""Draws the requests of explained sites as one SVG picture, followed by the costliest request after the best repair.

k.cu:14  ->  <svg …>  32 wavefronts, ideal 1, 128 requests like this  …  pad the row to 33 floats …  </svg>
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np

from ptxaudit.base.errors import InputError
from ptxaudit.base.words import interval, plural
from ptxaudit.hardware import banks
from ptxaudit.report.paths import place
from ptxaudit.review.explain import Explained
from ptxaudit.ui.render.explanation import MOST_PATTERNS, scored_access, sorted_patterns
from ptxaudit.ui.render.fixes import headline
from ptxaudit.ui.render.svg import picture

GAP = 14  # pixels between pictures
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


def explained_svg(found: Iterable[Explained]) -> str:
    """One picture of all sites. Raises InputError if there is nothing to draw."""
    pictures = [one for explained in found for one in _pictures(explained)]
    if not pictures:
        raise InputError(
            "there is no request to draw: no address is known, or no hardware counter covers its wavefronts",
            "run explain without --svg for what is known of the site",
        )
    sizes = [tuple(map(int, match.groups())) for one in pictures if (match := _SIZE.match(one))]
    wide, high = max(w for w, _ in sizes), sum(h + GAP for _, h in sizes) - GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">',
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
    ]
    top = 0
    for one, (_, h) in zip(pictures, sizes, strict=True):
        lines.append(one.strip().replace("<svg ", f'<svg y="{top}" ', 1))
        top += h + GAP
    return "\n".join([*lines, "</svg>", ""])


def _pictures(one: Explained) -> Iterator[str]:
    access = scored_access(one)
    if access is None:
        return
    machine, site = one.examined.machine, one.site
    where = f"{place(site, one.examined.entry)} {site.opcode}"
    for pattern in sorted_patterns(one)[:MOST_PATTERNS]:
        times = f", {plural(pattern.count, 'request')} like this" if pattern.count and site.requests is not None else ""
        unit = "wavefront" if pattern.high == 1 else "wavefronts"
        cost = f"{interval(pattern.low, pattern.high)} {unit}, ideal {pattern.ideal}"
        with suppress(ValueError):  # cp.async.cg has no wavefronts to draw
            yield picture(
                machine, access, pattern.addresses, pattern.active, pattern.sources, f"{where}: {cost}{times}"
            )
    if one.mended is not None:
        mended = one.mended
        scores = banks.score(
            machine, mended.access, np.asarray(mended.places)[None, :], np.asarray(mended.active)[None, :]
        )
        then = interval(int(scores.low[0]), int(scores.high[0]))
        title = f"{headline(mended.repair)}; the costliest request then, of {then}"
        with suppress(ValueError):
            yield picture(machine, mended.access, mended.places, mended.active, title=title)
