"""Runs a command and measures its cost: process time of it and its children, peak memory, and elapsed time.

cost(["ptxas", "k.ptx"])  ->  Cost(seconds=1.42, megabytes=88.0, elapsed=1.5)
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

CHECKOUT = Path(__file__).resolve().parent.parent
RUNS = 5
KILOBYTE, MEGABYTE = 1024, 1e6


@dataclass(frozen=True)
class Cost:
    """The cost of a command.

    seconds: user and system time; megabytes: the peak of resident memory; elapsed: seconds from beginning to end,
    which a busy machine changes.
    """

    seconds: float
    megabytes: float
    elapsed: float


def cost(command: Sequence[str], folder: Path, output: Path | None = None, statuses: Sequence[int] = (0,)) -> Cost:
    """The cost of one run of a command in `folder`. Raises RuntimeError with its messages if it fails.

    output: a file for its standard output; statuses: the exit statuses that are allowed.
    """
    said = folder / "stderr.txt"
    began = time.monotonic()
    with open(output or os.devnull, "wb") as out, said.open("wb") as err:
        child = subprocess.Popen(command, cwd=folder, env=_environment(), stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in statuses:
        raise RuntimeError(f"{' '.join(command)} failed: {said.read_text(errors='replace')}")
    elapsed = time.monotonic() - began
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KILOBYTE / MEGABYTE, elapsed)


def best(command: Sequence[str], folder: Path, runs: int = RUNS, statuses: Sequence[int] = (0,)) -> Cost:
    """The minimum time and the maximum memory of several runs, after one that fills the caches."""
    cost(command, folder, statuses=statuses)
    found = [cost(command, folder, statuses=statuses) for _ in range(runs)]
    return Cost(
        min(one.seconds for one in found), max(one.megabytes for one in found), min(one.elapsed for one in found)
    )


def audit(*arguments: str) -> list[str]:
    """The command line of an audit."""
    return [sys.executable, "-m", "ptxaudit", "audit", "--no-cache", *arguments]


@cache
def _environment() -> dict[str, str]:
    """An environment like an installed package's: compiled modules are kept, whatever the caller's environment."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PTXAUDIT_DEBUG")
    }
    return kept | {"PYTHONPYCACHEPREFIX": mkdtemp(prefix="ptxaudit-bench-"), "PYTHONPATH": str(CHECKOUT)}
