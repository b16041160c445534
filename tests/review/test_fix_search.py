"""The optimum that the search reports is one: compared with exhaustive search, on small families."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from requests_by_hand import array_of, request_of, use_of

from ptxaudit.base.work import Account
from ptxaudit.hardware import machines
from ptxaudit.review.fix.cost import Costs
from ptxaudit.review.fix.layouts import SAME, Order, Pad, Skew, Xor
from ptxaudit.review.fix.linear import best_map
from ptxaudit.review.fix.search import Search

MACHINE = machines.get("sm_90")
LINE = 128
FREE = lambda: Account(None)


@st.composite
def uses(draw, unit: int, size: int):
    """Sites with requests that are affine over GF(2), linear in the lane, or irregular."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    lanes = np.arange(32)
    out = []
    for _ in range(draw(st.integers(1, 3))):
        opcode, width = draw(
            st.sampled_from(
                [
                    (op, w)
                    for op, w in (
                        ("ld.shared.f32", 4),
                        ("st.shared.f32", 4),
                        ("ld.shared.v2.f32", 8),
                        ("st.shared.v4.f32", 16),
                        ("ld.shared.v4.f32", 16),
                    )
                    if w <= unit
                ]
            )
        )
        requests = []
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(st.sampled_from(("subspace", "stride", "any")))
            if kind == "subspace":
                images = random.integers(0, size // width, 5) * width
                offsets = np.full(32, int(random.integers(0, size // width)) * width)
                for bit, image in enumerate(images):
                    offsets ^= (lanes >> bit & 1) * image
            elif kind == "stride":
                offsets = (int(random.integers(0, 9)) + lanes * int(random.integers(1, 40))) * width % size
            else:
                offsets = random.integers(0, size // width, 32) * width
            active = random.random(32) < draw(st.sampled_from((1.0, 0.7)))
            active[0] = True
            requests.append(
                request_of(offsets % size // width * width, active=active, weight=int(random.integers(1, 5)))
            )
        out.append(use_of(opcode, *requests))
    return out


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_best_linear_swizzle_equals_exhaustive_search(data) -> None:
    unit, bits = data.draw(st.sampled_from(((16, 3), (32, 4), (16, 2), (8, 2))))
    row = data.draw(st.sampled_from((128, 192))) if unit == 16 else 128
    size = row << bits
    made = data.draw(uses(min(unit, 16), size))
    costs = Costs(MACHINE, made)
    low = min(row & -row, LINE)
    every = [Xor(row, images) for images in itertools.product(range(0, low, unit), repeat=bits)]
    best = min(figure.weight for at in range(0, len(every), 64) for figure in costs.totals(every[at : at + 64]))
    now = costs.total(SAME).weight
    found, whole = best_map(costs, Xor(row, ()), unit, LINE, bits, costs.least(min(unit, 16)), now, FREE())
    assert whole
    assert best == (now if found is None else costs.total(found).weight)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_member_of_a_searched_family_is_better(data) -> None:
    """Paddings and skews beyond those that the search tries, and all orders of a row: none beats the result."""
    unit = data.draw(st.sampled_from((4, 8, 16)))
    row = unit * data.draw(st.integers(3, 20))
    size = row * 16
    array = array_of(size, *data.draw(uses(unit, size)))
    search = Search(MACHINE, array, [row], unit, (row,), account=FREE())
    found = [*search._pads(), *search._skews(), *search._orders()]  # other families may take minutes without a limit
    width = array.width
    families = {  # members that move whole elements
        "pad": [Pad(((row, more),)) for more in range(unit, 5 * LINE, unit)],
        "skew": [Skew(row, step) for step in range(unit, row, unit)],
        "order": [Order(row, 16, unit, more) for more in range(0, 3 * LINE, unit)],
    }
    for kind, members in families.items():
        mine = [f for f in found if f.layout.kind == kind and not any(f.parts)]
        best = min((f.figure.weight for f in mine), default=search.now.weight)
        if kind == "skew" and row > LINE:  # not all are tried, and none is claimed to be the best
            assert not any(f.whole for f in mine)
            continue
        assert all(f.whole for f in mine)
        alike: dict[int | None, list] = {}  # members with equal periods are scored together
        for member in filter(lambda member: member.keeps(width), members):
            alike.setdefault(search.costs._period(member), []).append(member)
        for group in alike.values():
            for at in range(0, len(group), 64):
                for member, figure in zip(group[at : at + 64], search.costs.totals(group[at : at + 64])):
                    assert figure.weight >= best, member
    for f in (*found, *Search(MACHINE, array, [row], unit, (row,)).found()):
        costs = Costs(MACHINE, array.uses, parts=f.parts)
        assert costs.total(f.layout) == f.figure
        assert f.figure.weight < search.now.weight or any(f.parts)
        if f.floor and not any(f.parts):
            assert f.figure.weight <= search.floor.weight


@pytest.mark.parametrize(
    ("element", "rows", "columns", "free"),
    [(4, 32, 32, True), (8, 16, 16, True), (4, 16, 16, True), (2, 64, 64, True), (16, 8, 8, True)],
)
def test_square_tiles_have_a_layout_without_conflicts(element, rows, columns, free) -> None:
    """Rows written, columns read, one warp at a time."""
    row = element * columns
    opcode = {2: "u16", 4: "f32", 8: "f64", 16: "v4.f32"}[element]
    lanes = np.arange(32)

    def warps(across, down):
        threads = rows * columns
        return [
            request_of((start + lanes) % columns * across + (start + lanes) // columns * down, weight=1)
            for start in range(0, threads, 32)
        ]

    array = array_of(
        row * rows,
        use_of(f"st.shared.{opcode}", *warps(element, row)),
        use_of(f"ld.shared.{opcode}", *warps(row, element)),
    )
    search = Search(MACHINE, array, [row, LINE], element, (row,))
    assert search.now.excess > 0
    assert any(f.figure.excess == 0 and f.floor for f in search.found()) == free


def test_exhausted_search_claims_no_optimum() -> None:
    random = np.random.default_rng(5)
    requests = [request_of(random.integers(0, 2048, 32) * 4, weight=1) for _ in range(40)]
    array = array_of(8192, use_of("ld.shared.f32", *requests))
    search = Search(MACHINE, array, [128, 512], 4, (128,), account=Account(20_000))
    assert not any(f.whole for f in search.found() if f.layout.kind == "swizzle" and not f.floor)


def test_search_takes_a_deterministic_number_of_steps() -> None:
    random = np.random.default_rng(6)
    requests = [request_of(random.integers(0, 2048, 32) * 4, weight=1) for _ in range(20)]
    array = array_of(8192, use_of("ld.shared.f32", *requests))
    spent = []
    for _ in range(2):
        search = Search(MACHINE, array, [128, 512], 4, (128,))
        search.found()
        spent.append(search.account.spent)
    assert spent[0] == spent[1] > 0
