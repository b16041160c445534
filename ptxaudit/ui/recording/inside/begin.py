"""Starts recording in a program of `ptxaudit record`, as configured in the environment.

PTXAUDIT_RECORD             the folder
PTXAUDIT_RECORD_ARRAYS      keep data behind pointers up to this size, in bytes
PTXAUDIT_RECORD_LAUNCHES    distinct launches to keep per kernel
PTXAUDIT_RECORD_DRIVER      the library that records through the driver, for programs and frameworks that Python does
                            not see: it is also in CUDA_INJECTION64_PATH, which a Python process clears
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ptxaudit.ui.recording.inside.session import Session

INJECTION = "CUDA_INJECTION64_PATH"


def begin(folder: str) -> Session:
    """Opens a session that lasts as long as the process."""
    library = os.environ.get("PTXAUDIT_RECORD_DRIVER")
    if library and os.environ.get(INJECTION) == library:
        del os.environ[INJECTION]  # the driver reads it when initialised; the adapters already record this process
    session = Session(
        folder,
        arrays=int(os.environ.get("PTXAUDIT_RECORD_ARRAYS") or 0),
        most=int(os.environ.get("PTXAUDIT_RECORD_LAUNCHES") or 32),
        unseen=lambda why: _unseen(why, library, session.log.note),
    )
    session.open()
    return session


def _unseen(why: str, library: str | None, note: Callable[[str], None]) -> None:
    """Has the driver record a framework whose launches Python does not see, unless it is initialised already."""
    if library and os.path.exists(library):
        os.environ[INJECTION] = library
        note(f"{why}; they are recorded through the driver")
    else:
        note(f"{why}; record through the driver: --via driver")
