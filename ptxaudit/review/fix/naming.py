"""Describes a layout in words, as a formula, and by its names in CuTe and Triton.

Xor(128; 4, 8, …)   "swizzle the bytes of each 128"   x ^ (((x / 128) << 2) & 124)   Swizzle<5, 2, 5> of bytes
"""

from __future__ import annotations

import re

from ptxaudit.review.fix.layouts import Chain, Layout, Order, Pad, Skew, Xor

_SIMPLE = re.compile(r"\w+|\w+(\.\w+)+")


def formula(layout: Layout) -> str:
    """The new place of byte x."""
    match layout:
        case Pad():
            return "x" + "".join(
                f" {'+' if more > 0 else '-'} {times_first(f'x / {row}', abs(more))}" for row, more in layout.rows
            )
        case Skew():
            return f"x / {layout.row} * {layout.row} + (x + x / {layout.row} * {layout.step}) % {layout.row}"
        case Xor():
            return "x" + "".join(f" ^ {masked(f'x / {layout.row}', shift, mask)}" for shift, mask in layout.runs)
        case Order():
            return (
                f"x % {layout.row} / {layout.unit} * {layout.column} + x / {layout.row} * {layout.unit} + x %"
                f" {layout.unit}"
            )
        case Chain():
            return formula(layout.second).replace("x", f"({formula(layout.first)})")
    return "x"


def masked(text: str, shift: int, mask: int) -> str:
    """(text shifted) & mask."""
    moved = text if shift == 0 else f"{term(text)} << {shift}" if shift > 0 else f"{term(text)} >> {-shift}"
    return f"({term(moved) if shift else term(moved)} & {mask})"


def index_cost(layout: Layout) -> int:
    """The approximate number of additional instructions per index; shifts and logic for powers of two."""
    match layout:
        case Pad():
            return 2 * len(layout.rows)
        case Xor():
            return sum(1 if shift == 0 else 2 for shift, _ in layout.runs)
        case Skew():
            return 2 if layout.row & layout.row - 1 == 0 else 4
        case Order():
            return 4
        case Chain():
            return index_cost(layout.first) + index_cost(layout.second)
    return 0


def cute_name(layout: Layout, element: int) -> str:
    """The equivalent CuTe layout, in elements; "" if there is none."""
    if isinstance(layout, Xor) and layout.cute:
        bits, base, shift = layout.cute
        of_element = (element & -element).bit_length() - 1
        return (
            f"Swizzle<{bits}, {base - of_element}, {shift}>"
            if base >= of_element and element & element - 1 == 0
            else ""
        )
    return ""


def triton_name(layout: Layout, element: int) -> str:
    """The equivalent Triton layout; "" if there is none."""
    if isinstance(layout, Pad) and len(layout.rows) == 1 and element:
        row, more = layout.rows[0]
        if more > 0 and row % element == 0 and more % element == 0 and row & row - 1 == 0:
            return f"PaddedSharedLayout with interval_padding_pairs [[{row // element}, {more // element}]]"
    if isinstance(layout, Xor) and layout.cute and element and layout.row % element == 0:
        bits, base, _ = layout.cute
        first = next(k for k, image in enumerate(layout.images) if image)
        if (1 << base) % element == 0:
            return (
                f"SwizzledSharedLayout(vec={(1 << base) // element}, per_phase={1 << first}, max_phase={1 << bits},"
                " order=[1, 0])"
            )
    return ""


def in_words(layout: Layout) -> str:
    """A layout in words."""
    match layout:
        case Pad():
            return " and ".join(
                f"add {more} bytes after each {row}" if more > 0 else f"cut each {row} bytes to {row + more}"
                for row, more in layout.rows
            )
        case Skew():
            return f"rotate each {layout.row} bytes by {layout.step} more than the ones before"
        case Xor():
            return f"swizzle the bytes of each {layout.row}"
        case Order():
            return f"exchange rows of {layout.row} bytes with columns of {layout.unit}"
        case Chain():
            return f"{in_words(layout.first)} and {in_words(layout.second)}"
    return ""


def of_elements(layout: Layout, element: int) -> Layout | None:
    """The same map in units of elements; None if it moves parts of elements."""
    match layout:
        case Pad() if all(row % element == 0 and more % element == 0 for row, more in layout.rows):
            return Pad(tuple((row // element, more // element) for row, more in layout.rows))
        case Skew() if layout.row % element == 0 and layout.step % element == 0:
            return Skew(layout.row // element, layout.step // element)
        case Xor() if not element & element - 1 and layout.keeps(element):  # XOR does not commute with other factors
            return Xor(layout.row // element, tuple(image // element for image in layout.images))
        case Order() if layout.row % element == 0 and layout.unit % element == 0 and layout.more % element == 0:
            return Order(layout.row // element, layout.rows, layout.unit // element, layout.more // element)
        case Chain():
            first, second = of_elements(layout.first, element), of_elements(layout.second, element)
            return Chain(first, second) if isinstance(first, Pad) and isinstance(second, Xor) else None
    return None


def term(text: str) -> str:
    """An expression as an operand: in brackets unless it is simple or already bracketed."""
    return text if _SIMPLE.fullmatch(text) or bracketed(text) else f"({text})"


def bracketed(text: str) -> bool:
    """The first bracket closes at the end."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text.startswith("(") and at == len(text) - 1
    return False


def times(text: str, number: int) -> str:
    return term(text) if number == 1 else f"{term(text)} * {number}"


def over(text: str, number: int) -> str:
    return term(text) if number == 1 else f"{term(text)} / {number}"


def times_first(text: str, number: int) -> str:
    return text if number == 1 else f"{text} * {number}"
