"""Audits files in several processes; one that dies affects no other file.

    for part in audited([Piece(("a.ptx", "b.ptx")), Piece(("c.ptx",))], options, 2): …      one Part per piece, in order

Each process runs `pool_worker.py` and receives one piece at a time over a pipe. If a process ends before it answers,
its files are audited again one by one, and a file that ends another process becomes a problem of the report.
"""

from __future__ import annotations

import os
import pickle
import selectors
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ptxaudit.base import processes, temporary, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.quiet import no_collection
from ptxaudit.base.records import Record
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part, name_of
from ptxaudit.review.divided import Piece

_FILE = Path(__file__).with_name("pool_worker.py")
LENGTH = struct.Struct("<Q")  # before each message
READ_AT_ONCE = 1 << 20  # bytes
MOST_TRIES = 2  # processes that a file may end


class _Task(Record):
    """Work for one process. at: the index of its piece; place: the position of its results within the piece; tries:
    the number of processes that ended on it."""

    at: int
    place: int
    piece: Piece
    tries: int = 0


def audited(pieces: Sequence[Piece], options: Options, jobs: int) -> Generator[Part, None, None]:
    """The results of each piece, in order. Raises what an audit in this process would."""
    pool = _Pool(pieces, options)
    try:
        pool.begin(min(jobs, len(pieces)))
        for at in range(len(pieces)):
            yield pool.part(at)
    finally:
        pool.close()


class _Pool:
    def __init__(self, pieces: Sequence[Piece], options: Options) -> None:
        self._options = options
        self._waiting = deque(_Task(at, 0, piece) for at, piece in enumerate(pieces))
        self._open = dict.fromkeys(range(len(pieces)), 1)  # the number of tasks that each piece waits for
        self._found: dict[int, list[tuple[int, Part]]] = {at: [] for at in range(len(pieces))}
        self._selector = selectors.DefaultSelector()
        self._processes: set[_Process] = set()

    def begin(self, count: int) -> None:
        while len(self._processes) < count and self._waiting:
            self._give(_Process(self._options))

    def part(self, at: int) -> Part:
        """The results of a piece, as soon as it is done."""
        while self._open[at]:
            for key, _ in self._selector.select():
                self._hear(key.data)
        whole = Part()
        for _, part in sorted(self._found.pop(at), key=lambda pair: pair[0]):
            whole.add(part)
        return whole

    def close(self) -> None:
        for process in self._processes:
            process.end()
        self._selector.close()

    def _give(self, process: _Process) -> None:
        """Gives a process the next task; if there is none, ends it."""
        if process not in self._processes:
            self._processes.add(process)
            self._selector.register(process.output, selectors.EVENT_READ, process)
        if self._waiting:
            process.give(self._waiting.popleft())
        else:
            self._forget(process)

    def _forget(self, process: _Process) -> None:
        self._selector.unregister(process.output)
        self._processes.discard(process)
        process.end()

    def _hear(self, process: _Process) -> None:
        """Reads a process's output; once its answer is complete, the process receives the next task."""
        piece = process.read()
        if piece is None:
            self._lost(process)
        elif (answer := process.answer()) is not None:
            if isinstance(answer, BaseException):
                raise answer
            assert process.task is not None  # it has answered one
            self._done(process.task, answer)
            self._give(process)

    def _done(self, task: _Task, part: Part) -> None:
        self._found[task.at].append((task.place, part))
        self._open[task.at] -= 1

    def _lost(self, process: _Process) -> None:
        """Handles a process that ended before it answered: its files are tried again, one by one."""
        task, how = process.task, process.how_it_ended
        self._forget(process)
        assert task is not None
        if len(task.piece.files) > 1:
            again = [
                _Task(task.at, place, Piece((file,), task.piece.share)) for place, file in enumerate(task.piece.files)
            ]
            self._open[task.at] += len(again) - 1
            self._waiting.extendleft(reversed(again))
        elif task.tries + 1 < MOST_TRIES:
            self._waiting.appendleft(replace(task, tries=task.tries + 1))
        else:
            self._done(task, _without(task.piece.files[0], how))
        if self._waiting:
            self._give(_Process(self._options))


def _without(file: Any, how: str) -> Part:
    """The part for a file whose process ended."""
    part = Part()
    with part.collecting(name_of(file)):
        raise InputError(
            f"the process that audited this ended {how}",
            "it ran out of memory or crashed: audit this file alone, or with fewer --jobs",
        )
    return part


class _Process:
    """One process; it reads messages and writes one answer to each."""

    def __init__(self, options: Options) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_FILE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
        self._unread = bytearray()
        self.task: _Task | None = None
        assert self._process.stdin is not None and self._process.stdout is not None  # PIPE
        self._input = self._process.stdin
        self.output = self._process.stdout.fileno()
        here = str(_FILE.parents[2])
        self._send(sys.path if here in sys.path else [*sys.path, here])
        self._send((temporary.root(), options))

    def give(self, task: _Task) -> None:
        self.task = task
        self._send(task.piece)

    def _send(self, message: Any) -> None:
        data = pickle.dumps(message)
        with suppress(BrokenPipeError):  # the process has ended, which reading from it will show
            self._input.write(LENGTH.pack(len(data)) + data)
            self._input.flush()

    def read(self) -> int | None:
        """Reads the available output; None at the end."""
        piece = os.read(self.output, READ_AT_ONCE)
        self._unread += piece
        return len(piece) or None

    def answer(self) -> Any:
        """The next complete answer, or None."""
        if len(self._unread) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack_from(self._unread)
        if len(self._unread) < LENGTH.size + size:
            return None
        with no_collection():
            answer = pickle.loads(memoryview(self._unread)[LENGTH.size : LENGTH.size + size])
        self._unread = self._unread[LENGTH.size + size :]
        return answer

    @property
    def how_it_ended(self) -> str:
        status = self._process.wait()
        return f"by {vendor.name_of(-status)}" if status < 0 else f"with status {status}"

    def end(self) -> None:
        """Ends the process and its descendants."""
        if self._process.poll() is None:
            processes.end_descendants(self._process.pid)
        vendor.end(self._process)
