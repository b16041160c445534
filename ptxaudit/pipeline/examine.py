"""Reads inputs and examines, or only lists, the kernels in them.

    examine(["k.cu"], Options(arch="sm_90"), part)   ->  Examined(entry=Kernel("k", …), …), …

An error in one input is added to the problems of the part and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ptxaudit.base.errors import InputError
from ptxaudit.base.words import nearest
from ptxaudit.frontend.options import DEFAULT_ARCH, Options
from ptxaudit.hardware import machines
from ptxaudit.pipeline.collect import Part, Progress, read_all, silent
from ptxaudit.report.model import Problem

if TYPE_CHECKING:
    from ptxaudit.pipeline.contents import Listed
    from ptxaudit.pipeline.kernels import Examined


def check_machine(options: Options) -> None:
    """Checks that the requested machine or architecture is known, and serves warps. Raises InputError."""
    try:
        machines.of_warps(machines.get(options.machine or options.arch or DEFAULT_ARCH))
    except machines.NoSuchMachine:
        if options.machine:
            raise
        there = [name for name in machines.names() if name.startswith("sm_")]
        meant = nearest(str(options.arch), there, also=(f"sm_{options.arch}",))
        hint = f"did you mean {meant}? There are " if meant else "there are "
        raise InputError(f"there is no architecture {options.arch!r}", hint + ", ".join(there)) from None


def ready(options: Options) -> None:
    """Ensures that the requested releases are on this machine, fetching them if necessary. Raises InputError."""
    for name, kind, version in (
        ("toolchain", options.compiler or "nvrtc", options.toolchain),
        ("ptxas", "ptxas", options.ptxas),
    ):
        if version is not None:
            from ptxaudit.frontend.compile.toolchain_fetch import ensure

            ensure(kind, version, fetching=name not in options.on_machine)


def list_kernels(
    inputs: Sequence[Any], options: Options, progress: Progress = silent
) -> tuple[list[Listed], list[Problem]]:
    """The kernels of the inputs, not audited, and the problems in reading them."""
    from ptxaudit.pipeline.contents import listed

    ready(options)
    part = Part()
    return list(listed(inputs, options, part, progress)), part.problems


def examine(inputs: Sequence[Any], options: Options, part: Part, progress: Progress = silent) -> Iterator[Examined]:
    """The kernels of the inputs, each under its launches; errors are added to the problems of `part`."""
    files = read_all(inputs, options, part, progress)  # starts the disassembler
    from ptxaudit.pipeline.kernels import (
        examine_kernels,  # here, because importing the engine takes as long as starting the disassembler
    )

    return examine_kernels(files, options, part, progress)
