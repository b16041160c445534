"""Downloads a CUDA release that is not installed: pip puts its wheels into a folder of the user's cache.

    ensure("nvrtc", "12.9")  ->  ~/.cache/ptxaudit/toolchains/12.9/nvidia/cuda_nvrtc/lib/libnvrtc.so.12, …

One folder per release holds the compiler, ptxas, and their headers. It is made under another name and renamed, so
that two processes that download the same release do not interfere.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ptxaudit.base import private
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import toolchains

SECONDS = 1200
FIRST_MAJOR = 11  # the first with wheels of NVRTC and ptxas; its first minor is 11.8
_NO_RELEASE = re.compile(r"No matching distribution|Could not find a version")
_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.\d+)*")


def ensure(kind: str, version: str, say: Callable[[str], None] | None = None, fetching: bool = True) -> toolchains.Tool:
    """The tool of that release, downloaded if it is not installed.

    say: called with a sentence before a download; None prints it to stderr. fetching: whether a download is allowed.
    Raises InputError if there is no such release, or it cannot be downloaded, with an alternative.
    """
    try:
        return toolchains.get(kind, version)
    except InputError as missing:
        if kind not in ("nvrtc", "ptxas"):
            raise missing from None
        packages(version)
        if not fetching:
            raise InputError(
                f"CUDA {version} is not installed, and settings found automatically may not download it",
                f"run `ptxaudit toolchains --fetch {version.strip()}`, or name the settings with --config FILE",
            ) from None
    fetch(version, say)
    return toolchains.get(kind, version)


def packages(version: str) -> list[str]:
    """The arguments for pip: the wheels of one release, by the names that they had then. Raises InputError."""
    match = _VERSION.fullmatch(version.strip())
    if not match or int(match[1]) < FIRST_MAJOR:
        raise InputError(
            f"there is no CUDA release {version!r} as wheels",
            "name one as 11.8, 12.9 or 13.0; `ptxaudit toolchains` lists the installed ones",
        )
    major, minor = int(match[1]), match[2]
    exact = f"=={version.strip()}.*" if minor else f"=={major}.*"
    names = ["nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-nvcc"]
    suffix = f"-cu{major}" if major < 13 else ""
    wanted = [f"{name}{suffix}{exact}" for name in names]
    if not suffix:
        wanted.append(f"nvidia-cuda-crt{exact}")  # part of nvcc's wheel before
    # libcu++ has its own releases: the newest of the toolkit's minor or before
    wanted.append(
        f"nvidia-cuda-cccl{suffix}>={major}.0,<{major}.{int(minor) + 1}"
        if minor
        else f"nvidia-cuda-cccl{suffix}=={major}.*"
    )
    return wanted


def fetch(version: str, say: Callable[[str], None] | None = None) -> Path:
    """Downloads a release and returns its folder. Raises InputError."""
    wanted = packages(version)
    home = toolchains.cache_folder()
    target = home / version.strip()
    (say or _say)(f"downloading CUDA {version} ({', '.join(wanted)}) into {target}")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not private.is_own(home):
            raise InputError(
                "the folder of downloaded releases is writable by others",
                "remove their write permission, or set XDG_CACHE_HOME to another folder",
                str(home),
            )
        made = Path(tempfile.mkdtemp(prefix=".making-", dir=home))
    except OSError as error:
        raise InputError(
            f"cannot make a folder for CUDA {version}: {error.strerror}", _instead(version), str(home)
        ) from None
    try:
        _install(wanted, made, version)
        if not target.exists():
            made.rename(target)
    except OSError:
        if not target.exists():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
        toolchains.find.cache_clear()
    return target


def _install(wanted: list[str], target: Path, version: str) -> None:
    command = [*_installer(version), "--no-deps", "--only-binary", ":all:", "--quiet", "--target", str(target), *wanted]
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
    except subprocess.TimeoutExpired:
        raise InputError(f"downloading CUDA {version} took more than {SECONDS} s", _instead(version)) from None
    if done.returncode == 0:
        return
    log = (done.stdout + done.stderr).strip()
    offline = re.search(
        r"NewConnectionError|Failed to establish|Name or service|Temporary failure|No route|timed out|ProxyError", log
    )
    if _NO_RELEASE.search(log) and not offline:
        raise InputError(
            f"CUDA {version} is not installed, and there are no wheels for it",
            _instead(version),
            detail=_last(log),
        )
    raise InputError(
        f"CUDA {version} is not installed, and could not be downloaded: is this machine offline?",
        _instead(version),
        detail=_last(log),
    )


def _installer(version: str) -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "install"]  # -P: not a pip from the working folder
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise InputError(f"CUDA {version} is not installed, and there is no pip to download it", _instead(version))


def _instead(version: str) -> str:
    """How to proceed without a download."""
    wheels = " ".join(f"'{package}'" for package in packages(version))
    return (
        f"name a CUDA {version} folder in {toolchains.VARIABLE}, or install one on a machine with a network: pip"
        f" install --no-deps --target FOLDER {wheels}"
    )


def _last(log: str, lines: int = 6) -> str:
    return "\n".join(log.splitlines()[-lines:])


def _say(sentence: str) -> None:
    print(f"ptxaudit: {sentence}", file=sys.stderr, flush=True)
