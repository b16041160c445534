"""The builds of a kernel: compilers and options that turn the same source into different machine code.

    compile_build(program, "nvcc-G")  ->  Built(cubin=…, ptx=…, compiler="nvcc 13.0.88")

`nvcc` is the one on the PATH, with the ptxas and nvlink beside it; `nvrtc` is the one that ptxaudit loads, or that of
an earlier CUDA release, which ptxaudit downloads.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.adversary.program import Program

SECONDS = 300  # limit for one compilation


@dataclass(frozen=True)
class Build:
    """options: of the compiler; linked: as relocatable code, then linked; release: of CUDA, None for the newest."""

    name: str
    compiler: str  # "nvcc" or "nvrtc"
    options: tuple[str, ...] = ()
    linked: bool = False
    release: str | None = None


@dataclass(frozen=True)
class Built:
    """The output of a build. ptx: "" if it is not kept."""

    build: str
    arch: str
    cubin: bytes
    ptx: str
    compiler: str


BUILDS = {
    build.name: build
    for build in (
        Build("nvrtc-O3", "nvrtc"),
        Build("nvcc-O3", "nvcc"),
        Build("nvcc-O0", "nvcc", ("-Xcicc", "-O0", "-Xptxas", "-O0")),
        Build("nvcc-O1", "nvcc", ("-Xptxas", "-O1")),
        Build("nvcc-ptxas-O0", "nvcc", ("-Xptxas", "-O0")),
        Build("nvcc-G", "nvcc", ("-G",)),
        Build("nvcc-r24", "nvcc", ("-maxrregcount=24",)),
        Build("nvcc-fast", "nvcc", ("-use_fast_math",)),
        Build("nvcc-rdc", "nvcc", ("-rdc=true",), linked=True),
        Build("nvrtc-G", "nvrtc", ("--device-debug",)),
        Build("nvrtc-r24", "nvrtc", ("--maxrregcount=24",)),
        Build("nvrtc-fast", "nvrtc", ("--use_fast_math",)),
        Build("nvrtc-O1", "nvrtc", ("--ptxas-options=-O1",)),
        Build("nvrtc-O0", "nvrtc", ("--ptxas-options=-O0",)),
    )
}
NAMES = tuple(BUILDS)  # seeds rotate through these

RELEASES = ("11.8", "12.0", "12.4", "12.6", "12.9", "13.2")
BY_RELEASE = {
    f"nvrtc{release}-{name}": Build(f"nvrtc{release}-{name}", "nvrtc", options, release=release)
    for release in RELEASES
    for name, options in {
        "O3": (),
        "O1": ("--ptxas-options=-O1",),
        "O0": ("--ptxas-options=-O0",),
        "G": ("--device-debug",),
        "r24": ("--maxrregcount=24",),
    }.items()
}
EVERY = {**BUILDS, **BY_RELEASE}


class NotBuilt(Exception):
    """The compiler rejected the source; the message is its log."""


def arch_of(seed: int) -> str:
    return "sm_90a" if seed % 2 else "sm_90"


def compile_build(program: Program, name: str, arch: str = "") -> Built:
    """Compiles one build of a program, for an architecture or for `arch_of` its seed. Raises NotBuilt."""
    build, arch = EVERY[name], arch or arch_of(program.seed)
    return (_by_nvrtc if build.compiler == "nvrtc" else _by_nvcc)(program, build, arch)


def _by_nvrtc(program: Program, build: Build, arch: str) -> Built:
    from ptxaudit.base.errors import InputError
    from ptxaudit.frontend.compile import toolchain_fetch
    from ptxaudit.frontend.compile.nvrtc import compile_source

    tool = toolchain_fetch.ensure("nvrtc", build.release) if build.release else None
    try:
        made = compile_source(program.source(), arch=arch, options=build.options, name=f"{program.name}.cu", tool=tool)
    except InputError as error:
        raise NotBuilt(error.detail or str(error)) from None
    return Built(build.name, arch, made.cubin, made.ptx, made.compiler)


def _by_nvcc(program: Program, build: Build, arch: str) -> Built:
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, f"{program.name}.cu"), Path(folder, "out.cubin")
        source.write_text(program.source())
        line_table = () if "-G" in build.options else ("-lineinfo",)
        _run(
            [
                "nvcc",
                f"-arch={arch}",
                "-std=c++17",
                "-w",
                *line_table,
                *build.options,
                "--frandom-seed=1",
                "--keep",
                f"--keep-dir={folder}",
                "-cubin",
                str(source),
                "-o",
                str(cubin),
            ],
            folder,
        )
        ptx = next(Path(folder).glob("*.ptx"), None)
        if build.linked:
            linked = Path(folder, "linked.cubin")
            _run([str(_beside("nvlink")), f"-arch={arch}", str(cubin), "-o", str(linked)], folder)
            cubin = linked
        return Built(build.name, arch, cubin.read_bytes(), ptx.read_text() if ptx else "", f"nvcc {_version()}")


def _run(command: list[str], folder: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=folder)
    if done.returncode:
        raise NotBuilt(done.stdout + done.stderr)


def _beside(tool: str) -> Path:
    return Path(os.path.realpath(shutil.which("nvcc") or "nvcc")).parent / tool


@cache
def _version() -> str:
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", said)
    return found[1] if found else "?"
