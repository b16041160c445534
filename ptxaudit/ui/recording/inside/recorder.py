"""Passes what adapters see to every open log. An error while recording does not reach the program.

recorder = Recorder();  recorder.open(log) token = recorder.begin(site, (4, 2, 1), values);  …the launch…;
recorder.done(token)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ptxaudit.ui.recording.inside.log import Code, Counter, Dims, Log, Site, Token
from ptxaudit.ui.recording.inside.memory import Extent

MOST_SEEN = 4096  # keys of one kernel


class Seen:
    """The launches of one kernel recorded before, by the adapter's key: counting another is one dictionary lookup."""

    __slots__ = ("_logs", "_recorder", "_where")

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._logs = recorder, recorder.logs
        self._where: dict[Any, list[Counter]] = {}

    def get(self, key: Any) -> list[Counter] | None:
        """Where to count launches with this key; None if one of the logs has not seen them."""
        if self._logs is not self._recorder.logs:
            self._logs, self._where = self._recorder.logs, {}
        return self._where.get(key)

    def add(self, key: Any, tokens: list[tuple[Log, Token]] | None) -> None:
        """Counts a launch that was new. key: None if equal launches cannot be recognised."""
        counted = self._recorder.done(tokens)
        if counted and key is not None:
            if len(self._where) >= MOST_SEEN:
                self._where.clear()
            self._where[key] = counted


class Recorder:
    """The open logs. wants_arrays: one of them keeps the data behind pointers."""

    def __init__(self) -> None:
        self.logs: tuple[Log, ...] = ()
        self.wants_arrays = False

    def open(self, log: Log) -> None:
        self._now((*self.logs, log))

    def close(self, log: Log) -> None:
        self._now(tuple(one for one in self.logs if one is not log))

    def _now(self, logs: tuple[Log, ...]) -> None:
        self.logs, self.wants_arrays = logs, any(log.arrays for log in logs)

    def note(self, text: str) -> None:
        for log in self.logs:
            try:
                log.note(text)
            except OSError:  # a full disk: the program continues, and `finish` reports what is missing
                continue

    def guarded(self, what: str, action: Callable[[], Any]) -> Any:
        """The result of an action, or None with a note if it fails. what: "launches of Triton"."""
        try:
            return action()
        except Exception as error:
            if os.environ.get("PTXAUDIT_DEBUG") == "1":
                raise
            self.note(f"{what} could not be recorded: {type(error).__name__}: {error}")
            return None

    def compiled(self, code: Code | None) -> None:
        if code is not None:
            for log in self.logs:
                self.guarded(f"code of {code.framework}", lambda log=log: log.compiled(code))  # type: ignore[misc]

    def begin(
        self,
        site: Site,
        grid: Dims | None,
        values: Sequence[Any],
        block: Dims | None = None,
        shared: int | None = None,
        extents: Sequence[Extent] = (),
        stream: int = 0,
    ) -> list[tuple[Log, Token]]:
        """Calls `Log.begin` of each log."""
        out: list[tuple[Log, Token]] = []
        for log in self.logs:
            try:
                out.append((log, log.begin(site, grid, values, block, shared, extents, stream)))
            except Exception as error:
                if os.environ.get("PTXAUDIT_DEBUG") == "1":
                    raise
                self.note(f"a launch of {site.kernel} could not be recorded: {type(error).__name__}: {error}")
        return out

    def done(self, tokens: list[tuple[Log, Token]] | None) -> list[Counter]:
        """Calls `Log.done` of each log. Returns [] if one of them must be called for each launch."""
        counted: list[Counter] = []
        for log, token in tokens or ():
            try:
                found = log.done(token)
            except OSError as error:
                self.note(f"a launch could not be recorded: {error}")
                continue
            counted += [] if found is None else [found]
        return counted if len(counted) == len(self.logs) else []
