"""Special registers that hold a part of where a state space begins among generic addresses."""

from __future__ import annotations

WINDOWS = {
    f"{space}_window_{end}": (space, part)
    for space in ("shared", "local")
    for end, part in (("lo", "low"), ("hi", "high"))
}
"""The register -> (state space, which half of the address)."""
