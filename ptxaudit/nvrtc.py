"""Compiles CUDA source with NVRTC, in this process, with no GPU and no driver.

    compile_source("k.cu", arch="sm_90") -> Compiled(ptx=".version 9.5 …", cubin=b"\\x7fELF…", …)

One compile for a real architecture gives the PTX and the machine code that belongs to it, both
with line tables. https://docs.nvidia.com/cuda/nvrtc/index.html
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxaudit import compiler_log, resources
from ptxaudit.compiled import Compiled, read_source
from ptxaudit.errors import InputError

# Stand-ins over libcu++ for the standard headers that NVRTC lacks; its README says more.
STANDARD_HEADERS = resources.data("nvrtc_include")

_ARCH = re.compile(r"(?:(sm|compute)_)?(\d+)([af]?)")


def compile_source(
    source: str | os.PathLike[str],
    arch: str = "sm_90",
    include: Sequence[str] = (),
    defines: Sequence[str] = (),
    std: str = "c++17",
    instantiate: Sequence[str] = (),
    options: Sequence[str] = (),
    name: str | None = None,
) -> Compiled:
    """Compile a source file, or the text of one.

    source: a path; a `str` with a line break in it is the text itself, called `name`.
    include: folders; defines: "N" or "N=V"; instantiate: template instances, as C++ writes them;
    options: further NVRTC options as they are.
    Raises InputError when the source does not compile (`detail` has NVRTC's log as it is), when it has
    no kernel, for an unknown architecture, and when NVRTC is not installed.
    """
    file, text, path = read_source(source, name)
    folders = [str(path.resolve().parent)] if path else []
    library = _library()
    arch = library.check_arch(arch)
    # Without a seed the names of an unnamed namespace's kernels have the process id in them.
    arguments = [f"--gpu-architecture={arch}", "-lineinfo", "--frandom-seed=1", f"--std={std}", *(f"-D{d}" for d in defines)]
    arguments += [f"-I{folder}" for folder in (*include, *folders)]
    arguments += [*library.include_options, *options]

    result = library.compile(text, file, arguments, tuple(instantiate))
    notes: tuple[str, ...] = ()
    if not result.done and "-default-device" in result.log:
        # Functions and constants without __device__, which nvcc would let device code use where they
        # are constexpr. Only on failure: nothing changes for sources that do without.
        result = library.compile(text, file, [*arguments, "-default-device"], tuple(instantiate))
        notes = ("functions and variables without __device__ were compiled as device code (-default-device)",)
    if not result.done:
        if "--nv_arch" in result.log or "--gpu-architecture" in result.log:     # as for sm_90f, a suffix it has not
            raise library.unknown_arch(arch)
        raise compiler_log.from_log(result.log, "NVRTC", file, tuple(instantiate))
    return Compiled(
        file, text, arch, result.ptx, result.cubin or None, result.log, f"nvrtc {library.version}",
        result.lowered or {}, library.headers, notes,
    ).checked()


@dataclass(frozen=True)
class _Result:
    done: bool
    log: str
    ptx: str = ""
    cubin: bytes = b""
    lowered: dict[str, str] | None = None


class _Library:
    """The loaded NVRTC with its headers."""

    def __init__(self, nvrtc: Any, path: str) -> None:
        from ptxaudit import toolchains

        self.nvrtc = nvrtc
        self.ok = nvrtc.nvrtcResult.NVRTC_SUCCESS
        self.path = path
        self.version = "{}.{}".format(*self._call(nvrtc.nvrtcVersion))
        self.headers = toolchains.headers_of(path)
        self.include_options = [f"-I{folder}" for folder in (STANDARD_HEADERS, *self.headers)]

    def _call(self, function: Any, *arguments: Any) -> Any:
        status, *values = function(*arguments)
        if status != self.ok:
            _, text = self.nvrtc.nvrtcGetErrorString(status)
            raise InputError(f"NVRTC {function.__name__} failed: {text.decode()}", "this is a fault of NVRTC or of this tool; please report it")
        return values[0] if len(values) == 1 else values

    def check_arch(self, arch: str) -> str:
        """The architecture in NVRTC's spelling. Raises InputError with the supported ones."""
        supported = self._call(self.nvrtc.nvrtcGetSupportedArchs)
        match = _ARCH.fullmatch(arch.strip().lower())
        if not match or int(match[2]) not in supported:
            raise self.unknown_arch(arch)
        return f"{match[1] or 'sm'}_{match[2]}{match[3]}"

    def unknown_arch(self, arch: str) -> InputError:
        supported = self._call(self.nvrtc.nvrtcGetSupportedArchs)
        match = _ARCH.fullmatch(arch.strip().lower())
        older = match and int(match[2]) < min(supported)
        hint = "it takes " + ", ".join(f"sm_{number}" for number in supported)
        hint += "; an older CUDA still compiles for that one" if older else ""
        return InputError(f"NVRTC {self.version} does not know the architecture {arch!r}", hint)

    def compile(self, text: str, file: str, arguments: list[str], instantiate: tuple[str, ...]) -> _Result:
        nvrtc = self.nvrtc
        program = self._call(nvrtc.nvrtcCreateProgram, text.encode(), os.fsencode(file), 0, [], [])
        try:
            for expression in instantiate:
                self._call(nvrtc.nvrtcAddNameExpression, program, expression.encode())
            status, = nvrtc.nvrtcCompileProgram(program, len(arguments), [os.fsencode(a) for a in arguments])
            log = self._read(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).rstrip(b"\0").decode(errors="replace").strip()
            if status != self.ok:
                return _Result(False, log)
            ptx = self._read(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX).rstrip(b"\0").decode(errors="replace")
            cubin = self._read(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
            lowered = {e: self._call(nvrtc.nvrtcGetLoweredName, program, e.encode()).decode() for e in instantiate}
            return _Result(True, log, ptx, cubin, lowered)
        finally:
            nvrtc.nvrtcDestroyProgram(program)

    def _read(self, program: Any, size_of: Any, read: Any) -> bytes:
        size = self._call(size_of, program)
        buffer = b" " * size            # cuda.bindings writes into it
        self._call(read, program, buffer)
        return buffer


_loaded: _Library | None = None


def _library() -> _Library:
    """NVRTC, loaded on first use: the import and the 140 MB library cost a tenth of a second each."""
    global _loaded
    if _loaded is None:
        from ptxaudit import toolchains

        try:
            from cuda.bindings import nvrtc
            from cuda.pathfinder import load_nvidia_dynamic_lib

            path = load_nvidia_dynamic_lib("nvrtc").abs_path
        except ImportError as error:
            raise InputError(f"cuda-bindings cannot be imported ({error})", "run `pip install 'cuda-bindings>=13,<14'`") from None
        except RuntimeError as error:   # cuda.pathfinder's DynamicLibNotFoundError
            raise InputError("the NVRTC library (libnvrtc.so) was not found", toolchains.how_to_add("nvrtc"), detail=str(error)) from None
        _loaded = _Library(nvrtc, path or toolchains.get("nvrtc").path)
    return _loaded
