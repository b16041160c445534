"""Talks to NVRTC releases in processes of their own, one a library, started on first use.

    worker("/…/cuda_nvrtc/lib/libnvrtc.so.12").compile(text, "k.cu", […], ()) -> Result(done=True, ptx=…)
"""

from __future__ import annotations

import atexit
import base64
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxaudit.errors import InputError

_FILE = Path(__file__).with_name("nvrtc_worker.py")


@dataclass(frozen=True)
class Result:
    """What one compile gave. lowered: mangled names of instantiated expressions."""

    done: bool
    log: str
    ptx: str = ""
    cubin: bytes = b""
    lowered: dict[str, str] | None = None


class Ended(InputError):
    """The process of a worker ended while it compiled: the compiler crashed."""


class Worker:
    """One NVRTC in a process. version: "12.9"; archs: the SM numbers that it compiles for."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_FILE), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )
        atexit.register(self.close)
        facts = self._answer()
        self.version: str = facts["version"]
        self.archs: list[int] = facts["archs"]

    def compile(self, text: str, file: str, arguments: Sequence[str], instantiate: Sequence[str]) -> Result:
        """One program. Raises InputError when the process ended, or NVRTC itself failed."""
        request = {"text": text, "file": file, "arguments": list(arguments), "instantiate": list(instantiate)}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        answer = self._answer()
        if "cubin" in answer:
            answer["cubin"] = base64.b64decode(answer["cubin"])
        return Result(**answer)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        answer = json.loads(line)
        if "error" in answer:
            raise InputError(f"NVRTC at {self.path}: {answer['error']}", "reinstall it, or name another with --toolchain")
        return answer

    def _ended(self) -> InputError:
        status = self._process.wait()
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        _workers.pop(self.path, None)
        return Ended(f"NVRTC at {self.path} ended {how} while compiling", "this is a fault of that compiler: try another with --toolchain")

    def close(self) -> None:
        """Ends the process, where it has not ended by itself."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


_workers: dict[str, Worker] = {}


def worker(path: str) -> Worker:
    """The process of a library; a new one where the last has ended."""
    if path not in _workers:
        _workers[path] = Worker(path)
    return _workers[path]
