"""Special registers that hold a part of the base of a state space among generic addresses.

For parameters, the base is the address of the first one.
"""

from __future__ import annotations

from ptxaudit.ir.nodes import Function, Special

WINDOWS = {
    f"{space}_window_{end}": (space, part)
    for space in ("shared", "local", "param")
    for end, part in (("lo", "low"), ("hi", "high"))
}
"""Register -> (state space, half of the address)."""


def makes_addresses_of(function: Function, space: str) -> bool:
    """Whether the function computes generic addresses of a state space."""
    return any(
        op.name == "cvta"
        and op.attrs[:1] == (space,)
        or any(isinstance(s, Special) and WINDOWS.get(s.name, ("", ""))[0] == space for s in op.src)
        for i in function.instructions
        for op in i.ops
    )
