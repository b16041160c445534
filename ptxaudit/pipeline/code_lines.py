"""Reads the text of kernels' instructions, for display side by side.

    ir.Function "k"  ->  (CodeLine(0x210, "LDS.128 R4, [R2+0x10]", "k.cu", 14), …)

The code of CUDA sources is kept during the audit, because compiling them again would take as long as before. PTX and
compiled files are read again for the requested kernels only: keeping a whole library would take too much memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.frontend.options import Options
from ptxaudit.ir import nodes as ir
from ptxaudit.report.code_facts import PADDING
from ptxaudit.report.model import Kernel

if TYPE_CHECKING:
    from ptxaudit.pipeline.kernels import Examined

Key = tuple[str, str, str, str]  # input, name, instruction set, architecture


class CodeLine(Record):
    """One instruction. place: byte offset in machine code, line in PTX; file, line: in the source, where known."""

    place: int
    text: str
    file: str | None
    line: int | None


def key_of(kernel: Kernel) -> Key:
    """The key under which a kernel's code is kept."""
    return kernel.input, kernel.name, kernel.isa, kernel.arch


class CodeBook:
    """The code of one side of a comparison."""

    def __init__(self, inputs: Sequence[Any], options: Options) -> None:
        self._inputs, self._options = inputs, options
        self._kept: dict[Key, tuple[CodeLine, ...]] = {}

    def keep(self, examined: Examined, kind: str) -> None:
        """Keeps the code of a kernel that was compiled from source; other files can be read again."""
        if kind == "cuda":
            self._kept.setdefault(key_of(examined.entry), code_lines(examined.function))

    def read(self, kernels: Iterable[Kernel]) -> None:
        """Reads the code of these kernels, unless it is kept; files that cannot be read are skipped."""
        from ptxaudit.pipeline.collect import Part, read_all

        missing = [kernel for kernel in kernels if key_of(kernel) not in self._kept]
        if not missing:
            return
        wanted = {key_of(kernel) for kernel in missing}
        options = replace(
            self._options,
            kernels=tuple(dict.fromkeys(kernel.name for kernel in missing)),
            launches=(),
            isa=self._isa(missing),
        )
        for content, loaded in read_all(self._inputs, options, Part(), lambda step: None):
            for module in loaded.modules:
                for function in module.kernels():
                    key = content.path, function.name, function.isa, function.arch
                    if key in wanted:
                        self._kept[key] = code_lines(function)

    def _isa(self, kernels: Iterable[Kernel]) -> Any:
        kinds = {kernel.isa for kernel in kernels}
        return self._options.isa if len(kinds) > 1 else kinds.pop()

    def code(self, kernel: Kernel) -> tuple[CodeLine, ...]:
        """The instructions of a kernel; () where they are unknown."""
        return self._kept.get(key_of(kernel), ())


def code_lines(function: ir.Function) -> tuple[CodeLine, ...]:
    """The instructions of a function without padding; those of linked callees once each."""
    found: dict[int, CodeLine] = {}
    for i in function.instructions:
        if i.text and i.opcode not in PADDING:
            source = i.source
            found.setdefault(
                i.place,
                CodeLine(
                    i.place, " ".join(i.text.split()), source.file if source else None, source.line if source else None
                ),
            )
    return tuple(found[place] for place in sorted(found))
