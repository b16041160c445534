"""The result of compiling a CUDA source, with any compiler."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import field

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.source_text import decode, read_text

_TEMPLATE_KERNEL = re.compile(r"\btemplate\s*<[^;{]*?\b__global__\b[^;{]*?\b(?!__)(\w+)\s*\(", re.DOTALL)


class Compiled(Record):
    """One compile.

    file: the source's name as the user wrote it.
    source: its text.
    arch: "sm_90", "compute_90".
    cubin: None if arch is virtual.
    log: the compiler's warnings.
    compiler: "nvrtc 13.5".
    lowered: mangled name of each instantiated expression, if the compiler reports it.
    headers: include folders of the toolchain.
    notes: assumptions of the compile, one sentence each.
    """

    file: str
    source: str
    arch: str
    ptx: str
    cubin: bytes | None
    log: str
    compiler: str
    lowered: dict[str, str] = field(default_factory=dict)
    headers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The compiler's version alone: "13.5"."""
        return self.compiler.split()[-1]

    def checked(self) -> Compiled:
        """Returns itself. Raises InputError if no kernel was compiled, with the templates that may be meant."""
        if ".entry" in self.ptx:
            return self
        templates = list(dict.fromkeys(match[1] for match in _TEMPLATE_KERNEL.finditer(self.source)))
        if templates:
            what = f"no kernel was compiled: {', '.join(templates)} is a template that is never instantiated here"
            hint = f"name an instance: --instantiate '{templates[0]}<…>' with its template arguments"
            raise InputError(what, hint, self.file)
        raise InputError(
            "no kernel was compiled: there is no __global__ function here",
            "check the -D options and the file",
            self.file,
        )


def read_source(source: str | os.PathLike[str], name: str | None) -> tuple[str, str, Path | None]:
    """(file, text, path) of a source: a path, or a `str` with a line break in it, which is the text itself."""
    if isinstance(source, str) and "\n" in source:
        file = name or "<source>"
        return file, decode(source.encode(), file), None
    return name or os.fspath(source), read_text(source), Path(source)
