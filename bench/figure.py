"""What a figure is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure and what it may be at most, in the same unit."""

    name: str
    measured: float
    goal: float
    unit: str
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.measured / self.goal
