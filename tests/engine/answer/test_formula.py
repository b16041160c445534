"""Numbers per lane as text: sums over groups of lane bits, and numbers that are not such sums."""

import warnings

import pytest

from ptxaudit.engine.answer.formula import _lanes

MOST, LEAST = (1 << 63) - 1, -(1 << 63)


@pytest.mark.parametrize(
    "numbers, text",
    [
        ([7] * 32, "7"),
        ([4 * lane for lane in range(32)], "4*lane"),
        ([4 * (lane % 8) + 16 for lane in range(32)], "4*(lane%8) + 16"),
        ([lane // 8 * 128 for lane in range(32)], "128*(lane/8)"),
        ([((lane ^ lane >> 2) & 3) * 4 for lane in range(32)], "4*b0 ^ 8*b1 ^ 4*b2 ^ 8*b3  (b0…b4: the lane's bits)"),
        ([lane % 2 * 3 - 1 for lane in range(32)], "3*(lane%2) + -1"),
        ([MOST, LEAST] * 16, f"{LEAST - MOST}*(lane%2) + {MOST}"),
        ([lane * lane for lane in range(32)], "{" + ", ".join(str(n * n) for n in range(32)) + "}[lane]"),
    ],
)
def test_formula_of_numbers_by_lane(numbers, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _lanes(numbers) == text


def test_formula_of_extreme_64_bit_numbers_does_not_wrap():
    """The step from one end to the other needs 65 bits."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _lanes([0, MOST, LEAST, 5] * 8).endswith("[lane]")
