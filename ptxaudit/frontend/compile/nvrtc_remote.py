"""Runs each NVRTC library in a process of its own, started on first use, under limits of the operating system.

worker("/…/cuda_nvrtc/lib/libnvrtc.so.12").compile(text, "k.cu", […], ()) -> Result(done=True, ptx=…)
worker()                                                                     the one that cuda-bindings loads
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ptxaudit.base import vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import COMPILER_TIME, MB, TOOL_MEMORY
from ptxaudit.base.records import Record
from ptxaudit.frontend.compile import toolchains

_FILE = Path(__file__).with_name("nvrtc_worker.py")

# glibc's malloc: each compile allocates and frees some megabytes. Returned pages would be cleared again for the next
# compile, which takes a tenth of the time of a small one.
_KEEPS_PAGES = {"MALLOC_MMAP_THRESHOLD_": str(32 * MB), "MALLOC_TRIM_THRESHOLD_": str(64 * MB)}


class Result(Record):
    """The result of one compile. lowered: mangled names of instantiated expressions."""

    done: bool
    log: str
    ptx: str = ""
    cubin: bytes = b""
    lowered: dict[str, str] | None = None


class Ended(InputError):
    """A worker's process ended while it compiled: the compiler crashed."""


class Worker:
    """One NVRTC in a process. path: of its library; version: "12.9"; archs: the SM numbers that it compiles for."""

    def __init__(self, path: str | None = None) -> None:
        self._key, self.path = path, path or "cuda-bindings"
        # a library loaded by path needs no packages; neither kind imports any from the working folder
        command = [sys.executable, *(("-I", "-S") if path else ("-P",)), str(_FILE), *([path] if path else [])]
        environment = _KEEPS_PAGES | vendor.environment()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, process_group=0
        )
        atexit.register(self.close)
        vendor.restrict(self._process.pid, None)
        self._unread = b""
        facts = self._answer()
        self.path = facts["path"]
        self.version: str = facts["version"]
        self.archs: list[int] = facts["archs"]

    def compile(self, text: str, file: str, arguments: Sequence[str], instantiate: Sequence[str]) -> Result:
        """Compiles one program. Raises InputError if the process ended, or NVRTC itself failed."""
        request = {
            "text": text,
            "file": file,
            "arguments": list(arguments),
            "instantiate": list(instantiate),
            "folder": os.getcwd(),
        }
        assert self._process.stdin is not None  # PIPE
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        answer = self._answer()
        if "cubin" in answer:
            answer["cubin"] = base64.b64decode(answer["cubin"])
        return Result(**answer)

    def _answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._line())
        if "error" in answer:
            raise _failed(self.path, answer)
        return answer

    def _line(self) -> bytes:
        """The next line that the process writes. Raises InputError if it ends or exceeds its limits."""
        assert self._process.stdout is not None  # PIPE
        watch, pieces, handle = (
            vendor.Watch(self._process.pid, COMPILER_TIME, "NVRTC"),
            [self._unread],
            self._process.stdout.fileno(),
        )
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while b"\n" not in pieces[-1]:
                if not selector.select(vendor.LOOK_EVERY):
                    self._look(watch)
                    continue
                pieces.append(os.read(handle, vendor.READ_AT_ONCE))
                if not pieces[-1]:
                    raise self._ended()
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        return line

    def _look(self, watch: vendor.Watch) -> None:
        try:
            watch.look()
        except InputError:
            self.close()
            raise

    def _ended(self) -> InputError:
        status = self._process.wait()
        self.close()
        how = f"by {vendor.name_of(-status)}" if status < 0 else f"with status {status}"
        most = TOOL_MEMORY
        return Ended(
            f"NVRTC at {self.path} ended {how} while compiling",
            f"it crashed, or ran out of the {most.most // MB:,} MB that it gets (the limit `{most.name}`): "
            "try another with --toolchain, or simplify the source",
        )

    def close(self) -> None:
        """Ends the process, unless it has ended by itself."""
        if _workers.get(self._key) is self:
            del _workers[self._key]
        atexit.unregister(self.close)
        vendor.end(self._process)


def _failed(path: str, answer: dict[str, Any]) -> InputError:
    match answer.get("lacks"), path:
        case "bindings", _:
            return InputError(
                f"cuda-bindings cannot be imported ({answer['error']})", "run `pip install 'cuda-bindings>=13,<14'`"
            )
        case "library", "cuda-bindings":
            return InputError(
                "the NVRTC library (libnvrtc.so) was not found", toolchains.how_to_add("nvrtc"), detail=answer["error"]
            )
        case _:
            return InputError(f"NVRTC at {path}: {answer['error']}", "reinstall it, or name another with --toolchain")


_workers: dict[str | None, Worker] = {}


def worker(path: str | None = None) -> Worker:
    """The process of a library; a new one if the last has ended."""
    if path not in _workers:
        _workers[path] = Worker(path)
    return _workers[path]
