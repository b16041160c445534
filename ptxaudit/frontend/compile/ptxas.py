"""Assembles PTX to machine code with ptxas.

assemble(".version 9.0 …", "sm_90") -> Assembled(cubin=b"\\x7fELF…", log="", compiler="ptxas 13.5.37")
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ptxaudit.base import limits, temporary, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.compile import toolchains

_TARGET = re.compile(r"^\s*\.target\s+(sm_\w+)", re.MULTILINE)
_ERROR = re.compile(r"^ptxas (?:[^\n,]+, line (?P<line>\d+); )?(?:error|fatal) *: (?P<message>[^\n]*)", re.MULTILINE)


class Assembled(Record):
    """The output of ptxas. log: its messages (registers and spills with `-v` in options)."""

    cubin: bytes
    log: str
    tool: toolchains.Tool


def assemble(
    ptx: str,
    arch: str | None = None,
    options: Sequence[str] = (),
    file: str = "<ptx>",
    tool: toolchains.Tool | None = None,
) -> Assembled:
    """The machine code of a PTX module, with line information.

    arch: "sm_90"; None = the module's own `.target`. options: further ptxas options. tool: a ptxas other than the
    preferred one. Raises InputError for PTX that ptxas rejects, with its log in `detail`.
    """
    tool = tool or toolchains.get("ptxas")
    arch = arch or target(ptx, file)
    with temporary.folder() as folder:
        source, cubin = Path(folder, "module.ptx"), Path(folder, "module.cubin")
        source.write_text(ptx, encoding="utf-8")
        command = [tool.path, f"--gpu-name={arch}", "--generate-line-info", *options, str(source), "-o", str(cubin)]
        try:
            done = vendor.run(command, limits.TOOL_TIME, temporary=folder)
        except InputError as error:
            raise error.in_file(file) from None
        except OSError as error:
            raise InputError(
                f"cannot run {tool.path}: {error.strerror}", toolchains.how_to_add("ptxas"), file
            ) from None
        log = done.said.replace(str(source), file)
        if done.status or not cubin.is_file():
            raise (vendor.crashed("ptxas", done) or _refused(log, file, done.status, tool)).in_file(file)
        return Assembled(cubin.read_bytes(), log, tool)


def target(ptx: str, file: str = "<ptx>") -> str:
    """The architecture of the module's `.target` directive. Raises InputError if there is none."""
    if match := _TARGET.search(ptx):
        return match[1]
    raise InputError("this PTX has no .target directive", "check that it is a complete PTX module", file)


def _refused(log: str, file: str, status: int, tool: toolchains.Tool) -> InputError:
    match = _ERROR.search(log)
    if match is None:
        return InputError(f"ptxas failed with status {status}", "audit the PTX alone: --isa ptx", file, detail=log)
    hint = ""
    if "Unsupported .version" in match["message"]:
        hint = (
            f"it is from a newer CUDA than ptxas {tool.version}: name a newer one with --ptxas, or run `pip install"
            " --upgrade nvidia-cuda-nvcc`"
        )
    elif "SM version specified by .target" in match["message"]:
        hint = "assemble it for the architecture that its .target names, or a newer one"
    elif "gpu-name" in match["message"]:
        sm = re.search(r"sm_(\d+)", match["message"])
        release = toolchains.release_for(int(sm[1])) if sm else None
        hint = (
            f"CUDA {release} takes it: add --ptxas {release}"
            if release
            else "`ptxas --help` lists the architectures that it takes"
        )
    of_source = Path(file).suffix in (".cu", ".cuh")  # the line is in the PTX compiled from it
    line = int(match["line"]) if match["line"] and not of_source else None
    return InputError(f"ptxas cannot assemble this: {match['message'].strip()}", hint, file, line, detail=log)
