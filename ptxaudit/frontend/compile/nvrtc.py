"""Compiles CUDA source with NVRTC, without a GPU or driver.

    compile_source("k.cu", arch="sm_90") -> Compiled(ptx=".version 9.5 …", cubin=b"\\x7fELF…", …)

One compile for a real architecture gives the PTX and the corresponding machine code, both with line tables. Every
release, the one that cuda-bindings loads and those that `toolchains` finds, runs in its own process.
https://docs.nvidia.com/cuda/nvrtc/index.html
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from ptxaudit.base import resources, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.compile import compiler_log, toolchains
from ptxaudit.frontend.compile.compiled import Compiled, read_source
from ptxaudit.frontend.compile.nvrtc_remote import Ended, Result, worker

# Wrappers of libcu++ for the standard headers that NVRTC lacks; see the README there.
STANDARD_HEADERS = resources.data("frontend/compile/nvrtc_include")

_ARCH = re.compile(r"(?:(sm|compute)_)?(\d+)([af]?)")

# Without a seed, the names of kernels in an unnamed namespace contain the process id.
SEED = "--frandom-seed=1"
SEEDED = 12  # the first major that accepts it; 11.8 crashes at the next compile after an option that it lacks


def compile_source(
    source: str | os.PathLike[str],
    arch: str = "sm_90",
    include: Sequence[str] = (),
    defines: Sequence[str] = (),
    std: str = "c++17",
    instantiate: Sequence[str] = (),
    options: Sequence[str] = (),
    name: str | None = None,
    tool: toolchains.Tool | None = None,
) -> Compiled:
    """Compiles a source file, or source text.

    source: a path; a `str` with a line break in it is the text itself, called `name`.
    include: folders.
    defines: "N" or "N=V".
    instantiate: template instances, as C++ writes them.
    options: further NVRTC options, unchanged.
    tool: an NVRTC other than cuda-bindings'.

    Raises InputError if the source does not compile (`detail` has NVRTC's unchanged log), if it has no kernel, for an
    unknown architecture, and if NVRTC is not installed.
    """
    file, text, path = read_source(source, name)
    folders = [str(path.resolve().parent)] if path else []
    library = _library(tool.path if tool else None)
    arch = check_arch(library, arch)
    headers = toolchains.headers_of(library.path)
    arguments = [f"--gpu-architecture={arch}", "-lineinfo", *_seed(library), f"--std={std}"]
    arguments += [f"-D{d}" for d in defines]
    arguments += [f"-I{folder}" for folder in (*include, *folders, STANDARD_HEADERS, *headers)]
    arguments += options

    program = os.path.join(os.curdir, file) if file.startswith("-") else file  # NVRTC takes such a name for an option
    result, notes = _compile(library, text, program, arguments, tuple(instantiate))
    if not result.done:
        named = f"NVRTC {library.version}" if tool else "NVRTC"
        raise _refused(library, result.log, arch, named, file, tuple(instantiate))
    return Compiled(
        file,
        text,
        arch,
        result.ptx,
        result.cubin or None,
        result.log,
        f"nvrtc {library.version}",
        result.lowered or {},
        headers,
        notes,
    ).checked()


def _refused(library: Library, log: str, arch: str, named: str, file: str, instantiate: tuple[str, ...]) -> InputError:
    """The error for a source that did not compile."""
    if (crash := vendor.crashed("NVRTC", vendor.Done(1, log, ""))) is not None:
        return crash.in_file(file)
    if "--nv_arch" in log or "--gpu-architecture" in log:  # as for sm_90f, a suffix that it lacks
        return unknown_arch(library, arch)
    return compiler_log.from_log(log, named, file, instantiate)


class Library(Protocol):
    """One NVRTC."""

    path: str
    version: str
    archs: list[int]

    def compile(self, text: str, file: str, arguments: Sequence[str], instantiate: Sequence[str]) -> Result: ...


def _seed(library: Library) -> list[str]:
    return [SEED] if int(library.version.split(".")[0]) >= SEEDED else []


class Remedy(Record):
    """A fix for sources that nvcc accepts and NVRTC does not.

    sign: a pattern for NVRTC's log.
    arguments: additional arguments that help.
    note: the assumption that these make.
    """

    sign: str
    arguments: tuple[str, ...]
    note: str


# Applied only after a failure, so that other sources are unaffected.
HOST_HEADERS = Remedy(
    r'cannot open source file "[^"]+"',
    (f"-I{resources.data('frontend/compile/nvrtc_host')}",),
    "host headers were left out",
)
REMEDIES = (
    # functions and constants without __device__, which nvcc lets device code use if they are constexpr
    Remedy(
        "-default-device",
        ("-default-device",),
        "functions and variables without __device__ were compiled as device code (-default-device)",
    ),
    Remedy(
        r"identifier"
        r' "(?:u_?(?:char|short|int|long)(?:\d+_t)?|u?int\d+_t|s?size_t|off_t|M_\w+'
        r'|INFINITY|NAN|HUGE_VALF?|[A-Z]+_(?:MIN|MAX|BIT))"'
        r" is undefined",
        ("--pre-include=ptxaudit_as_nvcc.h",),
        "limits, constants and types of C were included, as nvcc does (stdlib.h, math.h, limits.h)",
    ),
    HOST_HEADERS,
)


def _compile(
    library: Library, text: str, file: str, arguments: list[str], instantiate: tuple[str, ...]
) -> tuple[Result, tuple[str, ...]]:
    """(the result, the assumptions made): retries without an option that this release lacks, or with one that helps."""
    try:
        result = library.compile(text, file, arguments, instantiate)
    except Ended:
        return _without_machine_lines(library, text, file, arguments, instantiate)
    if not result.done and SEED in result.log:
        arguments = [argument for argument in arguments if argument != SEED]
        result = library.compile(text, file, arguments, instantiate)
    applied: list[Remedy] = []
    missing: Result | None = None  # the result that reported a missing host header
    while not result.done:
        remedy = next((one for one in REMEDIES if one not in applied and re.search(one.sign, result.log)), None)
        if remedy is None:
            return missing or result, ()
        if remedy is HOST_HEADERS:
            missing = result
        applied.append(remedy)
        arguments = [*arguments, *remedy.arguments]
        result = library.compile(text, file, arguments, instantiate)
    return result, tuple(remedy.note for remedy in applied)


def _without_machine_lines(
    library: Library, text: str, file: str, arguments: list[str], instantiate: tuple[str, ...]
) -> tuple[Result, tuple[str, ...]]:
    """PTX with line information, machine code without: 11.8 crashes on some machine code with sm_90's inline stacks."""
    virtual = [argument.replace("=sm_", "=compute_") for argument in arguments]
    if virtual == arguments:
        return worker(library.path).compile(text, file, arguments, instantiate), ()
    ptx = worker(library.path).compile(text, file, virtual, instantiate)
    plain = worker(library.path).compile(
        text, file, [argument for argument in arguments if argument != "-lineinfo"], instantiate
    )
    note = (
        f"NVRTC {library.version} crashes on machine code with line information for this source; the machine code has"
        " none"
    )
    return replace(plain, ptx=ptx.ptx) if plain.done and ptx.done else ptx, (note,)


# --- architectures --------------------------------------------------------------------------


def check_arch(library: Library, arch: str) -> str:
    """The architecture in NVRTC's spelling. Raises InputError with the supported ones."""
    match = _ARCH.fullmatch(arch.strip().lower())
    if not match or int(match[2]) not in library.archs:
        raise unknown_arch(library, arch)
    return f"{match[1] or 'sm'}_{match[2]}{match[3]}"


def unknown_arch(library: Library, arch: str) -> InputError:
    """The error for an unknown architecture, with the release that supports it, if any."""
    match = _ARCH.fullmatch(arch.strip().lower())
    hint = "it takes " + ", ".join(f"sm_{number}" for number in library.archs)
    release = toolchains.release_for(int(match[2])) if match else None
    if match and release and int(match[2]) not in library.archs and release != library.version:
        hint += f"; CUDA {release} takes sm_{match[2]}: add --toolchain {release}"
    elif (
        match
        and not release
        and int(match[2]) > min(library.archs)
        and (newer := toolchains.newest("nvrtc"))
        and newer != library.version
    ):
        hint += f"; CUDA {newer} is newer and installed: add --toolchain {newer}"
    return InputError(f"NVRTC {library.version} does not know the architecture {arch!r}", hint)


def _library(path: str | None = None) -> Library:
    """The NVRTC at a path, or the one that cuda-bindings loads."""
    return worker(path)
