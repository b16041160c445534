"""Turns cubins into modules; those of one folder are disassembled together.

The disassembler takes a third of a second to start and then thousands of instructions a
millisecond, so a cache of fifty cubins goes through one process of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxaudit import ir
from ptxaudit.errors import InputError
from ptxaudit.inputs import Content


class Disassembly:
    """The machine code of several cubins, each by its bytes."""

    def __init__(self, contents: Iterable[Content] = ()) -> None:
        self._known: dict[bytes, tuple] = {}
        cubins = {content.data: content.path for content in contents if content.kind == "cubin"}
        if len(cubins) > 1:
            self._together(cubins)

    def _together(self, files: dict[bytes, str]) -> None:
        """Disassembles what can be; what cannot is left to `module`, which says why."""
        from ptxaudit.artifacts.cubin import read_cubin
        from ptxaudit.sass.disassemble import disassemble

        cubins = {}
        for data, file in files.items():
            try:
                cubins[data] = read_cubin(data, file)
            except InputError:
                continue
        try:
            code = disassemble(list(cubins.values()))
        except InputError:
            return
        self._known = dict(zip(cubins, zip(cubins.values(), code, strict=True), strict=True))

    def module(self, data: bytes, file: str) -> tuple[ir.Module, tuple[InputError, ...]]:
        """The module of a cubin, and an error for each function that did not decode.

        Raises InputError when it cannot be read, or when nothing in it decodes.
        """
        from ptxaudit.artifacts.cubin import read_cubin
        from ptxaudit.sass.disassemble import disassemble
        from ptxaudit.sass.lift import lift_module

        if data in self._known:
            cubin, code = self._known[data]
        else:
            cubin = read_cubin(data, file)
            (code,) = disassemble([cubin])
        errors = tuple(lines.in_file(file) for lines in code.values() if isinstance(lines, InputError))
        return lift_module(cubin, code), errors
