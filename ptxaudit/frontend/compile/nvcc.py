"""Compiles CUDA source with nvcc, for files with host code. Needs gcc; no GPU.

    compile_source("app.cu", arch="sm_90") -> Compiled(ptx=…, cubin=…, compiler="nvcc 13.5.37")

Only device code is built (`-cubin`): no host object, no linking.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from ptxaudit.base import limits, temporary, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import compiler_log, nvcc_arguments, toolchains
from ptxaudit.frontend.compile.compiled import Compiled, read_source

SEEDED = 13  # the first CUDA major whose nvcc is known to accept --frandom-seed


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
    """Compiles a source file, or source text; the arguments are those of `nvrtc.compile_source`.

    options: further nvcc options. tool: an nvcc other than the preferred one. Raises InputError if the source does
    not compile (`detail` has the unchanged log), if it has no kernel, for an unknown architecture, and if nvcc or its
    host compiler is missing.
    """
    file, text, path = read_source(source, name)
    tool = tool or toolchains.get("nvcc")
    _check_host_compiler(file)
    arch = arch if "_" in arch else f"sm_{arch}"
    virtual = arch.startswith("compute_")
    with temporary.folder() as folder:
        unit = _unit(path, text, Path(folder), instantiate)
        out = Path(folder, "out.ptx" if virtual else "out.cubin")
        kept = Path(folder, "kept")
        kept.mkdir()
        in_arguments, in_environment = nvcc_arguments.folders(include)
        keeping, made = ["--keep", f"--keep-dir={kept}"], ["-o", str(out)]
        command = [*_what(arch, std, tool), *nvcc_arguments.macros(defines, Path(folder)), *in_arguments]
        command += [*keeping, *options, nvcc_arguments.as_path(unit), *made]
        nvcc_arguments.check(command, file)
        done = _run([tool.path, *command], file, folder, in_environment)
        log = done.said if path is not None else done.said.replace(str(unit), file)
        if done.status:
            raise (vendor.crashed("nvcc", done) or _refused(log, file, arch, tool, tuple(instantiate))).in_file(file)
        ptx = out if virtual else next(kept.glob("*.ptx"))
        text_of_ptx, cubin = ptx.read_text(encoding="utf-8", errors="replace"), None if virtual else out.read_bytes()
        made_by = f"nvcc {tool.version}"
        return Compiled(file, text, arch, text_of_ptx, cubin, log, made_by, headers=tool.headers).checked()


def _check_host_compiler(file: str) -> None:
    if not has_host_compiler():
        raise InputError(
            "nvcc needs a host C++ compiler, but gcc is not installed",
            "install gcc and g++, or name one in NVCC_CCBIN",
            file,
        )


def _what(arch: str, std: str, tool: toolchains.Tool) -> list[str]:
    """Options for the kind of output and the language. As with NVRTC, names must not contain the process id."""
    kind = "-ptx" if arch.startswith("compute_") else "-cubin"
    seed = ["--frandom-seed=1"] if _major(tool) >= SEEDED else []
    return [f"-arch={arch}", "-lineinfo", f"-std={std}", kind, *seed]


def has_host_compiler() -> bool:
    """Whether there is a compiler that nvcc may run."""
    return bool(os.environ.get("NVCC_CCBIN") or shutil.which("gcc") and shutil.which("g++"))


def at_hand(release: str | None) -> toolchains.Tool | None:
    """The nvcc that would compile, of the given release if any; None if it, or its gcc, is not installed."""
    try:
        tool = toolchains.get("nvcc", release)
    except InputError:
        return None
    return tool if has_host_compiler() else None


def _unit(path: Path | None, text: str, folder: Path, instantiate: Sequence[str]) -> Path:
    """The file to compile: the source, or one that includes it to instantiate templates or because of its name."""
    if path is None:
        path = folder / "source.cu"
        path.write_text(text, encoding="utf-8")
    if not instantiate and nvcc_arguments.is_inert(str(path)):
        return path
    # A host variable that holds a kernel's address makes nvcc compile that instance.
    unit = folder / compiler_log.INSTANCES[1]
    lines = [
        nvcc_arguments.inclusion(path),
        *(f"auto ptxaudit_instance_{i} = &{_one_line(e).lstrip('&')};" for i, e in enumerate(instantiate)),
    ]
    unit.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
    return unit


def _one_line(expression: str) -> str:
    if not expression.isprintable():
        raise InputError(
            f"--instantiate {expression!r} is not one line of text", "write one template instance: 'gemm<float,128,8>'"
        )
    return expression


def _run(command: list[str], file: str, folder: str, folders: str) -> vendor.Done:
    try:
        return vendor.run(command, limits.COMPILER_TIME, temporary=folder, more={"CPATH": folders} if folders else {})
    except OSError as error:
        raise InputError(f"cannot run {command[0]}: {error.strerror}", toolchains.how_to_add("nvcc"), file) from None
    except InputError as error:
        raise error.in_file(file) from None


def _refused(log: str, file: str, arch: str, tool: toolchains.Tool, instantiate: tuple[str, ...]) -> InputError:
    if "gpu-architecture" in log or "Unsupported gpu architecture" in log:
        return InputError(
            f"nvcc {tool.version} does not know the architecture {arch!r}",
            f"it takes {', '.join(_architectures(tool))}",
            detail=log,
        )
    if re.search(r"(gcc|g\+\+|cc1plus): (not found|No such file)|host compiler", log):
        return InputError(
            "nvcc cannot run its host compiler", "install gcc and g++, or name one in NVCC_CCBIN", file, detail=log
        )
    return compiler_log.from_log(log, "nvcc", file, instantiate)


def _major(tool: toolchains.Tool) -> int:
    return int(tool.version.split(".")[0] or 0)


def _architectures(tool: toolchains.Tool) -> list[str]:
    return re.findall(r"sm_\d+", vendor.run([tool.path, "--list-gpu-code"], limits.TOOL_TIME).out)
