"""Turns any exception into an error to show: bad input unchanged, an internal fault as a bug of ptxaudit."""

from __future__ import annotations

import os

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import as_error
from ptxaudit.base.work import Exhausted

VARIABLE = "PTXAUDIT_DEBUG"


def debugging() -> bool:
    """Whether PTXAUDIT_DEBUG=1 lets tracebacks through."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def as_input_error(error: Exception) -> InputError:
    """The error to show for an exception; while debugging, an internal fault is raised again."""
    if not isinstance(error, InputError) and debugging():
        raise error
    return error if isinstance(error, InputError) else fault(error)


def fault(error: Exception) -> InputError:
    """The error to show for an exception that is not due to the input."""
    what = f"ptxaudit failed here: {type(error).__name__}: {error}"
    if isinstance(error, MemoryError):
        return InputError("ptxaudit ran out of memory", "audit fewer kernels at a time: --kernel GLOB")
    if isinstance(error, Exhausted):
        return as_error(error)
    if isinstance(error, RecursionError):
        what = "ptxaudit failed here: its input is nested too deeply"
    return InputError(what, f"this is a bug in ptxaudit: please report it with the output of {VARIABLE}=1")
