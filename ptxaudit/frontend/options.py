"""The options of an audit, apart from its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal
from zlib import crc32

from msgspec import field
from msgspec.structs import force_setattr

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.work import DEFAULT_BUDGET
from ptxaudit.frontend.compile.compile_commands import Flags
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.matching import match

MOST_SECONDS = 1_000_000_000  # of a budget
DEFAULT_ARCH = "sm_90"

Isa = Literal["ptx", "sass", "both"]
Space = Literal["shared", "global", "local", "all"]
Share = tuple[int, int]  # (r, n): the kernels whose names have checksum r modulo n
SPACES: tuple[Space, ...] = ("shared", "global", "local", "all")


class Options(Record):
    """The options of an audit.

    arch: the architecture that sources are compiled for (None: sm_90), and whose rules score PTX in place of its own
    target.
    machine: a machine whose rules apply instead of an architecture's.
    isa: None = the PTX of sources, and the machine code of compiled files if they have it.
    kernels: names or globs; () = all.
    launches: for any of the kernels, in order.
    assume: parameter name, position or "*" -> known alignment of its value in bytes.
    include, defines, std, instantiate, compiler: for CUDA source. defines: "N" or "N=V", or a mapping: {"N": 1}.
    compiler: None = NVRTC, and nvcc for a source with host code.
    commands: flags of single sources by their real paths, from `compile_commands.read_commands`; they precede these.
    toolchain: the release that compiles sources ("12.9"; None = the installed one).
    ptxas: the release that assembles PTX, in place of the compiler's own.
    of_project: the entries of kernels, launches and assume that come from a project's settings. The inputs may be a
    part of the project, so entries that match none of them are no error.
    on_machine: which of toolchain and ptxas must be installed already: settings found automatically download nothing.
    source_root: folders below which sources may be read to show their lines, besides the inputs' and the working
    folder.
    cache: use kept results for unchanged files, and keep new ones.
    space: the memory whose accesses are examined.
    top: number of loops to show, ranked by cost; None = none.
    keep: also keep the requests of every site, with their places (`engine.answer.kept`).
    fixes: also search for proved repairs of conflicts (`fix.lines`).
    edits: fixes with the changes of the source, compiled and audited again.
    patterns: report the distinct requests of every site, their repaired form, and the kernels' loops.
    jobs: number of files audited at a time, or of kernels if there are few files.
    share: audit one of several shares of each file's kernels.
    budget: limit for one kernel and launch, in seconds of a reference machine; None = no limit. It is counted in
    steps (`work`), so that answers are the same on every machine.
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
            force_setattr(self, name, tuple(value) if several else () if value is None else (value,))
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
    """Macros as "N" or "N=V". Raises InputError for an invalid one."""
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
    """Whether a kernel is selected."""
    if options.share is not None and crc32(name.encode()) % options.share[1] != options.share[0]:
        return False
    return not options.kernels or bool(match(_of_globs(options.kernels), name))


@lru_cache(maxsize=4)
def _of_globs(globs: tuple[str, ...]) -> tuple[Launch, ...]:
    return tuple(Launch(kernel=glob) for glob in globs)
