"""Layouts are one-to-one, have the stated period, and keep the vectors that they claim to keep; costs and bounds hold
for any layout.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from requests_by_hand import array_of, request_of, use_of

from ptxaudit.engine.answer.kept import Move
from ptxaudit.hardware import machines
from ptxaudit.review.fix.cost import Costs, NotProvable
from ptxaudit.review.fix.layouts import SAME, Chain, Order, Pad, Skew, Xor, one_to_one
from ptxaudit.review.fix.naming import of_elements
from ptxaudit.review.fix.search import Search

MACHINE = machines.get("sm_90")
UNITS = st.sampled_from((4, 8, 16))


@st.composite
def layouts(draw):
    """(layout, bytes of an array, bytes of the vectors that it is meant to keep)."""
    unit = draw(UNITS)
    columns, rows = draw(st.integers(2, 40)), draw(st.integers(2, 24))
    row = unit * columns
    kind = draw(st.sampled_from(("pad", "planes", "skew", "xor", "order", "chain")))
    low = row & -row
    images = tuple(draw(st.lists(st.integers(0, low // unit - 1), max_size=5))) if low > unit else ()
    layout = {
        "pad": lambda: Pad(((row, unit * draw(st.integers(0, 9))),)),
        "planes": lambda: Pad(((row, unit * draw(st.integers(0, 9))), (2 * row, unit * draw(st.integers(0, 9))))),
        "skew": lambda: Skew(row, unit * draw(st.integers(0, columns - 1))),
        "xor": lambda: Xor(row, tuple(unit * image for image in images)),
        "order": lambda: Order(row, rows, unit, unit * draw(st.integers(0, 5))),
        "chain": lambda: Chain(
            Pad(((row, (unit << (columns - 1).bit_length()) - row),)),
            Xor(unit << (columns - 1).bit_length(), (unit, 0, unit)),
        ),
    }[kind]()
    return layout, row * rows, unit


@settings(max_examples=150, deadline=None)
@given(layouts())
def test_layouts_are_one_to_one_and_keep_vectors(made) -> None:
    layout, size, unit = made
    assert one_to_one(layout, size)
    assert layout.keeps(unit)
    starts = np.arange(0, size, unit)
    places = layout.place(starts)
    assert not (places % unit).any()
    for at in range(unit):
        assert (layout.place(starts + at) == places + at).all()
    assert len(set(layout.place(np.arange(size)).tolist())) == size  # the same check in full


@settings(max_examples=150, deadline=None)
@given(layouts())
def test_layout_repeats_after_its_period(made) -> None:
    layout, size, _ = made
    if layout.period is None:
        return
    offsets = np.arange(0, size, 4)
    shift = layout.place(offsets + layout.period) - layout.place(offsets)
    assert (shift == shift[0]).all()


def test_rows_may_be_shortened_to_their_used_part() -> None:
    layout = Pad(((68, -4),))
    assert one_to_one(layout, 68 * 16) and layout.size(68 * 16) == 1024
    assert layout.moved(np.array([60, 64, 67, 68])).tolist() == [True, False, False, True]
    assert layout.place(np.array([68, 136])).tolist() == [64, 128]


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        (Pad(((64, -64),)), "every row at the same place"),
        (Order(64, 8, 4), "a ninth row lies where the second column is"),
    ],
)
def test_layout_that_is_not_one_to_one_is_detected(layout, why) -> None:
    assert not one_to_one(layout, 64 * 9) or layout.size(64 * 9) == 0


@pytest.mark.parametrize(
    ("row", "images", "cute"),
    [
        (128, (4, 8, 16, 32, 64), (5, 2, 5)),
        (128, (16, 32, 64), (3, 4, 3)),
        (64, (0, 16, 32), (2, 4, 3)),
        (64, (0, 0, 8), None),  # distance 5 of 1 bit: Swizzle<1, 3, 5>
        (128, (4, 16), None),
        (96, (4, 8), None),
        (64, (32,), (1, 5, 1)),
    ],
)
def test_cute_swizzles_are_named(row, images, cute) -> None:
    layout = Xor(row, images)
    if row == 64 and images == (0, 0, 8):
        cute = (1, 3, 5)
    assert layout.cute == cute
    if cute is not None:  # CuTe: x ^ ((x & yyy_mask) >> S), with yyy_mask = (2**B − 1) << (M + S)
        bits, base, shift = cute
        offsets = np.arange(0, 1 << 13, 4)
        mask = ((1 << bits) - 1) << (base + shift)
        assert (layout.place(offsets) == offsets ^ ((offsets & mask) >> shift)).all()


# --- costs --------------------------------------------------------------------------------------


def test_cost_at_an_unknown_stage_covers_every_residue() -> None:
    """A column of 32 rows of 128 bytes, at an unknown multiple of 64 bytes: padding is proved for both residues."""
    column = [128 * lane for lane in range(32)]
    use = use_of("ld.shared.f32", request_of(column, moves=(Move(64, None, None),)))
    costs = Costs(MACHINE, [use])
    assert not costs.counted
    assert costs.total(SAME).high == 32
    assert costs.total(Pad(((128, 4),))).high == 1
    # rows of 96 bytes: at multiples of 64 the column starts at byte 0, 64 or 32 of a row
    assert costs.total(Xor(128, (4, 8, 16, 32, 64))).high == 1
    with pytest.raises(NotProvable):
        costs.total(Order(128, 32, 4))  # it is not periodic, and the unknown part is unbounded


def test_trips_are_weighted_by_their_frequency() -> None:
    """Seven trips 32 bytes apart: with a swizzle of rows of 128 bytes some cost 2 and some 1; each counts as often as
    it occurs.
    """
    lanes = [4 * lane for lane in range(32)]
    moving = use_of("ld.shared.f32", request_of(lanes, weight=7, moves=(Move(32, 0, 6, every=True),)))
    apart = use_of(
        "ld.shared.f32", *(request_of([32 * k + 4 * lane for lane in range(32)], weight=1) for k in range(7))
    )
    for layout in (Xor(128, (64,)), Pad(((128, 16),)), Skew(128, 4)):
        assert Costs(MACHINE, [moving]).total(layout) == Costs(MACHINE, [apart]).total(layout)


def test_cost_that_depends_on_an_unknown_is_a_range() -> None:
    lanes = [4 * lane for lane in range(32)]
    use = use_of("ld.shared.f32", request_of(lanes, weight=10, moves=(Move(64, 0, 1),)))
    figure = Costs(MACHINE, [use]).total(
        Pad(((128, 64),))
    )  # from 64 on, half of the lanes are after the padding: words 0 and 32 conflict
    assert (figure.low, figure.high) == (10, 20)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_permutation_of_vectors_goes_below_the_bound(data) -> None:
    """Any one-to-one map of 16-byte vectors, not only those of the families."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    unit = data.draw(st.sampled_from((4, 8, 16)))
    count = 4096 // unit
    opcodes = [
        op
        for op, width in (
            ("ld.shared.f32", 4),
            ("st.shared.v2.f32", 8),
            ("ld.shared.v4.f32", 16),
            ("atom.shared.add.u32", 4),
            ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", 16),
        )
        if width <= unit
    ]
    uses = []
    for opcode in opcodes:
        use = use_of(opcode)
        width = use.access.width
        active = np.ones(32, bool) if "matrix" in opcode else random.random(32) < 0.8
        active[0] = True
        column = random.integers(0, unit // width)
        offsets = unit * random.integers(0, count, 32) + width * (
            column if data.draw(st.booleans()) else random.integers(0, unit // width, 32)
        )
        uses.append(use_of(opcode, request_of(offsets, active=active, weight=1)))
    costs = Costs(MACHINE, uses)
    floor = costs.least(unit)
    permutation = random.permutation(count)

    class Shuffled:
        kind, period = "shuffled", None

        def place(self, offsets):
            return permutation[np.clip(offsets // unit, 0, count - 1)] * unit + offsets % unit

    now = costs.total(Shuffled())
    assert now.low >= floor.low and now.high >= floor.high and now.ideal == floor.ideal
    assert costs.total(SAME).low >= floor.low


def test_vector_bound_is_attained_only_by_narrower_stores() -> None:
    """Rows of 32 floats stored by float4, a column read by float: eight slots of 16 bytes for 32 rows, a 4-way conflict
    at best.
    """
    stores = [
        request_of([128 * (4 * k + lane // 8) + 16 * (lane % 8) for lane in range(32)], weight=1) for k in range(8)
    ]
    loads = [request_of([128 * lane + 4 * k for lane in range(32)], weight=1) for k in range(32)]
    array = array_of(4096, use_of("st.shared.v4.f32", *stores), use_of("ld.shared.f32", *loads))
    search = Search(MACHINE, array, [128], 4, (128,))
    assert search.now.excess == 32 * 31 and search.floor.low == 8 * 4 + 32 * 4
    found = search.found()
    kept = [f for f in found if not any(f.parts)]
    assert min(f.figure.low for f in kept) == search.floor.low and any(f.floor for f in kept)
    narrow = [f for f in found if any(f.parts)]
    assert min(f.figure.low for f in narrow) == 8 * 4 + 32  # four stores of a float, columns without a conflict


@settings(max_examples=200, deadline=None)
@given(layouts(), st.sampled_from((1, 2, 4, 8, 12, 16, 20, 24)))
def test_element_map_equals_the_byte_layout(made, element):
    layout, size, _ = made
    scaled = of_elements(layout, element)
    if scaled is not None:
        elements = np.arange(size // element)
        assert (layout.place(elements * element) == scaled.place(elements) * element).all()


def test_byte_swizzle_may_split_12_byte_elements():
    """24 ^ 12 is 20: a swizzle by 12 splits elements of three words."""
    layout = Xor(384, (12,))
    assert layout.keeps(4) and of_elements(layout, 12) is None and of_elements(layout, 4) == Xor(96, (3,))
