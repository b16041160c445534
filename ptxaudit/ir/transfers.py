"""Where each transfer of control leads: one table, for the graph and for both engines.

kind      lanes in which its guard holds go        the others
branch    to its target                            on
switch    each to the one that its selector names
call      to its target; behind it comes back      on
ret       back to the call, or end in a kernel     on
exit      nowhere: they end                        on
all else  on, once what they wait for has come     on
"""

from __future__ import annotations

from ptxaudit.ir.nodes import RUNTIME, Control

ENDS, RETURNS, ON = -1, -2, -3  # in place of an instruction


def is_unresolved(control: Control | None) -> bool:
    """A call of the program's own code that is not modelled: lanes may end in it, or return diverged."""
    return control is not None and control.kind == "call" and not control.targets and control.callee not in RUNTIME


def taken(control: Control) -> tuple[int, ...]:
    """Where lanes go in which the guard holds: instructions of the function, ENDS, RETURNS or ON. () where that is not
    known at all; of several, each lane goes one way."""
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
