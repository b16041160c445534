"""Which module a launch that was seen through the driver is of.

    modules.of("k", module=3)                    the one that was loaded by the call that made its CUmodule
    modules.of("k", among=[2, 5], registers=40)  the only one of these that has the kernel, with so many registers

A kernel's name is no answer where several modules have it, as those of one autotuned kernel have: then the launch is
not recorded, and that is said.
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
    """A module that was loaded. file: its machine code."""

    def __init__(self, file: str) -> None:
        self.file = file

    @cached_property
    def kernels(self) -> dict[str, Usage]:
        """Its functions, each with what it takes."""
        return usage(Path(self.file).read_bytes())

    @cached_property
    def sha256(self) -> str:
        return digest(self.file)


class Modules:
    """The modules that a process has loaded and not unloaded, as its events go on."""

    def __init__(self) -> None:
        self._loaded: dict[int, Loaded] = {}

    def load(self, number: int, file: str) -> None:
        self._loaded[number] = Loaded(file)

    def unload(self, number: int) -> None:
        self._loaded.pop(number, None)

    def of(
        self, kernel: str, number: int, among: Sequence[int] | None = None, registers: int | None = None
    ) -> Loaded | str:
        """The module of a kernel that was launched, or why it is not known. number: of the module, 0 where it was not
        seen; among: of those that it may be; registers: of the kernel, as the driver says."""
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
