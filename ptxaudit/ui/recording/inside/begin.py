"""Begins to record in a program of `ptxaudit record`, as its environment says.

PTXAUDIT_RECORD             the folder
PTXAUDIT_RECORD_ARRAYS      bytes up to which what pointers lead to is kept
PTXAUDIT_RECORD_LAUNCHES    distinct launches of a kernel
PTXAUDIT_RECORD_DRIVER      the library that records through the driver, for programs and frameworks that are not
                            seen from Python: CUDA_INJECTION64_PATH has it until this process is known to be none
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
        del os.environ[INJECTION]  # the driver looks when it is initialised: what adapters see need not be seen twice
    session = Session(
        folder,
        arrays=int(os.environ.get("PTXAUDIT_RECORD_ARRAYS") or 0),
        most=int(os.environ.get("PTXAUDIT_RECORD_LAUNCHES") or 32),
        unseen=lambda why: _unseen(why, library, session.log.note),
    )
    session.open()
    return session


def _unseen(why: str, library: str | None, note: Callable[[str], None]) -> None:
    """A framework whose launches are not seen from Python is recorded through the driver, if that has not begun."""
    if library and os.path.exists(library):
        os.environ[INJECTION] = library
        note(f"{why}; they are recorded through the driver")
    else:
        note(f"{why}; record through the driver: --via driver")
