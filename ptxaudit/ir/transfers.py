"""The table of control transfers and their successors, used by the graph and both engines.

kind      lanes whose guard is true go to            the others
branch    its target                                 the next instruction
switch    the target that the lane's selector names
call      its target, and return after the call      the next instruction
ret       the call, or end in a kernel               the next instruction
exit      nowhere: they end                          the next instruction
others    the next instruction, after any wait       the next instruction
"""

from __future__ import annotations

from ptxaudit.ir.nodes import RUNTIME, Control

ENDS, RETURNS, ON = -1, -2, -3  # in place of an instruction


def is_unresolved(control: Control | None) -> bool:
    """Whether it is an unmodelled call to the program's own code: lanes may exit in it, or return diverged."""
    return control is not None and control.kind == "call" and not control.targets and control.callee not in RUNTIME


def taken(control: Control) -> tuple[int, ...]:
    """The successors of lanes whose guard is true: instructions of the function, ENDS, RETURNS or ON.

    () if they are unknown; if there are several, each lane takes one.
    """
    match control.kind:
        case "branch" | "switch":
            return control.targets
        case "exit":
            return (ENDS,)
        case "ret":
            return (RETURNS,)
        case "call":
            return (ENDS, ON) if is_unresolved(control) else control.targets or (ON,)
    return (ON,)
