"""Collects the results of the inputs: kernels, and a problem for every error.

files  ──read_all──▶  (Content, Loaded), …        a file that cannot be read becomes a problem of the Part
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.faults import debugging, fault
from ptxaudit.base.files import is_text
from ptxaudit.frontend.inputs import STDIN, Content, expand, read
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.matching import KernelNames, without_kernel
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.source_files import Roots
from ptxaudit.report.model import Input, Kernel, Problem

if TYPE_CHECKING:
    from ptxaudit.pipeline.loading import Cubins, Loaded

Progress = Callable[[str], None]


def silent(step: str) -> None:
    """Shows no progress."""


class Part(Struct):
    """The results of some inputs. names_of: all kernels of a file, selected or not; parameters_of: the names of the
    parameters of its kernels; failed: something could not be read, so the inputs may contain more kernels; passing:
    the problems that may not recur."""

    inputs: list[Input] = field(default_factory=list)
    names_of: dict[str, list[str]] = field(default_factory=dict)
    parameters_of: dict[str, set[str]] = field(default_factory=dict)
    kernels: list[Kernel] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    failed: bool = False
    passing: list[Problem] = field(default_factory=list)

    @contextmanager
    def collecting(self, file: str | None = None, kernel: str | None = None) -> Iterator[None]:
        """Turns an error inside into a problem, of the kernel if one is named."""
        try:
            yield
        except InputError as error:
            self.add_problem(error, file, kernel)
        except Exception as error:
            if debugging():
                raise
            self.add_problem(fault(error), file, kernel)

    def add_problem(self, error: InputError, file: str | None, kernel: str | None = None) -> None:
        """Adds an error as a problem, of the kernel if one is named."""
        error = error.in_file(file) if file else error
        self.problems.append(Problem.of(error, kernel))
        self.passing += [] if error.lasting else self.problems[-1:]
        self.failed = self.failed or kernel is None

    def files_of(self, inputs: Sequence[Any], isa: str | None = None) -> Iterator[Any]:
        """Each input, with folders expanded into their files; an empty folder becomes a problem."""
        for given in inputs:
            with self.collecting(name_of(given)):
                yield from expand(given, isa)

    def add_input(self, content: Content) -> None:
        self.inputs.append(Input(content.path, content.sha256, content.kind))

    def add_loaded(self, content: Content, loaded: Loaded) -> None:
        """Adds what was loaded from the input that was added last, possibly in portions."""
        if loaded.toolchain:
            before = self.inputs[-1]
            self.inputs[-1] = replace(
                before, toolchain=all_of(before.toolchain, loaded.toolchain), log=before.log or loaded.log
            )
        names = self.names_of.setdefault(content.path, [])
        names += [*loaded.names, *(function.name for module in loaded.modules for function in module.kernels())]
        for error in loaded.errors:
            self.add_problem(error, content.path, None)

    def add_parameters(self, content: Content, names: Iterable[str]) -> None:
        """Adds the names of the parameters of one of its kernels."""
        self.parameters_of.setdefault(content.path, set()).update(names)

    def add(self, other: Part) -> None:
        """Adds the results of further inputs."""
        self.inputs += other.inputs
        self.names_of |= other.names_of
        self.parameters_of |= other.parameters_of
        self.kernels += other.kernels
        self.problems += other.problems
        self.failed = self.failed or other.failed
        self.passing += other.passing


def all_of(one: str | None, other: str | None) -> str | None:
    """The toolchains of both, "nvrtc 12.9, nvrtc 13.0": in one order, whichever part of a file is read first."""
    if not one or not other:
        return one or other
    first, second = set(one.split(", ")), set(other.split(", "))
    return one if second <= first else other if first <= second else ", ".join(sorted(first | second))


def joined_inputs(parts: Iterable[Part]) -> list[Input]:
    """The inputs of parts that each hold some kernels of the same files."""
    found: dict[str, Input] = {}
    for entry in (entry for part in parts for entry in part.inputs):
        known = found.setdefault(entry.path, entry)
        made_by = all_of(known.toolchain, entry.toolchain)
        found[entry.path] = replace(known, toolchain=made_by, log=known.log or entry.log)
    return list(found.values())


def read_all(
    inputs: Sequence[Any], options: Options, part: Part, progress: Progress
) -> Iterator[tuple[Content, Loaded]]:
    """The files of the inputs, read and turned into modules; the disassembler starts at once."""
    from ptxaudit.pipeline.loading import Cubins  # not imported where all results are cached

    opened = [(name_of(item), _opened(item)) for item in part.files_of(inputs, options.isa)]
    code = Cubins([content for _, content in opened if isinstance(content, Content)], options)
    return _loaded(opened, code, options, part, progress, Roots.of(inputs, options.source_root))


def _loaded(
    opened: list[tuple[str | None, Content | InputError]],
    code: Cubins,
    options: Options,
    part: Part,
    progress: Progress,
    roots: Roots,
) -> Iterator[tuple[Content, Loaded]]:
    from ptxaudit.pipeline.loading import load

    for name, content in opened:
        with part.collecting(name):
            if isinstance(content, InputError):
                raise content
            progress(f"reading {content.path}")
            whole, before = True, len(part.names_of.get(content.path, ()))
            for at, loaded in enumerate(load(content, options, code)):
                if at == 0:
                    part.add_input(content)
                part.add_loaded(content, loaded)
                whole = whole and not loaded.errors
                loaded.lines.roots = roots
                yield content, loaded
            if whole and len(part.names_of.get(content.path, ())) == before:
                raise InputError(
                    "there is no kernel in this",
                    "audit a file with kernels; a library of device functions is audited through its callers",
                )
            if whole:
                kernels = KernelNames(part.names_of[content.path] if content.launches else ())
                for launch in content.launches:
                    if (error := without_kernel(launch, [kernels])) is not None:
                        part.add_problem(error, content.path, launch.kernel)


def _opened(item: Any) -> Content | InputError:
    """The content of a file, or the error that prevented reading it: raised only when the file's turn comes."""
    try:
        return read(item)
    except InputError as error:
        return error


def unmatched(asked: Sequence[tuple[Options, Sequence[Part]]]) -> list[InputError]:
    """An error for each --kernel, launch and --assume that matches nothing in the inputs it was specified for, unless
    the project's settings specify it.

    asked: options with the results of the inputs under them; several where the sides of a comparison share some.
    """
    errors = []
    named = {
        id(part): [(path, KernelNames(names)) for path, names in part.names_of.items()]
        for _, parts in asked
        for part in parts
    }
    for kind in ("kernels", "launches", "assume"):
        stated: dict[Any, list[Part]] = {}
        for options, parts in asked:
            for one in () if kind in options.of_project else getattr(options, kind):
                stated.setdefault(one if kind != "launches" else id(one), []).extend(parts)
        if kind == "assume":
            errors += [
                InputError(
                    f"--assume {name}: no kernel here has such a parameter",
                    "use its name in the source, or its position",
                )
                for name, parts in stated.items()
                if name != "*" and not any(name in names for part in parts for names in part.parameters_of.values())
            ]
            continue
        launches = {id(one): one for options, _ in asked for one in options.launches}
        for key, parts in stated.items():
            one = launches[key] if kind == "launches" else Launch(kernel=key)
            files = [names for part in parts for path, names in named[id(part)] if one.may_be_of(path)]
            error = without_kernel(one, files)
            if error is not None and (files or one.code is None):  # else its file is none of the inputs
                errors.append(error)
    return errors


def name_of(item: Any) -> str | None:
    """The name of an input that could not be read."""
    if isinstance(item, (str, os.PathLike)):
        text = os.fspath(item)
        return "<string>" if is_text(item) else STDIN if text == "-" else text
    return None
