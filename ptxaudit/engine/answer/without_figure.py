"""Requests of a site that have no figure of their own: they go elsewhere, partly so, or nobody knows where to."""

from __future__ import annotations

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.ir.reasons import Reason


class Elsewhere(Record):
    """Issues of a generic access that go to other memory than shared."""

    record: SiteRecord

    def add(self, weights: np.ndarray, active: np.ndarray, times: int = 1) -> None:
        self.record.elsewhere += int(weights.sum()) * times
        self.record.elsewhere_active += int(active.sum()) * times


class Mixed(Record):
    """Requests of a generic access that go to shared memory in some of their lanes only. more: (n,) wavefronts that the
    others may add.
    """

    record: SiteRecord

    def add(self, weights: np.ndarray, more: np.ndarray, times: int = 1) -> None:
        self.record.mixed += int((weights * more).sum()) * times
        self.record.mixed_most = max(self.record.mixed_most, int(more[weights > 0].max(initial=0)))


class Nowhere(Record):
    """Requests with known lanes whose addresses are not known."""

    record: SiteRecord

    def add(
        self, active: np.ndarray, weights: np.ndarray, reason: Reason, most: np.ndarray | None, times: int = 1
    ) -> None:
        self.record.add_unknown(active, weights * times, reason, most)
