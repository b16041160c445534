"""Special registers that hold a part of where a state space begins among generic addresses; of the parameters, where
the first one lies.
"""

from __future__ import annotations

WINDOWS = {
    f"{space}_window_{end}": (space, part)
    for space in ("shared", "local", "param")
    for end, part in (("lo", "low"), ("hi", "high"))
}
"""The register -> (state space, which half of the address)."""
