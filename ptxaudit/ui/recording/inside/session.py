"""Hooks into the frameworks of this process, now or when they are imported, until the session is closed.

session = Session(folder);  session.open();  …;  session.close()      session.log.note(…)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ptxaudit.ui.recording.inside.adapters import attached
from ptxaudit.ui.recording.inside.hooks import Finder, Patches
from ptxaudit.ui.recording.inside.log import Log
from ptxaudit.ui.recording.inside.recorder import Recorder

# Shared by all sessions of the process: a nested session does not patch again.
_recorder = Recorder()
_patches = Patches()
_finder: list[Finder] = []


class Session:
    """One recording of this process.

    unseen: called with a sentence for a framework whose launches Python does not see; None: the sentence becomes a
    note.
    """

    def __init__(
        self, folder: str, arrays: int = 0, most: int = 32, unseen: Callable[[str], None] | None = None
    ) -> None:
        self.log = Log(folder, arrays, most)
        self._unseen = unseen or self.log.note

    def open(self) -> None:
        first = not _recorder.logs
        _recorder.open(self.log)
        if first:
            _listen(self._unseen)

    def close(self) -> None:
        _recorder.close(self.log)
        if not _recorder.logs:
            _stop()


def _listen(unseen: Callable[[str], None]) -> None:
    watched = attached(_recorder, _patches, unseen)
    _finder.append(Finder(watched))
    sys.meta_path.insert(0, _finder[0])
    for name, attach in watched.items():
        module: Any = sys.modules.get(name)
        spec = getattr(module, "__spec__", None)
        if module is not None and not getattr(spec, "_initializing", False):
            attach(module)


def _stop() -> None:
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in _finder]
    _finder.clear()
    _patches.undo()
