"""A measured figure with its goal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure and its maximum, in the same unit."""

    name: str
    measured: float
    goal: float
    unit: str
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.measured / self.goal
