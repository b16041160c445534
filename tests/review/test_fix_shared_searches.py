"""Arrays with the same requests share the result of one search, and no others do."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from requests_by_hand import array_of, request_of, use_of

from ptxaudit.engine.answer.kept import Move
from ptxaudit.hardware import machines
from ptxaudit.review.fix import searched
from ptxaudit.review.fix.layouts import SAME, Pad
from ptxaudit.review.fix.searched import Searched

HOPPER, AMPERE, KEPLER = (machines.get(name) for name in ("sm_90", "sm_80", "kepler-8byte"))
COLUMN, ROW = np.arange(32) * 128, np.arange(32) * 4
ARRAY = array_of(
    4096, use_of("st.shared.f32", request_of(ROW, weight=32)), use_of("ld.shared.f32", request_of(COLUMN, weight=32))
)
ASKED = {"machine": HOPPER, "array": ARRAY, "rows": (128,), "element": 4, "steps": (600_000, 40_000), "quick": True}


@pytest.fixture(autouse=True)
def nothing_known():
    searched.kept.clear()
    yield
    searched.kept.clear()


@pytest.fixture
def searches(monkeypatch) -> list[object]:
    """Every search that was made."""
    made = []

    class Counted(searched.Search):
        def found(self, quick=False):
            made.append(self)
            return super().found(quick)

    monkeypatch.setattr(searched, "Search", Counted)
    return made


def changed(requests_of_column) -> object:
    first, second = ARRAY.uses
    return replace(ARRAY, uses=(first, replace(second, requests=(requests_of_column,))))


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"machine": AMPERE},
        {"array": replace(ARRAY, name="other", variable="other", start=4096)},
        {"array": changed(replace(request_of(COLUMN, weight=32), variable="other", certain=False))},
        {"rows": [128]},
    ],
    ids=["itself", "a machine that counts alike", "its name", "its requests' name", "a list"],
)
def test_irrelevant_differences_share_one_search(searches, other) -> None:
    first, second = Searched(**ASKED), Searched(**{**ASKED, **other})
    assert first.found() == second.found() and len(searches) == 1
    assert any(f.layout == Pad(((128, 4),)) and f.figure.excess == 0 for f in second.found()[0])
    assert first.bounds == second.bounds
    assert sum(figure.excess for figure in second.under(Pad(((128, 4),)))) == 0


@pytest.mark.parametrize(
    "other",
    [
        {"machine": KEPLER},
        {"array": changed(request_of(COLUMN, weight=31))},
        {"array": changed(request_of(COLUMN))},
        {"array": changed(request_of(COLUMN // 2 * 2 % 2048, weight=32))},
        {"array": changed(request_of(COLUMN, np.arange(32) % 2 == 0, weight=32))},
        {"array": changed(request_of(COLUMN, weight=32, moves=[Move(4, 0, 3)]))},
        {"array": replace(ARRAY, size=8192)},
        {"array": replace(ARRAY, align=4)},
        {"rows": (256,)},
        {"element": 8},
        {"steps": (60_000, 40_000)},
        {"quick": False},
    ],
    ids=lambda other: next(iter(other)),
)
def test_relevant_differences_have_separate_searches(searches, other) -> None:
    for asked in (ASKED, {**ASKED, **other}):
        Searched(**asked).found()
    assert len(searches) == 2


def test_shared_search_orders_figures_by_its_uses(searches) -> None:
    """Columns of vectors: the stores are split in either order of the uses."""
    lanes = np.arange(32)
    stores = [request_of(128 * (4 * k + lanes // 8) + 16 * (lanes % 8), weight=1) for k in range(8)]
    loads = [request_of(128 * lanes + 4 * k, weight=1) for k in range(32)]
    uses = use_of("st.shared.v4.f32", *stores), use_of("ld.shared.f32", *loads)
    one, other = (
        Searched(**{**ASKED, "array": array_of(4096, *order), "quick": False}) for order in (uses, uses[::-1])
    )
    parts = {f.parts for f in one.found()[0]}
    assert (4, 0) in parts and {f.parts for f in other.found()[0]} == {p[::-1] for p in parts} and len(searches) == 1
    for mine, theirs in (((), ()), ((4, 0), (0, 4))):
        figures = one.under(SAME, mine)
        assert figures == other.under(SAME, theirs)[::-1] and len(set(figures)) == 2


def test_shared_results_equal_those_of_separate_searches() -> None:
    """Independent of earlier queries and their order."""
    others = [
        {},
        {"array": changed(request_of(COLUMN, weight=7))},
        {"machine": KEPLER},
        {"array": changed(request_of(COLUMN * 2 % 4096, weight=7))},
    ]
    alone = []
    for other in others:
        searched.kept.clear()
        one = Searched(**{**ASKED, **other})
        alone.append((one.found(), one.bounds, one.under(Pad(((128, 8),)))))
    for order in ([0, 1, 2, 3, 3, 2, 1, 0], [3, 0, 2, 1]):
        searched.kept.clear()
        for at in order:
            one = Searched(**{**ASKED, **others[at]})
            assert (one.found(), one.bounds, one.under(Pad(((128, 8),)))) == alone[at]


def test_abandoned_search_reports_its_steps() -> None:
    """Also when the same query is repeated; a completed search reports no number."""
    random = np.random.default_rng(5)
    requests = [request_of(random.integers(0, 2048, 32) * 4, weight=1) for _ in range(40)]
    array = array_of(8192, use_of("ld.shared.f32", *requests))
    asked = {**ASKED, "array": array, "quick": False}
    for _ in range(2):
        assert Searched(**{**asked, "steps": (20_000, 1_000)}).found()[1] == 21_000
    assert Searched(**ASKED).found()[1] is None
