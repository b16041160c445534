"""What the user asks of an audit, beside the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from zlib import crc32

from msgspec import field
from msgspec.structs import force_setattr

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.work import DEFAULT_BUDGET
from ptxaudit.frontend.compile.compile_commands import Flags
from ptxaudit.frontend.launch.launch import Launch, match

MOST_SECONDS = 1_000_000_000  # of a budget
DEFAULT_ARCH = "sm_90"

Isa = Literal["ptx", "sass", "both"]
Space = Literal["shared", "global", "local", "all"]
Share = tuple[int, int]  # the kernels whose names have this checksum, modulo so many
SPACES: tuple[Space, ...] = ("shared", "global", "local", "all")


class Options(Record):
    """arch: what source is compiled for (sm_90 when None), and whose rules score PTX in place of
    the file's own target. machine: a machine's rules instead of an architecture's.
    isa: None = PTX of sources, machine code of compiled files where they have it.
    kernels: names or globs; () = all. launches: of any of the kernels, in order.
    assume: parameter name, position or "*" -> known alignment in bytes of its value.
    include, defines, std, instantiate, compiler: for CUDA source. defines: "N" or "N=V", or a mapping: {"N": 1}.
    compiler: None = NVRTC, and nvcc for a source with host code. commands: flags of single sources by their real
    paths, of `compile_commands.read_commands`, which go before these. toolchain: the release that compiles
    it ("12.9"; None = the one at hand). ptxas: the release that makes machine code of PTX, in place of
    the compiler's own.
    of_project: of kernels, launches and assume those that are a whole project's, where the inputs may be a
    part of it: what is of none of these inputs is then no error.
    on_machine: of toolchain and ptxas those that have to be here already: settings found by themselves fetch nothing.
    source_root: folders below which sources may be read, to show their lines, besides those of the inputs and the
    working folder. cache: take what is kept of files that have not changed, and keep what is found.
    space: the memory whose accesses are examined. top: so many loops are shown by what they cost; None: none.
    keep: the requests of every site with their places are asked for, too (`engine.answer.kept`); fixes: proved
    repairs of conflicts are (`fix.lines`); edits: with the changes of the source, compiled and audited again. patterns:
    the report has distinct requests of every site, what a repair makes of them, and the kernels' loops. jobs: files
    audited at a time, or kernels of a few. share: of the kernels of each file, one of several shares. budget: what
    one kernel and launch may cost, in seconds of a reference machine (`work`: they are counted in steps, so that the
    answers are the same on every machine); None = no limit.
    """

    arch: str | None = None
    isa: Isa | None = None
    machine: str | None = None
    kernels: tuple[str, ...] = ()
    launches: tuple[Launch, ...] = ()
    assume: dict[str, int] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = "c++17"
    instantiate: tuple[str, ...] = ()
    compiler: Literal["nvrtc", "nvcc"] | None = None
    commands: Mapping[str, Flags] = field(default_factory=dict)
    toolchain: str | None = None
    ptxas: str | None = None
    of_project: frozenset[str] = frozenset()
    on_machine: frozenset[str] = frozenset()
    source_root: tuple[str, ...] = ()
    cache: bool = False
    jobs: int = 1
    share: Share | None = None
    keep: bool = False
    fixes: bool = False
    edits: bool = False
    patterns: bool = False
    space: Space = "shared"
    top: int | None = None
    budget: float | None = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        force_setattr(self, "defines", _macros(self.defines))
        for name in ("kernels", "launches", "include", "defines", "instantiate", "source_root"):
            value = getattr(self, name)
            several = isinstance(value, (list, tuple))
            force_setattr(self, name, tuple(value) if several else (value,))
        if self.isa not in (None, "ptx", "sass", "both"):
            raise InputError(f"there is no instruction set {self.isa!r}", "isa is ptx, sass or both")
        if self.compiler not in (None, "nvrtc", "nvcc"):
            raise InputError(f"there is no compiler {self.compiler!r}", "compiler is nvrtc or nvcc")
        if self.space not in SPACES:
            raise InputError(
                f"there is no memory space {self.space!r}", f"space is {', '.join(SPACES[:-1])} or {SPACES[-1]}"
            )
        if self.jobs < 1:
            raise InputError(f"jobs is {self.jobs}; it must be at least 1")
        if self.budget is not None and not 0 < self.budget <= MOST_SECONDS:
            raise InputError(f"the budget is {self.budget:g} seconds; it must be above 0, and at most {MOST_SECONDS:,}")


def _macros(given: Any) -> Any:
    """Macros as "N" or "N=V". Raises InputError for what is none."""
    if isinstance(given, Mapping):
        given = [_macro(name, value) for name, value in given.items()]
    for one in given if isinstance(given, (list, tuple)) else (given,):
        if not isinstance(one, str):
            raise InputError(f"{one!r} is not a macro", 'write defines={"PAD": 0}, or defines=["PAD=0"]')
    return given


def _macro(name: Any, value: Any) -> str:
    if not isinstance(name, str) or not (value is None or isinstance(value, (str, int, float))):
        raise InputError(
            f"{ {name: value}!r} is not a macro", 'write {"PAD": 0}; {"PAD": None} defines it without a value'
        )
    return name if value is None else f"{name}={int(value) if isinstance(value, bool) else value}"


def chosen(options: Options, name: str) -> bool:
    """Is a kernel asked for?"""
    if options.share is not None and crc32(name.encode()) % options.share[1] != options.share[0]:
        return False
    return not options.kernels or bool(match([Launch(kernel=glob) for glob in options.kernels], name))
