"""What values with a few alternatives are made of (`alternatives` computes with them): events with a few outcomes, and
the numbers of a value in each combination of them.
"""

from __future__ import annotations

from itertools import count

import numpy as np
from msgspec import field

from ptxaudit.base.records import Record

_serial = count()


class Axis(Record):
    """One event with `size` outcomes. uniform: all lanes of a row have the same outcome."""

    size: int
    uniform: bool
    serial: int = field(default_factory=lambda: next(_serial))


class Alternatives(Record, eq=False):
    """bases: (K, rows, lanes), or fewer of the last two; K is the product of the axes' sizes, the first axis slowest.
    lost: lanes whose number may be none of these, or None."""

    axes: tuple[Axis, ...]
    bases: np.ndarray
    unknown: np.ndarray | None
