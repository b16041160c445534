"""One nvdisasm an architecture does for all tests of a process.

It reads the tables of an architecture for a fifth of a second before it looks at the code, and a thousand tests need it.
With disassembler.c in it, it stays there and forks for each piece of code: the text is what the same program says. Where
there is no C compiler, or a version that opens its files otherwise, each piece of code starts one of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ptxaudit.base import vendor
from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES
from ptxaudit.frontend.compile import toolchains

SOURCE = Path(__file__).with_suffix(".c")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # to copy small ones for each fork took half of its time


class Server:
    """An nvdisasm that waits for code. folder: for its files."""

    def __init__(self, tool: str, machine: str, folder: Path) -> None:
        library, code = folder / "disassembler.so", folder / "served.bin"
        if not library.exists():
            subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
            code.write_bytes(bytes(INSTRUCTION_BYTES))
        self._process = subprocess.Popen(
            [tool, "-b", machine, str(code)],
            env=vendor.environment() | {"LD_PRELOAD": str(library)} | LARGE_PAGES,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, path: str) -> vendor.Done | None:
        """How it ended on this code; None where it did not."""
        with suppress(OSError):
            print(path, file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
            if answer.removesuffix("\n").isdigit():
                status = os.waitstatus_to_exitcode(int(answer))
                out, err = (Path(f"{path}.{kind}").read_text(errors="replace") for kind in ("out", "err"))
                return vendor.Done(status, out, err)
        return None

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Servers:
    """Those of a process, begun when they are asked for first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tool = toolchains.get("nvdisasm").path
        self._servers: dict[str, Server] = {}

    def instead_of(self, run: Callable[..., vendor.Done]) -> Callable[..., vendor.Done]:
        """`vendor.run`, but for what is asked of nvdisasm."""

        def served(command: Sequence[str], *limits: Any, **options: Any) -> vendor.Done:
            if list(command[:2]) != [self._tool, "-b"] or len(command) != 4:
                return run(command, *limits, **options)
            machine, path = command[2:]
            if machine not in self._servers:
                self._servers[machine] = Server(self._tool, machine, self._folder)
            return self._servers[machine].run(path) or run(command, *limits, **options)

        return served

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


def stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on nvdisasm stays. Gives what ends it."""
    if COMPILER is None:
        return lambda: None
    servers = Servers(folder)
    monkeypatch.setattr(vendor, "run", servers.instead_of(vendor.run))
    return servers.close
