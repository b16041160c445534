"""Turns recorded events into a recording: code files named by content, and a launch file.

    finish(raw, "ptxaudit-record", "python train.py")  ->  Recording("ptxaudit-record", launches=34, times=5210, …)

A parameter is written if it agrees with the kernel's own list of parameters, and left unspecified if its size
differs.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import field

from ptxaudit.base.demangle import demangle, split_name
from ptxaudit.base.errors import InputError
from ptxaudit.base.printable import one_line
from ptxaudit.base.records import Record
from ptxaudit.base.version import __version__
from ptxaudit.base.words import cut_at
from ptxaudit.frontend.inputs import content
from ptxaudit.frontend.launch.launch_file import string
from ptxaudit.frontend.launch.parameters import encode, kind_of
from ptxaudit.frontend.options import Options
from ptxaudit.frontend.recorded.folder import ARRAYS, CODE, LAUNCH_FILE, SOURCES, is_recording
from ptxaudit.frontend.recorded.triton import escaped
from ptxaudit.ir import nodes as ir
from ptxaudit.pipeline.collect import Part, silent
from ptxaudit.pipeline.contents import kernels_of
from ptxaudit.ui.recording.events import Code, Events, Seen, read
from ptxaudit.ui.recording.modules import digest

NAME_LENGTH, DIGEST_LENGTH = 40, 12  # characters of a file name
LONGEST_COMMAND = 2_000  # characters in the launch file
POINTER_BYTES = 8
_FLOATS = {4: "<f", 8: "<d"}


class Recording(Record):
    """The contents of a recording.

    folder: its path; launches: the number of distinct launches; times: how often they happened in total; kernels: the
    number of launched kernels; compiled: the number of code files that were compiled but not launched; left_out: the
    number of launches that were counted but not kept; notes: a sentence for each thing that could not be recorded.
    """

    folder: str
    launches: int = 0
    times: int = 0
    kernels: int = 0
    compiled: int = 0
    left_out: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def empty(self) -> bool:
        return not self.launches and not self.compiled


def prepared(folder: str) -> str:
    """Creates the folder of a recording and an empty folder for events in it. Returns the path of the latter.

    Raises InputError if the folder cannot be written or contains something else.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        others = set(os.listdir(folder))
        if others and not is_recording(folder):
            raise InputError(
                "this folder contains something else", "name a new folder, or one with an earlier recording", folder
            )
        raw = os.path.join(folder, f".events-{os.getpid()}")
        shutil.rmtree(raw, ignore_errors=True)
        os.mkdir(raw, 0o700)
        return os.path.abspath(raw)
    except OSError as error:
        raise InputError(
            f"the recording cannot be written there: {error.strerror}", "name another folder", folder
        ) from None


def finish(raw: str, folder: str, command: str = "") -> Recording:
    """Makes a recording of the events in the folder `raw`, which is then removed.

    Raises InputError if the recording cannot be written.
    """
    try:
        events = read(raw)
        for name in (CODE, SOURCES, ARRAYS):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        recording = _Writer(events, folder, command).write()
        shutil.rmtree(raw, ignore_errors=True)
        return recording
    except OSError as error:
        raise InputError(
            f"the recording cannot be written: {error.strerror}",
            f"free some space there; the events are in {raw}",
            folder,
        ) from None


class _Writer:
    """Writes one recording."""

    def __init__(self, events: Events, folder: str, command: str) -> None:
        self._events, self._folder, self._command = events, Path(folder), command
        self._notes = list(events.notes)
        self._names: dict[str, str] = {}

    def write(self) -> Recording:
        launched = list(dict.fromkeys(one.code for one in self._events.launches))
        others = [code for name, code in self._events.codes.items() if name not in launched]
        compiled = [code for code in others if code.framework != "driver"]
        (self._folder / CODE).mkdir()
        tables = [table for name in launched for table in self._launched(self._events.codes[name])]
        for code in compiled:
            self._put(code)
        result = self._summary(len(tables), len(compiled))
        text = "\n".join([*self._head(result), *tables])
        (self._folder / LAUNCH_FILE).write_text(text, encoding="utf-8", errors="backslashreplace")
        return result

    def _summary(self, launches: int, compiled: int) -> Recording:
        kept = [one for one in self._events.launches if one.code in self._names]
        return Recording(
            folder=str(self._folder),
            launches=launches,
            times=sum(one.count for one in kept),
            kernels=len({(one.code, one.kernel) for one in kept}),
            compiled=compiled,
            left_out=sum(self._events.more.values()),
            notes=tuple(dict.fromkeys(self._notes)),
        )

    def _head(self, result: Recording) -> Iterator[str]:
        yield f"# Recorded by ptxaudit {__version__}"
        yield f"# {summary(result)}"
        yield "# `ptxaudit audit` of this folder audits them, with or without a GPU."
        yield '# params: pointers are addresses that the program had; what is not known is "?", or ?? in hexadecimal.'
        for (code, kernel), count in self._events.more.items():
            name = self._names.get(code, "code that is not kept")
            yield f"# not kept: {count:,} launches of {one_line(kernel)} ({name}) with other parameters"
        yield from (f"# note: {one_line(note)}" for note in result.notes)
        if command := one_line(cut_at(self._command, LONGEST_COMMAND)):
            yield f"command = {string(command)}"
        yield ""

    # --- code -----------------------------------------------------------------------------------

    def _launched(self, code: Code) -> Iterator[str]:
        """The launch tables of one code file, which is copied into the recording."""
        launches = [one for one in self._events.launches if one.code == code.sha256]
        functions = self._functions(code)
        unknown = [one.kernel for one in launches if one.kernel not in functions]
        if unknown:
            self._notes.append(f"launches of {unknown[0]} are not recorded: its code has no kernel with that name")
        launches = [one for one in launches if one.kernel in functions]
        if launches:
            name = self._put(code, launches[0].kernel)
            yield from (self._table(one, functions[one.kernel], name) for one in launches)

    def _functions(self, code: Code) -> dict[str, ir.Function]:
        part = Part()
        found: dict[str, ir.Function] = {}
        with part.collecting(code.file):
            given = content(code.file, Path(code.file).read_bytes())
            found = {one.function.name: one.function for one in kernels_of(given, Options(), part, silent)}
        self._notes += [f"code of {code.framework} cannot be read: {problem.what}" for problem in part.problems]
        return found

    def _put(self, code: Code, kernel: str | None = None) -> str:
        """Copies a code file, its PTX and its source into the recording. Returns the file name."""
        stem = f"{slug(kernel or code.kernel or 'module')}-{code.sha256[:DIGEST_LENGTH]}"
        name = self._names[code.sha256] = stem + Path(code.file).suffix
        shutil.copyfile(code.file, self._folder / CODE / name)
        if code.ptx:
            shutil.copyfile(code.ptx, self._folder / CODE / f"{stem}.ptx")
        if code.source:
            (self._folder / SOURCES).mkdir(exist_ok=True)
            shutil.copyfile(code.source, self._folder / SOURCES / f"{stem}.cu")
        return name

    # --- launches -------------------------------------------------------------------------------

    def _table(self, one: Seen, function: ir.Function, name: str) -> str:
        lines = ["[[launch]]", f"kernel = {string(escaped(one.kernel))}"]
        if (plain := one_line(demangle(one.kernel))) != one.kernel:
            lines.insert(0, f"# {plain}")
        lines.append(f"code = {string(f'{CODE}/{name}')}")
        lines.append(f"count = {one.count}")
        for key in ("grid", "block", "cluster"):
            if (dims := getattr(one, key)) is not None:
                lines.append(f"{key} = {list(dims)}")
        lines.append(f"dynamic_shared = {one.shared}")
        lines += self._parameters(one, function)
        if memory := [self._memory(address, file) for address, file in one.memory]:
            lines += ["memory = [", *(f"    {entry}," for entry in memory), "]"]
        return "\n".join(lines) + "\n"

    def _parameters(self, one: Seen, function: ir.Function) -> list[str]:
        size = max((parameter.offset + parameter.size for parameter in function.parameters), default=0)
        given = one.params
        buffer = (
            given is not None and len(given) == 1 and given[0].startswith("b:")
        )  # all parameters in one buffer, as PyCUDA packs them
        if one.param_bytes is not None or buffer and len(function.parameters) > 1:
            raw = one.param_bytes if one.param_bytes is not None else given[0].partition(":")[2]  # type: ignore[index]
            if len(raw) // 2 < size:
                return self._not_recorded(one, f"{len(raw) // 2} bytes of {size} were seen")
            given = tuple(
                f"b:{raw[2 * parameter.offset : 2 * (parameter.offset + parameter.size)]}"
                for parameter in function.parameters
            )
        if not given or not function.parameters:
            return [] if function.parameters else ["params = []"]
        if len(given) > len(function.parameters):
            return self._not_recorded(one, f"{len(given)} were seen, but it has {len(function.parameters)}")
        values = [
            shown(given[at] if at < len(given) else "?:0", function, at) for at in range(len(function.parameters))
        ]
        width = max(map(len, values))
        declared = split_name(function.name)[1]
        types = declared if len(declared) == len(values) else [one.type or "" for one in function.parameters]
        lines = [f"    {value},".ljust(width + 6) + f"# {at} {one_line(types[at])}" for at, value in enumerate(values)]
        return ["params = [", *map(str.rstrip, lines), "]"]

    def _not_recorded(self, one: Seen, why: str) -> list[str]:
        self._notes.append(f"parameters of {one.kernel} are not recorded: {why}")
        return []

    def _memory(self, address: int, file: str) -> str:
        folder = self._folder / ARRAYS
        folder.mkdir(exist_ok=True)
        name = f"{digest(file)[:DIGEST_LENGTH]}.npy"
        shutil.copyfile(file, folder / name)
        return f"{{address = {address:#x}, file = {string(f'{ARRAYS}/{name}')}}}"


def summary(result: Recording) -> str:
    """ "34 distinct launches of 5,210, of 12 kernels"."""
    kernels = f"{result.kernels:,} kernel{'s' * (result.kernels != 1)}"
    launches = f"{result.launches:,} distinct launch{'es' * (result.launches != 1)}"
    parts = [f"{launches} of {result.times + result.left_out:,}, of {kernels}"] if result.launches else []
    if result.compiled:
        what = "files of code were" if result.compiled != 1 else "file of code was"
        parts.append(f"{result.compiled:,} {what} compiled and not launched")
    return "; ".join(parts) or "nothing was recorded"


def slug(kernel: str) -> str:
    """A file name for a kernel: "ns::gemm<float, 8>(…)" -> "gemm"."""
    head = split_name(kernel)[0].partition("<")[0].partition("[abi:")[0]
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", head.rpartition("::")[2]).strip("_")
    return plain[:NAME_LENGTH] or "kernel"


def shown(text: str, function: ir.Function, at: int) -> str:
    """A parameter as written in a launch file.

    A number if its type is known and the number encodes the same bytes, otherwise hexadecimal bytes, with ?? for
    unknown bytes.
    """
    size = function.parameters[at].size
    tag, _, digits = text.partition(":")
    data = b"" if tag == "?" else bytes.fromhex(digits)[:size]
    if tag == "i" and len(data) < size or tag in "pf" and len(bytes.fromhex(digits)) < size:
        return '"?"'  # not the value that was passed
    if not data:
        return '"?"'
    if len(data) == size:
        for number, written in _numbers(data, tag, function, at):
            try:
                if encode(number, size, kind_of(function, at)) == (data, b"\1" * size):
                    return written
            except ValueError:
                continue
    return f'"{data.hex()}{"??" * (size - len(data))}"'


def _numbers(data: bytes, tag: str, function: ir.Function, at: int) -> Iterator[tuple[int | float, str]]:
    """(number, its text): interpretations of a parameter's bytes, the most likely first."""
    size, kind = len(data), kind_of(function, at)
    types: Sequence[str] = split_name(function.name)[1]
    declared = types[at] if len(types) == len(function.parameters) else ""
    if (tag == "p" or function.parameters[at].pointer or declared.endswith("*")) and size == POINTER_BYTES:
        address = int.from_bytes(data, "little")
        yield address, f"{address:#x}" if address else "0"
    if (tag == "f" or kind == "float") and size in _FLOATS:
        (number,) = struct.unpack(_FLOATS[size], data)
        if math.isfinite(number):
            yield number, repr(number)
    elif (tag == "i" or kind == "integer") and size in (1, 2, 4, 8):
        whole = int.from_bytes(data, "little", signed=True)
        yield whole, str(whole)
