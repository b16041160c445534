"""Atomic operations on words whose content is known: the content afterwards, where it does not depend on their order.

    red.add [w], 1   by all lanes of three warps      w + 96, in whatever order
    red.inc [w], 5   twice                            the same function twice, in either order
    red.add [w], 1;  red.max [w], 9                   depends on the order, if they have none

Two operations commute if both are sums, or both minima (of one signedness), …, or if they are the same function: then
`number` names them. Source: PTX ISA, "atom".
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import DTYPES
from ptxaudit.ir.nodes import Op

WIDTHS = (4, 8)  # bytes of the words
PLAIN, MIXED = range(2)  # numbers: of a byte that only stores wrote, or operations that do not commute

_COMMUTE: dict[str, np.ufunc] = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
    "min.s": np.minimum,
    "max.s": np.maximum,
}
_AROUND = ("inc", "dec")  # they start again at a limit
_OPERANDS = dict.fromkeys((*_COMMUTE, *_AROUND, "exch"), 1) | {"cas": 2}
_SIGNED = {4: np.int32, 8: np.int64}
_NUMBERS = {(kind, size): at for at, (kind, size) in enumerate(((k, s) for k in _COMMUTE for s in WIDTHS), MIXED + 1)}
_AROUND_FIRST = MIXED + 1 + len(_NUMBERS)
MOST_LIMITS = 1000  # numbers of `inc` and `dec` with different limits


def operands_of(op: Op) -> int:
    """How many operands an atomic operation on words has besides its address; 0: its effect is not modelled."""
    return _OPERANDS.get(op.attrs[0], 0) if op.name == "atom" and op.attrs else 0


class Update(Record):
    """An atomic operation of one instruction, on words of `size` bytes. number: of those with which it commutes."""

    kind: str
    size: int
    number: int

    def together(
        self, operands: np.ndarray, sure: np.ndarray, first: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the lanes of each word do to it in any order: (operands, whether they are known, how often).

        operands: (m, 1 or 2) of lanes, sorted by word; first: (w,) where the lanes of each word begin.
        """
        count = np.diff(np.append(first, len(operands)))
        sure = np.logical_and.reduceat(sure, first)
        if self.kind in _COMMUTE:
            own = self._own(operands)
            return self._own(_COMMUTE[self.kind].reduceat(own, first, dtype=own.dtype)), sure, count
        low, high = (f.reduceat(operands, first) for f in (np.minimum, np.maximum))
        alike = (low == high).all(axis=1)
        return operands[first], sure & (alike if self.kind != "cas" else count == 1), count

    def applied(self, old: np.ndarray, operands: np.ndarray, count: np.ndarray) -> np.ndarray:
        """The words afterwards: (w,). count: how often each operation is performed."""
        first = operands[:, 0]
        if self.kind in _COMMUTE:
            new: np.ndarray = _COMMUTE[self.kind](self._own(old), self._own(first))
            return new.view(old.dtype)
        if self.kind == "exch":
            return first
        if self.kind == "cas":
            return np.where(old == first, operands[:, 1], old)
        return self._around(old, first, count)

    def _around(self, old: np.ndarray, limit: np.ndarray, count: np.ndarray) -> np.ndarray:
        """Modulo limit + 1; above the limit, `inc` begins at 0, and `dec` at the limit."""
        now, top, times = old.astype(np.int64), limit.astype(np.int64), count.astype(np.int64)
        beyond = now > top
        times = times - beyond
        now = np.where(beyond, 0 if self.kind == "inc" else top, now)
        moved = now + times if self.kind == "inc" else now - times
        return (moved % (top + 1)).astype(old.dtype)

    def _own(self, words: np.ndarray) -> np.ndarray:
        """The words as numbers of the operation's sign, and back."""
        if not self.kind.endswith(".s"):
            return words
        signed = _SIGNED[self.size]
        return words.view(DTYPES[self.size * 8] if words.dtype == signed else signed)


class Updates:
    """Makes the updates of a run. Operations around a limit commute if they have the same one."""

    def __init__(self) -> None:
        self._limits: dict[tuple[str, int], int] = {}

    def of(self, op: Op, size: int, operands: np.ndarray, sure: np.ndarray) -> Update:
        """A modelled operation on words of `size` bytes by lanes with these operands (m, …), if `sure` (m,)."""
        kind = op.attrs[0]
        number = _NUMBERS.get((kind, size), MIXED)
        limits = distinct(operands[sure, 0]).tolist() if kind in _AROUND else []
        if len(limits) == 1 and len(self._limits) < MOST_LIMITS:
            number = self._limits.setdefault((kind, limits[0]), _AROUND_FIRST + len(self._limits))
        return Update(kind, size, number)
