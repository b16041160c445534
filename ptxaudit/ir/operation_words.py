"""Words for operations in reasons, as CUDA programmers use them.

    min.s      the minimum             setp.lt.u     the comparison <
    lop3       the bitwise operation           fsetp.neu     the comparison !=

An operation without an entry here is called by its name.
"""

from __future__ import annotations

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OF_STEM = {
    **dict.fromkeys(("add", "add3", "fadd"), "the sum"),
    **dict.fromkeys(("sub", "fsub", "sad"), "the difference"),
    **dict.fromkeys(("mul", "mulwide", "fmul"), "the product"),
    **dict.fromkeys(("mad", "madwide", "fma"), "the multiply-add"),
    "mulhi": "the upper half of the product",
    **dict.fromkeys(("div", "fdiv"), "the quotient"),
    "rem": "the remainder",
    **dict.fromkeys(("neg", "fneg"), "the negation"),
    **dict.fromkeys(("abs", "fabs"), "the absolute value"),
    **dict.fromkeys(("min", "fmin"), "the minimum"),
    **dict.fromkeys(("max", "fmax"), "the maximum"),
    "and": "the &",
    "or": "the |",
    "xor": "the ^",
    "not": "the ~",
    "lop3": "the bitwise operation",
    "shl": "the <<",
    "shr": "the >>",
    "shf": "the funnel shift",
    **dict.fromkeys(("bfe", "bfi"), "the bit field"),
    **dict.fromkeys(("extract", "trunc"), "the lower or upper part"),
    **dict.fromkeys(("zext", "sext", "szext"), "the conversion"),
    **dict.fromkeys(("i2f", "f2i", "f2f"), "the conversion"),
    **dict.fromkeys(("bfind", "clz"), "the position of the highest bit"),
    "popc": "the population count",
    "brev": "the bit reversal",
    "prmt": "the byte permutation",
    "select": "the selection",
}


def called(operation: str) -> str:
    """The words for an operation of the intermediate representation."""
    stem, _, kind = operation.partition(".")
    if stem in ("setp", "fsetp"):
        sign = _COMPARED.get(kind.partition(".")[0].removesuffix("u"))
        return f"the comparison {sign}" if sign else "the comparison"
    return _OF_STEM.get(stem, operation)
