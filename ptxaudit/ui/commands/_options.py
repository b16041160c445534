"""The options that audit, explain and diff share: how to read the inputs, and the launch."""

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

Command = Callable[..., Any]  # what click calls

_ARCH = click.option(
    "--arch",
    metavar="sm_NN",
    help="Architecture to compile for; for PTX, whose rules to use. [sm_90, or the file's own]",
)
_ARCHS = click.option(
    "--arch",
    "archs",
    metavar="sm_NN",
    multiple=True,
    help="Architecture to compile for; several: one INPUT for each of them. [sm_90, or the file's own]",
)

_INPUT_OPTIONS = (
    click.option(
        "--space",
        type=click.Choice(["shared", "global", "local", "all"]),
        default="shared",
        show_default=True,
        help="The memory whose accesses are examined.",
    ),
    click.option("--machine", metavar="NAME", help="Score by this machine's rules instead: see `ptxaudit machines`."),
    click.option(
        "--kernel",
        "kernels",
        metavar="GLOB",
        multiple=True,
        help="Only kernels of this name (mangled or demangled); may be repeated.",
    ),
    click.option("-I", "include", metavar="DIR", multiple=True, help="Folder of headers."),
    click.option("-D", "defines", metavar="NAME[=VALUE]", multiple=True, help="Macro."),
    click.option(
        "--compile-commands", metavar="FILE", help="compile_commands.json: include folders and macros of each source."
    ),
    click.option(
        "--source-root",
        "source_root",
        metavar="DIR",
        multiple=True,
        help=(
            "Folder below which sources are read, to show their lines; besides those of the inputs and the working"
            " folder."
        ),
    ),
    click.option("--std", default="c++17", show_default=True, help="C++ standard."),
    click.option(
        "--instantiate", metavar="EXPR", multiple=True, help="Template instance to compile: 'gemm<float,128,8>'."
    ),
    click.option(
        "--compiler",
        type=click.Choice(["nvrtc", "nvcc"]),
        help="nvcc takes sources with host code; it needs gcc. [NVRTC; nvcc for a source with host code]",
    ),
    click.option(
        "--budget",
        type=float,
        metavar="SECONDS",
        default=DEFAULT_BUDGET,
        show_default=True,
        help=(
            "What one kernel and launch may cost, in seconds of a reference machine, whatever this one does meanwhile; "
            "what is open then is unknown."
        ),
    ),
)

_TOOLCHAIN_OPTIONS = (
    click.option(
        "--toolchain",
        metavar="VERSION",
        help="CUDA release that compiles source: 12.9, 11.8; fetched where it is not at hand.",
    ),
    click.option(
        "--ptxas", metavar="VERSION", help="CUDA release whose ptxas makes the machine code, of PTX or source."
    ),
)

_TOOLCHAINS_OPTIONS = (
    click.option(
        "--toolchain",
        "toolchains",
        metavar="VERSION",
        multiple=True,
        help=(
            "CUDA release that compiles source; several: one INPUT under each of them. Fetched where it is not at hand."
        ),
    ),
    click.option(
        "--ptxas",
        "assemblers",
        metavar="VERSION",
        multiple=True,
        help="CUDA release whose ptxas makes the machine code; several: one INPUT under each of them.",
    ),
)

_LAUNCH_OPTIONS = (
    click.option(
        "--launch",
        "launch_files",
        metavar="FILE.toml",
        multiple=True,
        help="Launches; `ptxaudit launches INPUT` writes a file to fill in.",
    ),
    click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the launch."),
    click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block."),
    click.option("--cluster", metavar="X[,Y[,Z]]", help="Blocks of a cluster."),
    click.option("--dynamic-shared", type=int, metavar="BYTES", help="Dynamic shared memory of the launch."),
    click.option(
        "--param",
        "params",
        metavar="NAME=VALUE",
        multiple=True,
        help=(
            "Parameter by name or position: n=1024, 2=0.5, idx=@idx.npy for what a pointer points to; may be repeated."
        ),
    ),
    click.option(
        "--symbol",
        "symbols",
        metavar="NAME=VALUE",
        multiple=True,
        help=(
            "What a __constant__ or __device__ variable holds at the launch, as of --param: pitch=33, table=@table.npy;"
            " ? where the host writes it; may be repeated."
        ),
    ),
    click.option(
        "--assume",
        "assumed",
        metavar="PTR%BYTES",
        multiple=True,
        help="The parameter (name or position; *: every pointer) is a multiple of this; may be repeated.",
    ),
)


width_option = click.option(
    "--width", type=click.IntRange(min=40), metavar="COLUMNS", help="How wide text is. [as the terminal]"
)

table_width_option = click.option(
    "--width",
    type=click.IntRange(min=40),
    metavar="COLUMNS",
    help="How wide text is: sentences are folded, rows of tables cut. [as wide as it gets]",
)

isa_option = click.option(
    "--isa",
    type=click.Choice(["ptx", "sass", "both"]),
    help="Instruction sets to look at. [PTX of sources, machine code of compiled files]",
)


def input_options(command: Command) -> Command:
    """Adds the options that say how inputs are read."""
    return _with((_ARCH, *_INPUT_OPTIONS, *_TOOLCHAIN_OPTIONS), command)


def input_options_of_two(command: Command) -> Command:
    """The same for a command that may take one input under several toolchains and architectures."""
    return _with((_ARCHS, *_INPUT_OPTIONS, *_TOOLCHAINS_OPTIONS), command)


def _with(options: tuple[Callable[[Command], Command], ...], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def launch_options(command: Command) -> Command:
    """Adds the options that tell a launch, or facts of one."""
    return _with(_LAUNCH_OPTIONS, command)


def options_of(given: dict[str, Any]) -> Options:
    """The `Options` for what click read. Raises InputError for a value that cannot be used."""
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
    """The launches of --launch, or the one of --grid, --block, …; takes its options out of `given`."""
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
    """ "n=1024" -> ("n", 1024); floats, lists of numbers, hexadecimal bytes and ? as in launch files;
    @idx.npy, @idx.bin:i32 or @zeros:256:i32 is the contents of what a pointer points to, or of a variable."""
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
