"""Which lanes hold equal values even where these are unknown: an operation yields equal results for equal sources.

    p = 8·(lane mod 8) < d       unknown, but equal in lanes 0, 8, 16 and 24, in lanes 1, 9, 17 and 25, …

So if a predicate decides which lanes are active, they are active by whole classes: all lanes of a class, or none. (A
partition of the lanes, which operations refine: value numbering of lanes instead of expressions; Alpern, Wegman,
Zadeck: "Detecting equality of variables in programs", POPL 1988.)

Classes are an array (rows, lanes) with the first lane of each lane's class; it has one column if all lanes are in one
class. None means unknown: any two lanes may differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from ptxaudit.engine.domain.lanes import first_active
from ptxaudit.engine.domain.value import Value, as_uniform
from ptxaudit.ir.nodes import Op

Classes = np.ndarray | None

MOST_ROWS = 128  # warps whose lanes are partitioned; for more, the classes are unknown

WHOLE = np.zeros((1, 1), np.uint8)
WHOLE.setflags(write=False)


def classes_of(value: Value) -> Classes:
    """The classes of a value's lanes.

    For an unknown value, those found where it was computed; otherwise, lanes with equal bases and equal coefficients
    of each unknown.
    """
    if value.classes is not None:
        return value.classes
    if type(value) is not Value or value.poison is not None or value.valid is not None:
        return None
    return _partition([value.base, *(c for _, c in value.terms)])


def refined(*several: Classes) -> Classes:
    """The common refinement: lanes that are in one class of each argument."""
    wide: list[np.ndarray] = []
    for classes in several:
        if classes is None:
            return None
        if classes.shape[1] > 1 and not any(classes is other for other in wide):
            wide.append(classes)
    return WHOLE if not wide else wide[0] if len(wide) == 1 else _partition(wide)


def of_result(out: Value, sources: Sequence[Value]) -> None:
    """Records which lanes of an unknown result are equal, given the classes of its sources."""
    if type(out) is not Value or out.poison is None or out.classes is not None:
        return
    for source in sources:
        if source.poison is not None and source.classes is None or source.valid is not None:
            return
    out.classes = refined(*(classes_of(source) for source in sources))


def of_equality(op: Op, a: Value, b: Value) -> bool:
    """Whether `lane == n` holds in at most one lane whatever n is, because each lane has a different number."""
    if a.bits != op.bits or b.bits != op.bits:
        return False
    return any(_all_apart(x) and as_uniform(y) is not None for x, y in ((a, b), (b, a)))


def _all_apart(value: Value) -> bool:
    """Whether all lanes of each warp hold different numbers."""
    if value.poison is not None or value.valid is not None or value.base.shape[1] == 1 or len(value.base) > MOST_ROWS:
        return False
    if any(c.shape[1] > 1 for _, c in value.terms):
        return False
    ordered = np.sort(value.base, axis=1)
    return bool((ordered[:, 1:] != ordered[:, :-1]).all())


def _partition(arrays: list[np.ndarray]) -> Classes:
    """Classes of lanes with equal elements in all arrays."""
    wide = [array for array in arrays if array.shape[1] > 1]
    if not wide:
        return WHOLE
    if max(len(array) for array in wide) > MOST_ROWS:
        return None
    return _of_bytes(tuple((array.tobytes(), array.shape, array.dtype.str) for array in wide))


@lru_cache(1 << 10)
def _of_bytes(arrays: tuple[tuple[bytes, tuple[int, int], str], ...]) -> np.ndarray:
    alike: np.ndarray | None = None
    for data, shape, dtype in arrays:
        array = np.frombuffer(data, dtype).reshape(shape)
        same = array[:, :, None] == array[:, None, :]
        alike = same if alike is None else alike & same
    assert alike is not None  # there is at least one array
    first: np.ndarray = alike.argmax(axis=2).astype(np.uint8)
    first.setflags(write=False)
    return first


def one_by_one(mask: np.ndarray, classes: np.ndarray) -> Iterator[np.ndarray]:
    """Yields masks (rows, lanes), each with one class per row, until they cover the mask."""
    left = mask.copy()
    while left.any():
        now = left & (classes == first_active(classes, left))
        yield now
        left &= ~now
