"""Finds the module of a kernel whose launch was seen through the driver.

    modules.of("k", 3)                              the module loaded by the call that created its CUmodule
    modules.of("k", 0, among=[2, 5], registers=40)  the only one of these with that kernel and register count

A name is ambiguous if several modules have the kernel, such as those of an autotuned kernel. Then the launch is not
recorded, and a note says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ptxaudit.base import limits
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts.usage import Usage, usage


class Loaded:
    """A loaded module. file: its machine code."""

    def __init__(self, file: str) -> None:
        self.file = file

    @cached_property
    def kernels(self) -> dict[str, Usage]:
        """Its functions with their resource usage."""
        return usage(Path(self.file).read_bytes())

    @cached_property
    def sha256(self) -> str:
        return digest(self.file)


class Modules:
    """The modules that a process has loaded and not unloaded at this point of its events."""

    def __init__(self) -> None:
        self._loaded: dict[int, Loaded] = {}

    def load(self, number: int, file: str) -> None:
        self._loaded[number] = Loaded(file)

    def unload(self, number: int) -> None:
        self._loaded.pop(number, None)

    def of(
        self, kernel: str, number: int, among: Sequence[int] | None = None, registers: int | None = None
    ) -> Loaded | str:
        """The module of a launched kernel, or the reason why it is not known.

        number: of the module, 0 if it was not seen; among: the candidates, None for all; registers: of the kernel,
        according to the driver.
        """
        try:
            if number in self._loaded and kernel in self._loaded[number].kernels:
                return self._loaded[number]
            there = [one for at, one in self._loaded.items() if among is None or at in among]
            having = {one.sha256: one for one in there if kernel in one.kernels}
        except (OSError, InputError) as error:
            return f"launches of {kernel} are not recorded: its code cannot be read: {error}"
        if len(having) > 1 and registers is not None:
            having = {name: one for name, one in having.items() if one.kernels[kernel].registers in (None, registers)}
        if len(having) == 1:
            return next(iter(having.values()))
        what = f"{len(having)} modules have a kernel with that name" if having else "no module that was loaded has it"
        return f"a launch of {kernel} is not recorded: {what}"


def digest(file: str) -> str:
    """The SHA-256 of a file's content. Raises OSError, InputError."""
    size = os.path.getsize(file)
    limits.IMAGE.check(size, "this code is too long", file)
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
