"""Reads the events that the processes of a recorded program wrote.

    read(folder)  ->  Events(launches=[Seen(code="3fa9…", kernel="k", grid=(4, 2, 1), …, count=12)], notes=[…], …)

Equal launches of several processes are merged. The launches of a kernel that were seen both from Python and through
the driver are taken from Python. An incomplete line, the last one of a killed process, is skipped.
"""

from __future__ import annotations

import json
import os
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.ui.recording.inside.log import FORMAT, OVERFLOW, SLOT_BYTES
from ptxaudit.ui.recording.modules import Loaded, Modules

Dims = tuple[int, int, int]
ALIGNED_DIGITS = 2  # of a pointer, in hexadecimal: its lowest byte


class Code(Record):
    """Compiled code.

    file: its path; ptx, source: files with the PTX and source that it was compiled from; kernel: its only kernel, if
    known.
    """

    file: str
    sha256: str
    ptx: str | None = None
    source: str | None = None
    kernel: str | None = None
    framework: str = ""


class Seen(Record):
    """One distinct launch. params: encoded as in `inside.values`; memory: (address, file)."""

    code: str  # sha256
    kernel: str
    grid: Dims | None
    block: Dims | None
    cluster: Dims | None
    shared: int
    params: tuple[str, ...] | None
    param_bytes: str | None
    memory: tuple[tuple[int, str], ...]
    count: int
    driver: bool

    def key(self) -> tuple[Any, ...]:
        """A key that is equal for launches that differ only in pointers with the same alignment."""
        params = tuple(p[: 2 + ALIGNED_DIGITS] + p[18:] if p.startswith("p:") else p for p in self.params or ())
        return self.code, self.kernel, self.grid, self.block, self.cluster, self.shared, params, self.param_bytes


class More(Record):
    """Launches of a kernel that were counted but not kept."""

    code: str  # sha256
    kernel: str
    count: int
    driver: bool


class Events(Record):
    """All recorded events. codes: by sha256."""

    launches: list[Seen] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
    not_kept: list[More] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def more(self) -> dict[tuple[str, str], int]:
        """The launches that were counted but not kept, by (code, kernel)."""
        out: Counter[tuple[str, str]] = Counter()
        for one in self.not_kept:
            out[one.code, one.kernel] += one.count
        return out


def read(folder: str) -> Events:
    """All events in a folder. Raises OSError."""
    events = Events()
    for path in sorted(Path(folder).glob("*.jsonl")):
        _Process(path, events).read()
    every: list[Seen | More] = [*events.launches, *events.not_kept]
    from_python = {(one.code, one.kernel) for one in every if not one.driver}
    wanted = [one for one in every if not one.driver or (one.code, one.kernel) not in from_python]
    events.launches[:] = _merged([one for one in wanted if isinstance(one, Seen)])
    events.not_kept[:] = [one for one in wanted if isinstance(one, More)]
    return events


def _merged(launches: list[Seen]) -> list[Seen]:
    """The launches, with equal ones merged and their counts added."""
    out: dict[tuple[Any, ...], Seen] = {}
    for one in launches:
        known = out.get(one.key())
        out[one.key()] = one if known is None else replace(known, count=known.count + one.count)
    return list(out.values())


class _Process:
    """The event file of one process, whose events are added to `Events`."""

    def __init__(self, path: Path, events: Events) -> None:
        self._path, self._events = path, events
        self._counts = array("Q")
        self._modules = Modules()

    def read(self) -> None:
        for event in _lines(self._path):
            try:
                self._take(event)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                self._note(f"a recorded event cannot be read: {type(error).__name__}: {error}")
        if self._counts and self._counts[OVERFLOW]:
            self._note(f"{self._counts[OVERFLOW]:,} launches were not kept: too many of them differ")

    def _take(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "start":
            if event["format"] != FORMAT:
                raise ValueError(f"its format is {event['format']}")
            self._counts = _counts(self._beside(event["counts"]))
        elif kind == "note":
            self._note(str(event["text"]))
        elif kind == "code":
            self._code(event)
        elif kind == "module" and event["file"] is not None:
            self._modules.load(event["module"], self._beside(event["file"]))
        elif kind == "unload":
            self._modules.unload(event["module"])
        elif kind == "launch":
            self._launch(event)
        elif kind == "more":
            code = self._code_of(event)
            if code is not None:
                count = self._counts[event["slot"]]
                self._events.not_kept.append(More(code.sha256, event["kernel"], count, "module" in event))

    def _code(self, event: dict[str, Any]) -> None:
        file = self._beside(event["code"])
        digest = event["code"].partition(".")[0]
        beside = {name: self._beside(event[name]) for name in ("ptx", "source") if event.get(name)}
        self._events.codes.setdefault(
            digest, Code(file, digest, kernel=event["kernel"], framework=event["framework"], **beside)
        )

    def _code_of(self, event: dict[str, Any]) -> Code | None:
        """The code of a launch: named by the event, or found among the modules of the process."""
        if "code" in event:
            return self._events.codes[event["code"].partition(".")[0]]
        found = self._modules.of(event["kernel"], event["module"], event.get("among"), event.get("registers"))
        if isinstance(found, Loaded):
            return self._events.codes.setdefault(found.sha256, Code(found.file, found.sha256, framework="driver"))
        self._note(found)
        return None

    def _launch(self, event: dict[str, Any]) -> None:
        code = self._code_of(event)
        count = self._counts[event["slot"]]
        if code is None or not count:
            return
        params = event.get("params")
        self._events.launches.append(
            Seen(
                code=code.sha256,
                kernel=event["kernel"],
                grid=_three(event.get("grid")),
                block=_three(event.get("block")),
                cluster=_three(event.get("cluster")),
                shared=int(event["shared"]),
                params=tuple(map(str, params)) if params is not None else None,
                param_bytes=event.get("param_bytes"),
                memory=tuple((int(at), self._beside(name)) for at, name in event.get("memory") or ()),
                count=count,
                driver="module" in event,
            )
        )

    def _beside(self, name: str) -> str:
        """The path of a file in the same folder."""
        return os.path.join(self._path.parent, os.path.basename(name))

    def _note(self, text: str) -> None:
        if text not in self._events.notes:
            self._events.notes.append(text)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:  # the last line of a killed process
                continue
            if isinstance(event, dict) and "event" in event:
                yield event


def _counts(file: str) -> array[int]:
    """The count of each slot; empty if the file does not exist, because nothing was launched."""
    counts = array("Q")
    try:
        data = Path(file).read_bytes()
    except FileNotFoundError:
        return counts
    counts.frombytes(data[: len(data) // SLOT_BYTES * SLOT_BYTES])
    return counts


def _three(value: Any) -> Dims | None:
    if value is None:
        return None
    x, y, z = (int(number) for number in value)
    return x, y, z
