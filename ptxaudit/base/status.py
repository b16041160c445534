"""How much is known about a site: determined by the engine, read by the report, the rules and the gate."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """From complete knowledge to none."""

    EXACT = "exact"
    INVARIANT = "invariant"
    CONDITIONAL = "conditional"
    BOUNDED = "bounded"
    DATA_DEPENDENT = "data-dependent"
    UNREACHED = "unreached"
    UNKNOWN = "unknown"
