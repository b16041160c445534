"""Runs one nvdisasm per architecture for all tests of a process.

nvdisasm spends a fifth of a second on reading an architecture's tables before it looks at the code, and a thousand
tests need it. With disassembler.c loaded, it stays resident and forks for each piece of code: the output is that of
the same program. Without a C compiler, or with a version that opens its files differently, each piece of code starts
its own process.
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
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # copying small pages for each fork took half of its time


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
        """Its result for this code; None if it did not run."""
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
    """The servers of a process, each started on first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tool = toolchains.get("nvdisasm").path
        self._servers: dict[str, Server] = {}

    def instead_of(self, run: Callable[..., vendor.Done]) -> Callable[..., vendor.Done]:
        """`vendor.run`, except that a server handles calls of nvdisasm."""

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
    """From now on, keeps nvdisasm running. Returns the function that stops it."""
    if COMPILER is None:
        return lambda: None
    servers = Servers(folder)
    monkeypatch.setattr(vendor, "run", servers.instead_of(vendor.run))
    return servers.close
