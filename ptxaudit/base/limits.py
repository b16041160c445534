"""The table of limits on inputs, each with its unit and its reason.

    raise NESTING.passed("the braces are nested too deeply", file, line)
    -> k.ptx:7: the braces are nested too deeply: more than 200 levels (the limit `nesting`) — docs/security.md says …

No limit is a clock, so that an input has the same answer on every machine. Steps are limited by `work.Account`; the
limits here bound the work before an account exists, and the resources of other programs. docs/security.md shows this
table, which a test enforces.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptxaudit.base.errors import InputError
from ptxaudit.base.work import DEFAULT_BYTES, Exhausted

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
HINT = "split the input, or audit a smaller part of it; docs/security.md explains this limit"


@dataclass(frozen=True)
class Limit:
    """name: as in messages; most: the largest allowed amount; unit: of `most`; why: a sentence for docs/security.md."""

    name: str
    most: int
    unit: str
    why: str

    def passed(self, what: str, file: str | None = None, line: int | None = None, hint: str = HINT) -> InputError:
        """The error for an input that exceeds the limit. what: a clause that says what exceeds it."""
        return InputError(f"{what}: more than {self.most:,} {self.unit} (the limit `{self.name}`)", hint, file, line)

    def check(self, amount: int, what: str, file: str | None = None, line: int | None = None) -> None:
        """Raises InputError for an amount above the limit."""
        if amount > self.most:
            raise self.passed(what, file, line)


# --- files that are read ------------------------------------------------------------------------

TEXT = Limit(
    "text", 256 * MB, "bytes", "CUDA source or PTX of one file, which takes ten times as much memory when parsed"
)
SHOWN = Limit("shown source", 64 * MB, "bytes", "a source file that line information names, read to show its lines")
SETTINGS = Limit(
    "settings",
    16 * MB,
    "bytes",
    "a launch file, settings, or a compiler's response file: written by hand or by a capture tool",
)
DOCUMENT = Limit(
    "document",
    GB,
    "bytes",
    "a report, baseline, profile or compile_commands.json: a library's report takes a hundred megabytes",
)
BUFFER = Limit("buffer", GB, "bytes", "data behind the pointers of a launch, all buffers of a launch file together")
IMAGE = Limit("image", GB, "bytes", "one cubin: the largest that NVIDIA ships are a fifth of this size")
UNPACKED = Limit(
    "unpacked",
    DEFAULT_BYTES,
    "bytes",
    "decompressed data of one input: a thousand bytes can expand to a million",
)

ARGUMENTS = Limit(
    "arguments", 100_000, "words", "a compiler's arguments for one source, including those of the files that they name"
)

# --- contents of files ----------------------------------------------------------------------------

NESTING = Limit("nesting", 200, "levels", "nested braces, brackets and operators of PTX: compilers write five")
INTEGER = Limit("integer", 64, "bits", "an integer constant of PTX, as the manual says")
PARAMETER = Limit(
    "parameter",
    64 * KB,
    "bytes",
    "one parameter of a kernel, which CUDA limits to 32,764 bytes, or of a device function",
)
INITIAL = Limit(
    "initial data",
    256 * MB,
    "bytes",
    "initial values of variables of one PTX file: ten characters can ask for a gigabyte of zeros",
)
NAME = Limit(
    "name", 64 * KB, "bytes", "the name of a function, section or variable in a cubin, and a name that is demangled"
)

# --- resources of other programs -----------------------------------------------------------------

TOOL_MEMORY = Limit("memory of a tool", 8 * GB, "bytes", "address space of a compiler, assembler or disassembler")
TOOL_FILE = Limit("file of a tool", 2 * GB, "bytes", "one file that such a tool writes")
TOOL_OUTPUT = Limit("output of a tool", 512 * MB, "bytes", "output of such a tool")
COMPILER_TIME = Limit(
    "time of a compiler", 1800, "seconds of processor time", "NVRTC, nvcc, and each program that nvcc runs"
)
TOOL_TIME = Limit("time of a tool", 600, "seconds of processor time", "ptxas, nvdisasm and cuobjdump, for one file")
STALLED = Limit(
    "standstill of a tool",
    60,
    "seconds",
    "without using processor time: the tool waits for input that never arrives, such as an included pipe",
)

MOST_DIGITS = 19  # a number of 63 bits has at most this many decimal digits


def whole(text: str) -> int | None:
    """The value of a text of decimal digits; None for any other text, or too many digits."""
    return int(text) if text.strip().isdecimal() and len(text.strip()) <= MOST_DIGITS else None


ALL: tuple[Limit, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Limit))


def as_error(spent: Exhausted, file: str | None = None) -> InputError:
    """The error to show for an exhausted account."""
    hint = "raise the limit: --budget SECONDS" if spent.unit == "steps" else HINT
    return InputError(f"{spent.what} takes more than {spent.limit:,} {spent.unit}", hint, file)
