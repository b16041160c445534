"""The files that one process of a recorded program writes: code, launches, notes.

    folder/events-1234-….jsonl    {"event": "launch", "slot": 1, "code": "3fa9….cubin", "kernel": "k", …}
    folder/counts-1234-….bin      counts, 8 bytes per slot: mapped, so that they survive any end of the process
    folder/3fa9….cubin            code, named by the SHA-256 of its content
    folder/81c0….npy              the contents of memory

A launch is written when it is first seen. Launches are equal if everything is equal, the kinds of the parameters
included, except the pointers, of which only the alignment counts.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import threading
import time
from collections.abc import Sequence
from typing import Any, Union

from ptxaudit.ui.recording.inside.memory import Extent, contents
from ptxaudit.ui.recording.inside.values import distinct, encoded

FORMAT = 1
SLOTS = 1 << 16  # distinct launches of a process
SLOT_BYTES = 8
OVERFLOW = 0  # the slot of all launches that have no slot of their own
LONGEST_NOTE = 500  # characters

Dims = tuple[int, int, int]


class Code:
    """Compiled code.

    suffix: ".cubin", ".ptx" or ".fatbin"; framework: compiled it; kernel: its name, if there is only one; ptx: the
    PTX that it was assembled from; source: the text that it was compiled from.
    """

    def __init__(
        self,
        data: bytes,
        suffix: str,
        framework: str,
        kernel: str | None = None,
        ptx: bytes | None = None,
        source: str | None = None,
    ) -> None:
        self.data, self.suffix, self.framework, self.kernel = data, suffix, framework, kernel
        self.ptx, self.source = ptx, source
        self.name = hashlib.sha256(data).hexdigest() + suffix


class Site:
    """The properties that all launches of a kernel share. kinds: of its parameters, for `values.encoded`."""

    __slots__ = ("block", "cluster", "code", "kernel", "kinds", "shared")

    def __init__(
        self,
        code: Code,
        kernel: str,
        kinds: Sequence[str],
        block: Dims | None = None,
        cluster: Dims | None = None,
        shared: int = 0,
    ) -> None:
        self.code, self.kernel, self.kinds = code, kernel, tuple(kinds)
        self.block, self.cluster, self.shared = block, cluster, shared


class New:
    """A launch that was not seen before and has not succeeded yet."""

    __slots__ = ("key", "launch")

    def __init__(self, key: Any, launch: dict[str, Any]) -> None:
        self.key, self.launch = key, launch


Token = Union[int, New, None]  # noqa: UP007


class Counter:
    """Where to count the launches that equal one recorded before."""

    __slots__ = ("_counts", "_log", "_slot")

    def __init__(self, log: Log, counts: Any, slot: int) -> None:
        self._log, self._counts, self._slot = log, counts, slot

    def again(self) -> None:
        """Counts one. Threads take turns: each would otherwise overwrite what another one has just written."""
        with self._log.lock:
            self._counts[self._slot] += 1


class Log:
    """The event files of one process.

    folder: where they are written; arrays: keep data behind pointers up to this size in bytes, 0 for none; most:
    distinct launches to keep per kernel.
    """

    def __init__(self, folder: str, arrays: int = 0, most: int = 32) -> None:
        self.folder, self.arrays, self.most = folder, arrays, most
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Starts a new file for this process, which is created when there is something to write."""
        self.lock = threading.RLock()
        self._file: int | None = None
        self._counts: Any = None
        self._slots: dict[Any, int] = {}
        self._of_kernel: dict[Any, int] = {}
        self._not_kept = {OVERFLOW}  # slots shared by different launches
        self._written: set[str] = set()
        self._warned: set[str] = set()
        self._next = 0
        self._name = (
            f"{os.getpid()}-{time.time_ns():x}"  # a process may reuse another's number, or exec another program
        )

    # --- events ---------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """Writes a sentence for the user, once."""
        text = text if len(text) <= LONGEST_NOTE else text[:LONGEST_NOTE] + "…"
        with self.lock:
            if text not in self._warned:
                self._warned.add(text)
                self._write({"event": "note", "text": text})

    def compiled(self, code: Code) -> None:
        """Writes code that the program has compiled or loaded, whether or not it is launched."""
        with self.lock:
            if code.name in self._written:
                return
            self._written.add(code.name)
            self._put(code.name, code.data)
            event = {"event": "code", "code": code.name, "framework": code.framework, "kernel": code.kernel}
            if code.ptx:
                event["ptx"] = self._kept(code.ptx, ".ptx")
            if code.source:
                event["source"] = self._kept(code.source.encode("utf-8", "replace"), ".cu")
            self._write(event)

    def begin(
        self,
        site: Site,
        grid: Dims | None,
        values: Sequence[Any],
        block: Dims | None = None,
        shared: int | None = None,
        extents: Sequence[Extent] = (),
        stream: int = 0,
    ) -> Token:
        """Prepares to count a launch that is about to happen; pass the token to `done` afterwards.

        values: of the parameters, by the site's kinds; block, shared: if they are not the site's; extents: the memory
        that the pointers lead to.
        """
        block, shared = block or site.block, site.shared if shared is None else shared
        alike = tuple([distinct(kind, value) for kind, value in zip(site.kinds, values)])
        key = (site.code.name, site.kernel, grid, block, site.cluster, shared, site.kinds, alike)
        slot = self._slots.get(key)
        if slot is not None:
            return slot
        with self.lock:
            kernel = key[:2]
            if self._next + 1 >= SLOTS:
                return OVERFLOW
            if self._of_kernel.get(kernel, 0) >= self.most:
                slot = self._slot_of(("more", *kernel), {"event": "more", "code": kernel[0], "kernel": kernel[1]})
                self._not_kept.add(slot)
                return slot
            launch: dict[str, Any] = {
                "event": "launch",
                "code": site.code.name,
                "kernel": site.kernel,
                "grid": grid,
                "block": block,
                "cluster": site.cluster,
                "shared": shared,
                "params": [encoded(kind, value) for kind, value in zip(site.kinds, values)],
            }
            self.compiled(site.code)
            if self.arrays:
                launch["memory"] = self._memory(extents, stream)
            return New(key, launch)

    def done(self, token: Token) -> Counter | None:
        """Counts a launch that has been made.

        Returns where to count equal launches, or None if different launches share the slot.
        """
        if token is None:
            return None
        if isinstance(token, New):
            with self.lock:
                kernel = token.key[:2]
                if token.key not in self._slots:
                    self._of_kernel[kernel] = self._of_kernel.get(kernel, 0) + 1
                token = self._slot_of(token.key, token.launch)
        counter = Counter(self, self._counts, token)
        counter.again()
        return None if token in self._not_kept else counter

    # --- files ----------------------------------------------------------------------------------

    def _slot_of(self, key: Any, event: dict[str, Any]) -> int:
        """The slot for a key; writes the event of a new one."""
        slot = self._slots.get(key)
        if slot is None:
            self._next += 1
            slot = self._next
            if self._counts is None:
                self._counts = self._mapped()
            self._write({**event, "slot": slot})
            self._slots[key] = slot
        return slot

    def _mapped(self) -> Any:
        path = os.path.join(self.folder, f"counts-{self._name}.bin")
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(handle, SLOTS * SLOT_BYTES)
            return memoryview(mmap.mmap(handle, SLOTS * SLOT_BYTES)).cast("Q")
        finally:
            os.close(handle)

    def _memory(self, extents: Sequence[Extent], stream: int) -> list[list[Any]]:
        """[address, file] of the memory behind pointers, if it is small enough and readable."""
        found, why = contents(extents, self.arrays, stream)
        if why:
            self.note(why)
        return [[address, self._kept(data, ".npy")] for address, data in found]

    def _kept(self, data: bytes, suffix: str) -> str:
        name = hashlib.sha256(data).hexdigest() + suffix
        self._put(name, data)
        return name

    def _put(self, name: str, data: bytes) -> None:
        """Writes a file named by its content atomically, unless another process already has."""
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            return
        beside = f"{path}.{os.getpid()}-{threading.get_ident()}"
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, path)

    def _write(self, event: dict[str, Any]) -> None:
        if self._file is None:
            path = os.path.join(self.folder, f"events-{self._name}.jsonl")
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._write({"event": "start", "format": FORMAT, "counts": f"counts-{self._name}.bin"})
        os.write(self._file, (json.dumps(event) + "\n").encode("ascii"))
