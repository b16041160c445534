"""Lists the available CUDA releases: those installed here, and those with wheels in a package index.

    available("nvrtc")  ->  ("11.8", "12.0", …, "12.9", "13.0", …, "13.5"), oldest first, by major and minor number

It runs `pip index versions` for one package per major; without pip or a network, only installed releases are known.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterable

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import toolchains

SECONDS = 60
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)*")

# The wheels of each kind: up to CUDA 12 their names have the major as a suffix.
WHEELS = {
    "nvrtc": ("nvidia-cuda-nvrtc-cu11", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"),
    "ptxas": ("nvidia-cuda-nvcc-cu11", "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc"),
}


def number_of(release: str) -> tuple[int, int]:
    """(12, 9) for "12.9" or "12.9.86". Raises InputError."""
    found = _VERSION.fullmatch(release.strip())
    if found is None:
        raise InputError(f"{release!r} is not a CUDA release", "write major and minor number: 12.4")
    return int(found[1]), int(found[2])


def available(kind: str) -> tuple[tuple[str, ...], str]:
    """(the releases, oldest first; why there may be more, or "" if all are known)."""
    here = [tool.version for tool in toolchains.find(kind) if _VERSION.fullmatch(tool.version)]
    listed: list[str] = []
    why = ""
    for package in WHEELS[kind]:
        found = _listed(package)
        if found is None:
            why = "the package index could not be reached: only installed releases are known"
        listed += found or ()
    return _ordered([*here, *listed]), why


def between(releases: Iterable[str], first: str, last: str) -> list[str]:
    """The releases from first to last, which are included even if they are not listed.

    Raises InputError unless first is before last.
    """
    low, high = number_of(first), number_of(last)
    if low >= high:
        raise InputError(f"{first} is not before {last}", "name the older release as --good and the newer one as --bad")
    return [first.strip(), *(release for release in releases if low < number_of(release) < high), last.strip()]


def _ordered(versions: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{major}.{minor}" for major, minor in sorted({number_of(version) for version in versions}))


def _listed(package: str) -> list[str] | None:
    """The versions of a package that have wheels for this machine; None if the index could not be queried."""
    if not importlib.util.find_spec("pip"):
        return None
    command = [sys.executable, "-P", "-m", "pip", "index", "versions", package]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_RETRIES": "1"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"^Available versions: (.*)$", done.stdout, re.MULTILINE)
    if found is None:
        return (
            None
            if done.returncode == 0
            or re.search(
                r"NewConnectionError|Failed to establish|Name or service|Temporary failure|No route|timed"
                r" out|ProxyError",
                done.stderr,
            )
            else []
        )
    return [version for part in found[1].split(",") if _VERSION.fullmatch(version := part.strip())]
