"""Finds CUDA's compilers and disassemblers: in wheels of several majors, CUDA folders and PATH.

    find("ptxas") -> [Tool(kind="ptxas", path=".../site-packages/nvidia/cu13/bin/ptxas", origin="wheel"),
                      Tool(kind="ptxas", path="/usr/local/cuda-12.9/bin/ptxas", origin="CUDA folder")]

The first of a kind is the default. Every location is searched as a *root*: a folder in which tools have the same
relative paths. Wheels since CUDA 13 put everything in one root (`nvidia/cu13`), earlier ones have a folder per
component (`nvidia/cuda_nvrtc`), and a CUDA installation is itself a root.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

from ptxaudit.base import limits, private, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record

# Additional folders to search, separated as in PATH: CUDA installations, or `pip install --target` folders.
VARIABLE = "PTXAUDIT_TOOLCHAINS"

SYSTEM_FOLDERS = ("/usr/local", "/opt")  # where CUDA is installed: /usr/local/cuda-12.9

# The location of each tool below a root (glob patterns).
PLACES: dict[str, tuple[str, ...]] = {
    "nvrtc": (
        "lib/libnvrtc.so.*",
        "lib64/libnvrtc.so.*",
        "targets/*/lib/libnvrtc.so.*",
        "cuda_nvrtc/lib/libnvrtc.so.*",
    ),
    "ptxas": ("bin/ptxas", "cuda_nvcc/bin/ptxas"),
    "nvdisasm": ("bin/nvdisasm", "cuda_nvdisasm/bin/nvdisasm"),
    "cuobjdump": ("bin/cuobjdump", "cuda_cuobjdump/bin/cuobjdump"),
    "nvcc": ("bin/nvcc", "cuda_nvcc/bin/nvcc"),
}
KINDS = tuple(PLACES)

# The location of CUDA's headers below a root; libcu++ and CUB moved into `cccl` with CUDA 13.
HEADER_PLACES = (
    "include",
    "include/cccl",
    "targets/*/include",
    "targets/*/include/cccl",
    "cuda_runtime/include",
    "cuda_cccl/include",
    "cuda_nvcc/include",
)

PACKAGES = {
    "nvrtc": "nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt",
    "ptxas": "nvidia-cuda-nvcc",
    "nvdisasm": "nvidia-cuda-nvdisasm",
    "cuobjdump": "nvidia-cuda-cuobjdump",
    "nvcc": "nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl",
}


# The last releases that compile for dropped architectures, with the first and last of these (SM numbers).
# https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/
LAST_RELEASES = (("11.8", 35, 37), ("12.9", 50, 72))


def release_for(sm: int) -> str | None:
    """The last release that compiles for an architecture that newer ones dropped; None for other architectures."""
    return next((release for release, low, high in LAST_RELEASES if low <= sm <= high), None)


class Tool(Record, dict=True):
    """One tool.

    path: the library (nvrtc) or executable.
    origin: the kind of location.
    headers: folders of CUDA's headers in the same root, in include order.
    """

    kind: str
    path: str
    origin: str
    headers: tuple[str, ...] = ()

    @cached_property
    def version(self) -> str:
        """The version, "13.5" (nvrtc) or "13.5.37" (executables, which are run to get it); "" if unknown."""
        return _library_version(self.path) if self.kind == "nvrtc" else _executable_version(self.path)


def _library_version(path: str) -> str:
    """NVRTC's version, without loading it: the name of its builtins library, which is beside it, contains it."""
    for builtins in sorted(Path(path).parent.glob("libnvrtc-builtins.so.*")):
        if match := re.search(r"\.so\.(\d+\.\d+)", builtins.name):
            return match[1]
    match = re.search(r"\.so\.(\d+(?:\.\d+)*)", os.path.realpath(path))
    return match[1] if match else ""


def _executable_version(path: str) -> str:
    try:
        said = vendor.run([path, "--version"], limits.TOOL_TIME).out
    except (OSError, InputError):
        return ""
    match = re.search(r"\bV(\d+(?:\.\d+)+)", said)
    return match[1] if match else ""


def cache_folder() -> Path:
    """The folder of downloaded toolchains, one `pip install --target` folder each."""
    return private.place("toolchains")


def _wheel_roots(folder: Path) -> Iterator[Path]:
    """The roots that wheels make below a site-packages folder, newest major first."""
    nvidia = folder / "nvidia"
    if nvidia.is_dir():
        yield from sorted(nvidia.glob("cu[0-9]*"), key=lambda p: -int(re.sub(r"\D", "", p.name) or 0))
        yield nvidia


def roots() -> Iterator[tuple[Path, str]]:
    """Every (folder, origin) that may hold tools, in order of preference."""
    for entry in filter(os.path.isabs, sys.path):  # "" is the working folder, which may contain anything
        for root in _wheel_roots(Path(entry)):
            yield root, "wheel"
    for entry in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        yield Path(entry), VARIABLE
        for root in _wheel_roots(Path(entry)):
            yield root, VARIABLE
    fetched = cache_folder()
    for folder in (
        sorted(fetched.glob("[!.]*"), reverse=True) if private.is_own(fetched) else ()
    ):  # a leading dot: still being made
        for root in _wheel_roots(folder):
            yield root, "cache"
    for variable in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"):
        if os.environ.get(variable):
            yield Path(os.environ[variable]), variable
    for parent in SYSTEM_FOLDERS:
        for root in sorted(Path(parent).glob("cuda*"), reverse=True):
            yield root, "CUDA folder"


def headers_below(root: Path) -> tuple[str, ...]:
    """The folders of CUDA's headers below a root, in include order."""
    found: list[str] = []
    for place in HEADER_PLACES:
        for folder in sorted(root.glob(place)):
            if folder.is_dir() and os.path.realpath(folder) not in map(os.path.realpath, found):
                found.append(str(folder))
    return tuple(found)


def headers_of(library: str) -> tuple[str, ...]:
    """The header folders for an NVRTC library: of its own root, else the first that are found."""
    real = os.path.realpath(library)
    tools = find("nvrtc")
    own = next((tool.headers for tool in tools if os.path.realpath(tool.path) == real), ())
    return own or headers_below(Path(real).parent.parent) or next((tool.headers for tool in tools if tool.headers), ())


@cache
def find(kind: str) -> tuple[Tool, ...]:
    """Every tool of a kind ("nvrtc", "ptxas", "nvdisasm", "cuobjdump", "nvcc"), the preferred one first."""
    found: dict[str, Tool] = {}
    for root, origin in roots():
        for place in PLACES[kind]:
            for path in sorted(root.glob(place), key=lambda p: -len(p.name)):
                if kind == "nvrtc" or os.access(path, os.X_OK):
                    headers = headers_below(root) if kind in ("nvrtc", "nvcc") else ()
                    found.setdefault(os.path.realpath(path), Tool(kind, str(path), origin, headers))
    if kind != "nvrtc" and (there := shutil.which(kind, path=vendor.environment()["PATH"])):
        found.setdefault(os.path.realpath(there), Tool(kind, there, "PATH"))
    return tuple(found.values())


def get(kind: str, version: str | None = None) -> Tool:
    """The preferred tool of a kind, or the first whose version begins with `version` ("12.9").

    Raises InputError if there is none, with the command that installs it.
    """
    tools = find(kind)
    if version is not None:
        wanted = [tool for tool in tools if (tool.version + ".").startswith(version + ".")]
        if not wanted:
            have = ", ".join(sorted({tool.version for tool in tools})) or "none"
            raise InputError(f"there is no {kind} {version} on this machine (found: {have})", how_to_add(kind))
        return wanted[0]
    if not tools:
        raise InputError(f"there is no {kind} on this machine", how_to_add(kind))
    return tools[0]


def newest(kind: str) -> str:
    """The highest installed version of a kind; "" if there is none."""
    return max(
        (tool.version for tool in find(kind)),
        key=lambda version: [int(part) for part in version.split(".") if part],
        default="",
    )


def how_to_add(kind: str) -> str:
    """One sentence on how to install a tool, or to specify an installed one."""
    return f"run `pip install {PACKAGES[kind]}`, or name a CUDA folder in {VARIABLE}"


def everything() -> list[Tool]:
    """Every tool of every kind. Queries the versions of executables in parallel."""
    from concurrent.futures import ThreadPoolExecutor

    tools = [tool for kind in KINDS for tool in find(kind)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda tool: tool.version, tools))
    return tools
