"""When answers under two placements of functions agree: if all their figures are equal."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from ptxaudit.base.status import Status
from ptxaudit.engine.answer import placements
from ptxaudit.engine.answer.kept import Kept, Places, Requests
from ptxaudit.engine.answer.result import Pattern, SiteResult
from ptxaudit.hardware.banks import classify
from ptxaudit.ir.reasons import Kind

LANES = np.arange(32)
ACTIVE = np.ones(32, bool)
SITE = SiteResult(7, Status.EXACT, requests=4, wavefronts=4, formula="4*tid.x")
OTHER = {  # a value of each type that no field of SITE has
    "int | None": 9,
    "int": 9,
    "str": "measured",
    "bool": True,
    "Status": Status.BOUNDED,
    "tuple[int, int] | None": (1, 9),
    "tuple[str, ...] | None": ("n",),
}


def pattern(step):
    return Pattern(LANES * step, ACTIVE, 4, 1, 1, 1, 1)


def kept(step):
    requests = Requests("s", (LANES * step)[None], ACTIVE[None], np.full(1, 4))
    return Kept(classify("LDS"), lambda: Places((requests,)))


@pytest.mark.parametrize("name", placements.FIGURES)
def test_placements_with_one_different_figure_disagree(name):
    kind = SiteResult.__annotations__[name]
    other = replace(SITE, **{name: OTHER.get(kind, (9,))})
    assert getattr(other, name) != getattr(SITE, name)
    assert placements._agreed(SITE, other).reason.kind is Kind.PLACE_OF_CODE
    assert placements._agreed(SITE, replace(SITE)) == SITE


def test_placements_are_compared_by_active_lanes_and_alignment():
    assert {"lanes", "unaligned", "evidence", "meeting_assumed"} <= set(placements.FIGURES)


def test_patterns_that_differ_between_placements_are_dropped():
    one = replace(SITE, patterns=(pattern(4),), distinct=1)
    assert placements._agreed(one, replace(SITE, patterns=(pattern(4),), distinct=1)).patterns == one.patterns
    other = placements._agreed(one, replace(SITE, patterns=(pattern(8),), distinct=1, formula="8*tid.x"))
    assert (other.patterns, other.distinct, other.formula) == ((), 0, "") and other.wavefronts == 4


def test_requests_that_differ_between_placements_are_not_kept_for_repairs():
    one = replace(SITE, kept=kept(4))
    assert placements._agreed(one, replace(SITE, kept=kept(4))).kept.missing is None
    other = placements._agreed(one, replace(SITE, kept=kept(8))).kept
    assert other.missing.kind is Kind.PLACE_OF_CODE and other.requests == ()
