"""Sums that ptxas may contract with a product of their sources: rounded once or twice, so one of two or three floats.

    fadd.contracted(p, c, a, b)  with p = a · b rounded   ->  p + c, or a · b + c rounded once

Where these agree, as for products that are exact, the sum is known. The frontend names the factors of each source that
may be a product (`frontend.ptx.contraction`). Which of the numbers results is ptxas's choice, for each copy that it
makes of an instruction: equal sources need not give equal sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxaudit.engine.ops.approximate import not_one_number
from ptxaudit.engine.ops.floats import FLOATS
from ptxaudit.engine.ops.row import Row, Run


def _candidates(subtract: bool) -> Run:
    """attrs: (rounding, subnormals are zeros, saturated, whether the first source is a product, whether the second).

    Sources: the two of the sum, then two factors for each of them that is a product.
    """
    plain = FLOATS["fsub" if subtract else "fadd"].concrete
    fused, opposite = FLOATS["fma"].concrete, FLOATS["fneg"].concrete

    def run(
        bits: int, attrs: tuple[Any, ...], a: np.ndarray, b: np.ndarray, *factors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        *form, first, second = attrs
        numbers = [plain(bits, tuple(form), a, b)]
        if first:
            numbers.append(fused(bits, tuple(form), *factors[:2], opposite(bits, (), b) if subtract else b))
        if second:
            x, y = factors[-2:]
            numbers.append(fused(bits, tuple(form), opposite(bits, (), x) if subtract else x, y, a))
        shape = np.broadcast_shapes(*(n.shape for n in numbers))
        return np.stack([np.broadcast_to(n, shape) for n in numbers]), np.zeros(shape, bool)

    return run


CONTRACTED = {
    f"{name}.contracted": Row(not_one_number, "s*", candidates=_candidates(name == "fsub"), chosen=True)
    for name in ("fadd", "fsub")
}
