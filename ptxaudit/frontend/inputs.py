"""Identifies each INPUT: a file, a folder, standard input, bytes, or an object that holds code.

Before: "kernels/", "-", b"\\x7fELF…", cuda.core's ObjectCode.
After:  Content(path="kernels/a.cu", kind="cuda", data=b"…"), Content(path="<stdin>", kind="ptx", …), …

The content determines the kind; the suffix only distinguishes kinds of text.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.files import is_text
from ptxaudit.frontend.recorded import folder as recordings
from ptxaudit.frontend.recorded import triton

if TYPE_CHECKING:
    from ptxaudit.frontend.launch.launch import Launch

STDIN = "<stdin>"

ELF_MAGIC, ARCHIVE_MAGIC = b"\x7fELF", b"!<arch>\n"
ELF_MACHINE_OFFSET, EM_CUDA = 18, 190
FATBIN_MAGIC = bytes.fromhex("50ed55ba")

HASHED_AT_ONCE = 8 << 20  # bytes

SOURCE_SUFFIXES = frozenset({".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp"})
# never audited, even if they contain CUDA code
DOCUMENT_SUFFIXES = frozenset(
    {".md", ".rst", ".txt", ".html", ".json", ".toml", ".yaml", ".yml", ".csv", ".ipynb", ".py", ".sh", ".cmake"}
)
FOLDER_SUFFIXES = frozenset({".cu", ".ptx", ".cubin", ".fatbin"})  # taken from a folder, whatever their content

BINARY_MAGICS = (ELF_MAGIC, FATBIN_MAGIC, ARCHIVE_MAGIC)

MAX_TEXT = limits.TEXT.most  # bytes

_PTX_VERSION = b"\n.version "
_PTX_START = re.compile(rb"\A(?:\s++|//[^\n]*+(?:\n|\Z)|/\*.*?\*/)*+\.version\b", re.DOTALL)  # never backtracks


@dataclass(frozen=True)
class Content:
    """One input that was read.

    path: as the user wrote it, or "<stdin>", "<bytes>", "<object NAME>".
    kind: "cuda" | "ptx" | "cubin" | "fatbin" | "host" (object, program, library, archive) | "cache" (an entry of
    CuPy's, Numba's or JAX's cache) | "text" (looks like neither CUDA nor PTX).
    launches: from beside the code: a recording, or the metadata of Triton's cache.
    both: the PTX of this machine code, or the machine code of this PTX, is an input too.
    """

    path: str
    kind: str
    data: bytes | mmap.mmap  # mapped: a file from which device code is extracted
    launches: tuple[Launch, ...] = ()
    both: bool = False

    @cached_property
    def sha256(self) -> str:
        digest, view = hashlib.sha256(), memoryview(self.data)
        for start in range(0, len(view), HASHED_AT_ONCE):
            digest.update(view[start : start + HASHED_AT_ONCE])
            if isinstance(self.data, mmap.mmap):
                self.data.madvise(mmap.MADV_DONTNEED)  # or the whole file would stay in memory
        return digest.hexdigest()

    @property
    def is_file(self) -> bool:
        return not self.path.startswith("<")

    def has_beside(self, suffix: str) -> bool:
        """Whether a file of the same name with that suffix exists, or the other half of the same object is an input."""
        return self.both or self.is_file and Path(self.path).with_suffix(suffix).exists()


def expand(given: Any, isa: str | None = None) -> Iterator[Any]:
    """Yields the files of a folder, sorted by name; anything else as it is.

    isa: the requested instruction set. Files of a folder without it are skipped, and so is PTX beside its machine
    code (a Triton cache has both) unless PTX is requested. A recording, named by its folder or its launch file,
    yields its code files; Triton's CompiledKernel yields its machine code, or its PTX if requested.

    Raises InputError for a folder with nothing to audit.
    """
    if triton.is_compiled(given):
        yield from triton.forms_of(given, isa)
        return
    if isinstance(given, (str, os.PathLike)) and not is_text(given) and recordings.is_recording(given):
        yield from (named(str(path)) for path in recordings.code_of(given) if not _passed_over(path, isa))
        return
    if not isinstance(given, (str, os.PathLike)) or str(given) == "-" or is_text(given) or not _is_folder(given):
        yield given
        return
    files = sorted(
        path
        for path in Path(given).rglob("*")
        if not _hidden(path.relative_to(given)) and _is_file(path) and is_taken(path)
    )
    files = [path for path in files if not _passed_over(path, isa)]
    if not files:
        suffixes = ", ".join(sorted(FOLDER_SUFFIXES))
        raise InputError(
            "this folder has nothing to audit",
            f"supported are files named {suffixes}, and binaries that embed device code",
            os.fspath(given),
        )
    yield from map(named, map(str, files))


def named(path: str | Path) -> str | Path:
    """A path that is not mistaken for source text if the file's name contains a line break."""
    return Path(path) if "\n" in str(path) else path


def is_taken(path: str | os.PathLike[str]) -> bool:
    """Whether an audit of a folder takes this file: by its suffix, or as a binary that embeds device code."""
    return Path(path).suffix in FOLDER_SUFFIXES or _embeds_device_code(Path(path))


def _passed_over(path: Path, isa: str | None) -> bool:
    if path.suffix == ".ptx":
        return isa == "sass" or isa is None and path.with_suffix(".cubin").exists()
    return path.suffix == ".cubin" and isa == "ptx"


def _embeds_device_code(path: Path) -> bool:
    """Whether the content is a binary with device code. Damaged binaries count, so that the damage is reported."""
    try:
        with path.open("rb") as file:
            head = file.read(len(ARCHIVE_MAGIC))
    except OSError:
        return False
    if not head.startswith(BINARY_MAGICS) and not _is_cache(path):
        return False
    from ptxaudit.frontend.artifacts.container import NoDeviceCode, images

    try:
        return bool(images(str(path)))
    except NoDeviceCode:
        return False
    except InputError:
        return True


def _is_cache(path: str | os.PathLike[str]) -> bool:
    """Whether it is named like a data file of Numba's cache or an entry of JAX's."""
    return os.fspath(path).endswith((".nbc", "-cache"))


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_folder(path: str | os.PathLike[str]) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):  # the name is too long, or is the text of a program
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a link into a folder without search permission
        return False


def read(given: Any) -> Content:
    """The content of one input. Raises InputError if it cannot be read."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return content("<bytes>", bytes(given))
    if isinstance(given, (str, os.PathLike)):
        if isinstance(given, str) and is_text(given):
            return content("<string>", given.encode())
        if str(given) == "-":
            return content(STDIN, files.read_all(sys.stdin.buffer, _text(), STDIN))
        return _with_launches(content(os.fspath(given), _read_file(given)))
    return _read_object(given)


def _with_launches(content: Content) -> Content:
    """The content with the launches found beside its file. Raises InputError if these cannot be read."""
    if content.kind not in ("cubin", "ptx", "fatbin"):
        return content
    launches = recordings.launches_of_file(content.path) or triton.launches_beside(content.path)
    return replace(content, launches=launches) if launches else content


def _read_file(path: str | os.PathLike[str]) -> bytes | mmap.mmap:
    name = os.fspath(path)
    try:
        with files.opened(path) as file:
            if file.peek(len(ARCHIVE_MAGIC)).startswith(BINARY_MAGICS) and _is_file(Path(path)):
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return files.read_all(file, _text(), name)
    except FileNotFoundError:
        raise InputError("there is no such file or folder", "check the path", name) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read it: {why}", "check the path and its permissions", name) from None


def check_kind(given: Any) -> None:
    """Raises InputError for an object that is not a supported input."""
    if not isinstance(given, (bytes, bytearray, memoryview, str, os.PathLike)) and not triton.is_compiled(given):
        _read_object(given)


def why_unreadable(given: Any) -> InputError | None:
    """The error if no file of an input can be opened; None if one can, or if the input can be read only once."""
    if isinstance(given, str) and given == "-":
        return None
    try:
        for item in expand(given):
            read(item)
            return None
    except InputError as error:
        return error
    return None


def _text() -> limits.Limit:
    return replace(limits.TEXT, most=MAX_TEXT)


def _read_object(given: Any) -> Content:
    """Reads cuda.core's ObjectCode, or a similar object: `.code` is bytes, text, or the path of a file."""
    code = getattr(given, "code", None)
    name = getattr(given, "name", "") or type(given).__name__
    if isinstance(given, triton.Asm):
        data = given.code.encode() if isinstance(given.code, str) else given.code
        return replace(content(f"<object {name}>", data), launches=given.launches, both=given.both)
    if isinstance(code, (bytes, bytearray)):
        return content(f"<object {name}>", bytes(code).rstrip(b"\0") if _PTX_START.match(code) else bytes(code))
    if isinstance(code, str):
        return read(code)
    raise InputError(
        f"a {type(given).__name__} cannot be audited",
        "give a path, bytes, PTX or CUDA text, an object whose .code is one of them, such as cuda.core's ObjectCode,"
        " or Triton's CompiledKernel",
    )


def content(path: str, data: bytes | mmap.mmap) -> Content:
    """`data` with its kind. Raises InputError if it is empty."""
    if isinstance(data, bytes) and not data.strip():
        raise InputError("this is empty", "check that this is the right file", path)
    return Content(path, kind_of(path, data), data)


def kind_of(path: str, data: bytes | mmap.mmap) -> str:
    """One of "cubin", "fatbin", "host", "cache", "ptx", "cuda" or "text"."""
    if isinstance(data, mmap.mmap):
        data = data[: ELF_MACHINE_OFFSET + 2]
    if data.startswith(ELF_MAGIC):
        machine = int.from_bytes(data[ELF_MACHINE_OFFSET : ELF_MACHINE_OFFSET + 2], "little")
        return "cubin" if machine == EM_CUDA or Path(path).suffix == ".cubin" else "host"
    if data.startswith(ARCHIVE_MAGIC):
        return "host"
    if data.startswith(FATBIN_MAGIC):
        return "fatbin"
    suffix = Path(path).suffix.lower()
    if (
        _is_cache(path) or suffix == ".cubin" and (ELF_MAGIC in data or _PTX_VERSION in data)
    ):  # CuPy's entries have a header before the cubin
        return "cache"
    if suffix in (".cubin", ".fatbin"):
        return suffix[1:]
    if suffix in SOURCE_SUFFIXES:
        return "cuda"
    if suffix == ".ptx" or _PTX_START.match(data.removeprefix(b"\xef\xbb\xbf")):
        return "ptx"
    return "cuda" if b"__global__" in data and suffix not in DOCUMENT_SUFFIXES else "text"


# --- outputs that would overwrite inputs --------------------------------------------------------------------


def keep_inputs(output: str | None, inputs: Iterable[str | os.PathLike[str] | None]) -> None:
    """Raises InputError if an output would overwrite something that is read."""
    if output is None:
        return
    for given in inputs:
        if given is not None and (_same(output, given) or os.path.isdir(given) and _is_input_of(output, given)):
            raise InputError("this is an input and would be overwritten", "name another file with -o", output)


def _same(one: str, other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(one, other) and stat.S_ISREG(os.stat(one).st_mode)
    except (OSError, ValueError):  # one of them does not exist
        return False


def _is_input_of(output: str, folder: str | os.PathLike[str]) -> bool:
    """Whether an audit of the folder would take this file."""
    real = os.path.realpath(output)
    inside = os.path.commonpath([real, os.path.realpath(folder)]) == os.path.realpath(folder)
    return inside and os.path.isfile(real) and is_taken(real)
