"""Parts of values with a few alternatives: events with outcomes, and the numbers for each combination of these.

`alternatives` computes with these values.
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
    """The numbers of a value, one for each combination of outcomes.

    bases: (K, rows, lanes), the last two possibly 1; K is the product of the axes' sizes, the first axis slowest.
    unknown: lanes whose number may be none of these, or None.
    """

    axes: tuple[Axis, ...]
    bases: np.ndarray
    unknown: np.ndarray | None
