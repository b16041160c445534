"""The options that several commands share: inputs, compilers, launch, output width."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import whole
from ptxaudit.base.work import DEFAULT_BUDGET
from ptxaudit.frontend.launch.values import value_of

if TYPE_CHECKING:
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.frontend.options import Options

Command = Callable[..., Any]  # a click callback

_ARCH = click.option(
    "--arch",
    metavar="sm_NN",
    help="Compile for this architecture; for PTX, apply its rules. [sm_90, or the file's own]",
)
_ARCHS = click.option(
    "--arch",
    "archs",
    metavar="sm_NN",
    multiple=True,
    help="Compile for this architecture; repeat it to compare one INPUT across several. [sm_90, or the file's own]",
)

_INPUT_OPTIONS = (
    click.option(
        "--space",
        type=click.Choice(["shared", "global", "local", "all"]),
        default="shared",
        show_default=True,
        help="Memory space to audit.",
    ),
    click.option("--machine", metavar="NAME", help="Apply the rules of this machine instead; see `ptxaudit machines`."),
    click.option(
        "--kernel",
        "kernels",
        metavar="GLOB",
        multiple=True,
        help="Select kernels by mangled or demangled name. Repeatable.",
    ),
    click.option("-I", "include", metavar="DIR", multiple=True, help="Add an include directory."),
    click.option("-D", "defines", metavar="NAME[=VALUE]", multiple=True, help="Define a macro."),
    click.option(
        "--compile-commands",
        metavar="FILE",
        help="Take each source's include directories, macros and code options from compile_commands.json.",
    ),
    click.option(
        "--source-root",
        "source_root",
        metavar="DIR",
        multiple=True,
        help="Show source lines from below this directory too, besides the input and working directories.",
    ),
    click.option("--std", default="c++17", show_default=True, help="C++ standard to compile with."),
    click.option(
        "--instantiate",
        metavar="EXPR",
        multiple=True,
        help="Compile this template instance, such as 'gemm<float,128,8>'.",
    ),
    click.option(
        "--compiler",
        type=click.Choice(["nvrtc", "nvcc"]),
        help="Compile with NVRTC, or with nvcc, which needs gcc. [NVRTC; nvcc for a source with host code]",
    ),
    click.option(
        "--budget",
        type=float,
        metavar="SECONDS",
        default=DEFAULT_BUDGET,
        show_default=True,
        help=(
            "Limit the analysis of one kernel and launch, in seconds of a reference machine, not of this one; sites"
            " beyond the limit are unknown."
        ),
    ),
)

_TOOLCHAIN_OPTIONS = (
    click.option(
        "--toolchain",
        metavar="VERSION",
        help="Compile source with this CUDA release, such as 12.9; download it if it is missing.",
    ),
    click.option("--ptxas", metavar="VERSION", help="Assemble PTX or source with the ptxas of this CUDA release."),
)

_TOOLCHAINS_OPTIONS = (
    click.option(
        "--toolchain",
        "toolchains",
        metavar="VERSION",
        multiple=True,
        help=(
            "Compile source with this CUDA release, downloaded if missing; repeat it to compare one INPUT across"
            " several."
        ),
    ),
    click.option(
        "--ptxas",
        "assemblers",
        metavar="VERSION",
        multiple=True,
        help="Assemble with the ptxas of this CUDA release; repeat it to compare one INPUT across several.",
    ),
)

_LAUNCH_OPTIONS = (
    click.option(
        "--launch",
        "launch_files",
        metavar="FILE.toml",
        multiple=True,
        help="Read launches from this file; `ptxaudit launches INPUT` writes a template.",
    ),
    click.option("--grid", metavar="X[,Y[,Z]]", help="Grid dimensions, in blocks."),
    click.option("--block", metavar="X[,Y[,Z]]", help="Block dimensions, in threads."),
    click.option("--cluster", metavar="X[,Y[,Z]]", help="Cluster dimensions, in blocks."),
    click.option("--dynamic-shared", type=int, metavar="BYTES", help="Dynamic shared memory per block."),
    click.option(
        "--param",
        "params",
        metavar="NAME=VALUE",
        multiple=True,
        help=(
            "Set a parameter by name or position: n=1024, 2=0.5, idx=@idx.npy for the data behind a pointer."
            " Repeatable."
        ),
    ),
    click.option(
        "--symbol",
        "symbols",
        metavar="NAME=VALUE",
        multiple=True,
        help=(
            "Set a __constant__ or __device__ variable, as with --param: pitch=33, table=@table.npy, or ? if the host"
            " writes it. Repeatable."
        ),
    ),
    click.option(
        "--assume",
        "assumed",
        metavar="PTR%BYTES",
        multiple=True,
        help="Assume that a parameter (name or position; * for every pointer) is a multiple of BYTES. Repeatable.",
    ),
)


width_option = click.option(
    "--width", type=click.IntRange(min=40), metavar="COLUMNS", help="Format text for this width. [terminal width]"
)

table_width_option = click.option(
    "--width",
    type=click.IntRange(min=40),
    metavar="COLUMNS",
    help="Format text for this width: wrap sentences, truncate table rows. [unlimited]",
)

isa_option = click.option(
    "--isa",
    type=click.Choice(["ptx", "sass", "both"]),
    help="Instruction sets to audit. [PTX of sources, machine code of compiled files]",
)


def input_options(command: Command) -> Command:
    """Adds the options that control how inputs are read."""
    return _with((_ARCH, *_INPUT_OPTIONS, *_TOOLCHAIN_OPTIONS), command)


def input_options_of_two(command: Command) -> Command:
    """The same for a command that may take one input with several toolchains and architectures."""
    return _with((_ARCHS, *_INPUT_OPTIONS, *_TOOLCHAINS_OPTIONS), command)


def _with(options: tuple[Callable[[Command], Command], ...], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def launch_options(command: Command) -> Command:
    """Adds the options that specify a launch, or facts about one."""
    return _with(_LAUNCH_OPTIONS, command)


def options_of(given: dict[str, Any]) -> Options:
    """The `Options` for click's parameters. Raises InputError for an invalid value."""
    from ptxaudit.frontend.options import Options

    given = dict(given)
    launches = _launches(given)
    assume = dict(_assumption(text) for text in given.pop("assumed", ()))
    commands = _commands(given.pop("compile_commands", None))
    return Options(launches=launches, assume=assume, commands=commands, **given)


def _commands(file: str | None) -> dict[str, Any]:
    if file is None:
        return {}
    from ptxaudit.frontend.compile.compile_commands import read_commands

    return read_commands(file)


def _launches(given: dict[str, Any]) -> tuple[Launch, ...]:
    """The launches of --launch, or the one of --grid, --block, …; removes these options from `given`."""
    from ptxaudit.frontend.launch.launch import Launch

    files = given.pop("launch_files", None) or ()
    grid, block, cluster = (_dims(name, given.pop(name, None)) for name in ("grid", "block", "cluster"))
    dynamic_shared = given.pop("dynamic_shared", None)
    named = dict(_named("--param", text) for text in given.pop("params", ()))
    symbols = dict(_named("--symbol", text) for text in given.pop("symbols", ()))
    specified = any((grid, block, cluster)) or dynamic_shared is not None or bool(named) or bool(symbols)
    if files and specified:
        raise InputError(
            "--launch and --grid, --block, --cluster, --dynamic-shared, --param, --symbol exclude each other",
            "put them all into the launch file",
        )
    if files:
        from ptxaudit.frontend.launch.launch_file import read_launches

        return tuple(launch for file in files for launch in read_launches(file))
    return (Launch("*", grid, block, cluster, dynamic_shared, named=named, symbols=symbols),) if specified else ()


def _dims(name: str, text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    parts = re.split(r"[,x×]", text)
    numbers = tuple(number for part in parts if (number := whole(part)) is not None)
    if len(numbers) != len(parts) or len(numbers) > 3:
        raise InputError(f"--{name} {text} is not 1 to 3 numbers", f"write it as --{name} 32,8")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _named(option: str, text: str) -> tuple[str, Any]:
    """ "n=1024" -> ("n", 1024); the value may be a float, a list, hexadecimal bytes or ?, as in launch files.

    @idx.npy, @idx.bin:i32 or @zeros:256:i32 is the data behind a pointer, or the contents of a variable.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        by_position = ", or by position --param 2=1024" if option == "--param" else ""
        raise InputError(f"{option} {text} is not NAME=VALUE", f"write it as {option} n=1024{by_position}")
    return name.strip(), value_of(value.strip())


def _assumption(text: str) -> tuple[str, int]:
    """ "ptr%16" -> ("ptr", 16)."""
    name, percent, alignment = text.partition("%")
    number = whole(alignment) or 0
    if not percent or not name.strip() or number < 1 or number & (number - 1):
        raise InputError(
            f"--assume {text} is not NAME%BYTES with a power of two",
            "write it as --assume ptr%16, or *%16 for all pointers",
        )
    return name.strip(), number
