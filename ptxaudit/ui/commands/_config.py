"""Fills parameters that the command line does not specify from the project's settings."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.inputs import named

if TYPE_CHECKING:
    from ptxaudit.ui.config import Config

# Parameters that specify a launch: if one is given, the settings' launch files do not apply.
_LAUNCH = ("launch_files", "grid", "block", "cluster", "dynamic_shared", "params", "symbols")

# Settings that name kernels or parameters of the whole project, and the options that they set.
_OF_PROJECT = {"launch_files": "launches", "kernels": "kernels", "assumed": "assume"}

Command = Callable[..., Any]  # a click callback

# Repeatable options of a comparison; a setting gives one value, for all sides.
_OF_BOTH = {"toolchain": "toolchains", "ptxas": "assemblers", "arch": "archs"}
_COMPILERS = ("toolchain", "ptxas")


def configurable(command: Command) -> Command:
    """Adds --config and --no-config, and fills unspecified parameters from the settings."""

    @click.option(
        "--config",
        metavar="FILE",
        help=(
            "Read settings from this file. [ptxaudit.toml or [tool.ptxaudit] in pyproject.toml, here or in a parent"
            " directory]"
        ),
    )
    @click.option("--no-config", is_flag=True, help="Ignore settings files.")
    @functools.wraps(command)
    def configured(*arguments: Any, config: str | None, no_config: bool, **given: Any) -> Any:
        from ptxaudit.ui.config import Config, find_config, read_config

        file = None if no_config else config or find_config()
        settings = read_config(file) if file else Config()
        return command(*arguments, **_filled(click.get_current_context(), settings, given, found=config is None))

    return configured


def _filled(ctx: click.Context, config: Config, given: dict[str, Any], found: bool) -> dict[str, Any]:
    """The parameters, the unspecified ones from the settings. found: the settings file was not named by the user."""
    settings = config.values or {}
    settings = settings | {both: (settings[one],) for one, both in _OF_BOTH.items() if one in settings}
    specified = {
        name
        for name in given
        if ctx.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    }
    left = {name: value for name, value in settings.items() if name in given and name not in specified}
    if specified & {*_LAUNCH, "old_launch", "new_launch"}:
        left.pop("launch_files", None)
    if found and left.get("compiler") == "nvcc":
        raise InputError(
            "settings found automatically may not select nvcc, which runs this machine's gcc",
            "pass --compiler nvcc on the command line, or name the settings with --config FILE",
            config.file,
        )
    if found and left and given.get("compiler", "nvcc") is None:
        given = given | {"compiler": "nvrtc"}  # nor may a source in their folder select it
    whole = "inputs" in given and "inputs" not in specified  # the settings' own inputs should contain all kernels
    filled = (
        given
        | left
        | {"of_project": frozenset() if whole else frozenset(_OF_PROJECT[name] for name in left if name in _OF_PROJECT)}
    )
    if "source_root" in given:
        filled["source_root"] = (*given["source_root"], *(given["include"] if "include" in specified else ()))
    if found:
        filled["on_machine"] = frozenset(
            name for name in _COMPILERS if name in settings and (name in left or _OF_BOTH[name] in left)
        )
    if "inputs" in filled:
        filled["inputs"] = _inputs(filled, settings)
    return filled


def _inputs(filled: dict[str, Any], settings: dict[str, Any]) -> tuple[str, ...]:
    """The inputs, by default those of the compile commands, without the excluded ones."""
    inputs = tuple(filled["inputs"])
    if not inputs and filled.get("compile_commands"):
        from ptxaudit.frontend.compile.compile_commands import read_commands
        from ptxaudit.report.paths import below, here

        inputs = tuple(below(file, here()) for file in read_commands(filled["compile_commands"]))
    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...': name inputs here or in the settings")
    inputs = tuple(map(named, inputs))
    exclude = settings.get("exclude", ())
    return tuple(path for given in inputs for path in _left(given, exclude, filled.get("isa"))) if exclude else inputs


def _left(given: str, exclude: tuple[str, ...], isa: str | None) -> list[str]:
    """The files of an input that no pattern excludes; the input itself if none is excluded."""
    from ptxaudit.frontend.inputs import expand

    files = list(expand(given, isa)) if Path(given).is_dir() else [given]
    kept = [file for file in files if not any(_matches(file, pattern) for pattern in exclude)]
    return [given] if kept == files else kept


def _matches(file: str, pattern: str) -> bool:
    """Whether a glob matches the whole path or one component: "third_party", "*_test.cu", "src/old/*"."""
    path = Path(file)
    whole = bool(PurePath(pattern).parts) and path.match(pattern)
    return (
        whole
        or fnmatchcase(path.as_posix(), pattern)
        or any(fnmatchcase(part, pattern.rstrip("/")) for part in path.parts)
    )
