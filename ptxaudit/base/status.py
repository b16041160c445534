"""How much is known of a site: the word that the engine finds, and that the report, the rules and the gate read."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """From all to nothing."""

    EXACT = "exact"
    INVARIANT = "invariant"
    CONDITIONAL = "conditional"
    BOUNDED = "bounded"
    DATA_DEPENDENT = "data-dependent"
    UNREACHED = "unreached"
    UNKNOWN = "unknown"
