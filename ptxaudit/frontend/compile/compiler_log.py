"""Turns a compiler's log into an InputError: the position, the error, and a remedy.

    k.cu(3): error: identifier "b" is undefined
      a[0]=b
           ^
    -> InputError(what='NVRTC cannot compile this: identifier "b" is undefined', file="k.cu", line=3,
                  column=6, detail=<the unchanged log>)

NVRTC and nvcc's front end (EDG's) use this format; ptxas writes `ptxas file, line 3; error : …`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record

_ERROR = re.compile(
    r"^(?P<file>[^\n]+?)\((?P<line>\d+)\): (?:catastrophic |fatal )?error(?: #[\w-]+)?: (?P<message>[^\n]*)"
    r"(?:\n  (?P<text>[^\n]*)\n  (?P<caret>[ \t]*)\^)?",
    re.MULTILINE,
)

# gcc, which preprocesses for nvcc: k.cu:3:10: fatal error: foo.h: No such file or directory
_GCC_ERROR = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>[^\n]*)", re.MULTILINE
)

# Errors about options, and those of the assembler, have no position in the source: nvrtc: error: invalid value for …
_OTHER = re.compile(r"^[^\n]*?(?:error|fatal) *: +([^\n]*)", re.MULTILINE)

# Files in which template instances are compiled, one per line from line 2: NVRTC's own, and the one for nvcc.
INSTANCES = ("__nv_name_map", "ptxaudit_instances.cu")

# C and POSIX headers that no device code needs; C++ headers are recognised by their missing suffix.
_HOST_HEADERS = (
    "time.h|errno.h|signal.h|unistd.h|getopt.h|pthread.h|windows.h|omp.h|mpi.h|sys/[a-z]+.h|thrust/[a-z_/]+.h|"
    "cublas(?:_v2|Lt)?.h|cudnn.h|cufft.h|curand.h|nvToolsExt.h|helper_[a-z]+.h|cuda_profiler_api.h|opencv2/.*|"
    "gtest/.*|benchmark/.*|torch/.*|ATen/.*|c10/.*|pybind11/.*"
)

# NVRTC's messages about host code, and descriptions of that code.
_HOST_SIGNS: tuple[tuple[str, str], ...] = (
    (r"is considered a host function|explicitly marked as a __host__ function", "a host function"),
    (r"is considered a host variable", "a host variable"),
    (r"device-side kernel launch could not be processed", "a kernel launch <<<…>>>"),
    (rf'cannot open source file "([a-z_]+|{_HOST_HEADERS})"', "the host header <{}>"),
    (
        r'identifier "(cuda[A-Z]\w*|fprintf|stderr|stdout|fopen|srand|rand|exit|getenv|atoi|atof)" is undefined',
        "{}, which only the host has",
    ),
    (
        (
            r'namespace "std" has no member (?:class'
            r' )?"(vector|string|cout|cerr|endl|map|mt19937|thread|ofstream|ifstream|runtime_error)"'
        ),
        "std::{}, which only the host has",
    ),
)

# Options that the compiler rejects before it reads the source.
_OPTION_HINTS = (
    ("--std", "--std takes c++11, c++14, c++17, c++20, and newer standards that the compiler supports"),
    ("invalid macro definition", "write it as -D NAME or -D NAME=VALUE"),
)

SOURCE_HINT = "correct the source, or pass the -I and -D of your build (--compile-commands FILE reads them)"

HOST_HINT = "compile it with --compiler nvcc, or put the host code between #ifndef __CUDACC_RTC__ and #endif"


@dataclass(eq=False)
class HostCode(InputError):
    """A source that NVRTC rejects because of host code. code: what it is, such as "a kernel launch <<<…>>>"."""

    code: str = ""


class LogError(Record):
    """One error of a log. column: 1-based, or None if the log marks none."""

    file: str
    line: int
    column: int | None
    message: str

    def host_code(self) -> str | None:
        """The host code that causes this error ("a kernel launch <<<…>>>"), or None."""
        for pattern, name in _HOST_SIGNS:
            if match := re.search(pattern, self.message):
                return name.format(*match.groups())
        return None


def errors(log: str) -> list[LogError]:
    """The errors of an NVRTC or nvcc log: gcc's, then the others, each in order."""
    found = [LogError(m["file"], int(m["line"]), int(m["column"]), m["message"]) for m in _GCC_ERROR.finditer(log)]
    return found + [
        LogError(m["file"], int(m["line"]), None if m["caret"] is None else len(m["caret"]) + 1, m["message"])
        for m in _ERROR.finditer(log)
    ]


def from_log(log: str, compiler: str, file: str, instantiate: tuple[str, ...] = ()) -> InputError:
    """The InputError for a failed compile of `file`: its first error, with the whole log in `detail`."""
    found = errors(log)
    log = log.strip()
    if not found:
        match = _OTHER.search(log)
        return InputError(
            f"{compiler} cannot compile this: {match[1] if match else 'it gave no reason'}",
            _target_hint(log),
            file,
            detail=log,
        )
    first = found[0]
    if os.path.basename(first.file) in INSTANCES:
        return _bad_instantiation(found, log, file, instantiate)
    host = next(((error, name) for error in found if (name := error.host_code())), None)
    if host and host[0] is first:
        what = f"this has host code ({host[1]}), and {compiler} compiles device code only"
    else:
        what = f"{compiler} cannot compile this: {first.message}"
    column = first.column if compiler == "NVRTC" else None  # nvcc marks columns of preprocessed text
    if host:
        return HostCode(what, HOST_HINT, first.file, first.line, column, log, code=host[1])
    return InputError(what, _hint(first), first.file, first.line, column, log)


def _hint(error: LogError) -> str:
    if match := re.search(r'cannot open source file "([^"]+)"|^(\S+): No such file', error.message):
        return f"add the directory of {match[1] or match[2]} with -I"
    return SOURCE_HINT


def _target_hint(log: str) -> str:
    """A remedy for rejected options and targets: wgmma, setmaxnreg etc. exist only on architectures that end in `a`."""
    match = re.search(r"not supported on \.target '(sm_\d+)'", log)
    if match:
        return f"try --arch {match[1]}a, or a newer architecture"
    return next((hint for sign, hint in _OPTION_HINTS if sign in log), "")


def _bad_instantiation(found: list[LogError], log: str, file: str, instantiate: tuple[str, ...]) -> InputError:
    index = found[0].line - 2
    name = f" {instantiate[index]!r}" if 0 <= index < len(instantiate) else ""
    return InputError(
        f"--instantiate{name} names no template instance of this source: {found[0].message}",
        "write it as in C++, with all template arguments: --instantiate 'gemm<float,128,8>'",
        file,
        detail=log,
    )
