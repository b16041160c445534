"""Mutates inputs at random: each must be audited or rejected with a message, within limits, and nothing may get lost.

    python -m bench.mutations --cases 100000 [-j 2]          all kinds of inputs; docs/reliability.md has the results
    python -m bench.mutations --kind cubin --start 4711 --cases 1 --keep FOLDER      one case again, its file kept

A case is a number: it determines the kind, the input and the changes to it. Outcomes other than the ordinary ones
(the same result, another one, a message) must stay at 0:

    fault       a traceback, an undefined exit status, or an error that this tool reports as its own
    hang        more than SECONDS of processor time
    oversize    more than MEMORY of address space
    lost        a kernel or an access is missing without a message; for PTX: all kernels
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.processor_time import TooLong, at_most

if TYPE_CHECKING:
    from ptxaudit.report.model import Report

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 20  # of processor time per case, besides that of the vendor's tools
BUDGET = 0.1  # per kernel: the figures for accesses are not tested here
MEMORY = 3 << 30  # bytes of address space of the process that runs the cases
INSTRUCTION = 16  # bytes
CODE_AT = 0x7F41AB7AEF00  # where a profile locates the code
TOGETHER = 50  # cases of compiled files per process of the disassembler
BAD = ("fault", "hang", "oversize", "lost")
NUMBERS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 32, 1 << 63, (1 << 64) - 1)
DIGITS = (
    "0",
    "-1",
    "1e999",
    "2147483648",
    "4294967296",
    "18446744073709551616",
    "9" * 30,
    "9" * 5000,
    "0x" + "f" * 40,
    "nan",
)
PIECES = (
    ",",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "=",
    ":",
    ";",
    "\n",
    "\0",
    "\\",
    "/*",
    "*/",
    "//",
    "true",
    "null",
    "\udc80",
    "é",
    "$(x)",
    "`x`",
)
WORD = re.compile(r"[%\w.$]+")
NUMBER = re.compile(r"\d+")

SOURCE = """\
#include <cuda_fp16.h>
__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ __noinline__ int twice(int x) { return x * 2 + table[x & 7]; }
extern "C" __global__ void column(float *a, int pitch) {
  __shared__ float tile[32 * 33];
  tile[threadIdx.x * 32] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = tile[threadIdx.x * pitch + twice(threadIdx.y)];
}
extern "C" __global__ __launch_bounds__(128) void reduce(int *out, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  switch (n & 3) { case 0: out[0] = s[0]; break; case 1: atomicAdd(&s[n & 255], 1); break; default: out[1] = s[n & 63]; }
}
"""
LAUNCHES = """\
[[launch]]
kernel = "column"
grid = [2, 1]
block = [32, 4]
dynamic_shared = 16
params = ["?", 33]

[[launch]]
kernel = "red*"
grid = 4
block = [128]
params = [{file = "data.npy"}, 3]
"""
SETTINGS = """\
inputs = ["k.ptx"]
arch = "sm_90"
isa = "ptx"
kernels = ["col*", "reduce"]
exclude = []
rules = ["excess=4"]
budget = 0.1
launches = ["launch.toml"]
assume = ["0%16"]
"""
COMMANDS = """\
[{"directory": ".", "file": "k.cu", "command": "nvcc -I include -DN=4 -std=c++17 -c k.cu"},
 {"directory": "sub", "file": "b.cu", "arguments": ["nvcc", "-Iinc", "-D", "M=1", "b.cu"], "output": "b.o"}]
"""


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    files: the names of those that are mutated; weight: its share of the cases; text: whether it is text; see: returns
    the outcomes of some mutated files.
    """

    name: str
    files: tuple[str, ...]
    weight: int
    text: bool
    see: Callable[[Sequence[Case], Bases], list[str]]


@dataclass(frozen=True)
class Case:
    """One mutated file, its base and its path. touched: code was changed, so that accesses may differ."""

    number: int
    base: str
    path: str
    touched: bool = True


@dataclass
class Tally:
    """Outcomes by kind, the bad ones, and the maximum cost of a case."""

    endings: dict[str, Counter] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    seconds: float = 0.0
    memory: int = 0

    def add(self, other: Tally) -> None:
        for kind, found in other.endings.items():
            self.endings.setdefault(kind, Counter()).update(found)
        self.bad += other.bad
        self.seconds, self.memory = max(self.seconds, other.seconds), max(self.memory, other.memory)


# --- the unchanged inputs -----------------------------------------------------------------------


class Bases:
    """The unchanged inputs in a folder, with their contents."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    @property
    def kernels(self) -> dict[str, dict[str, int]]:
        """file -> kernel -> accesses."""
        return _kernels_of(str(self.folder), tuple(sorted(self.data)))

    def code(self, name: str) -> list[tuple[int, int]]:
        """(begin, end) of the machine code in a compiled file."""
        return _code_of(self.data[name])


@cache
def _kernels_of(folder: str, names: tuple[str, ...]) -> dict[str, dict[str, int]]:
    import ptxaudit

    compiled = [name for name in names if name.endswith((".ptx", ".cubin", ".fatbin", ".a", ".o"))]
    report = ptxaudit.audit([os.path.join(folder, name) for name in compiled])
    assert not report.problems, report.problems
    out: dict[str, dict[str, int]] = {name: {} for name in compiled}
    for kernel in report.kernels:
        found = out[os.path.basename(kernel.input)]
        found[kernel.name] = found.get(kernel.name, 0) + len(kernel.sites)
    return out


@cache
def _code_of(data: bytes) -> list[tuple[int, int]]:
    """(begin, end) of the machine code in every cubin in the data."""
    out = []
    for found in re.finditer(rb"\x7fELF\x02\x01.{12}\xbe\x00", data, re.DOTALL):
        at = found.start()
        table, size, count, names = struct.unpack_from("<40xQ10xHHH", data, at)
        rows = [struct.unpack_from("<IIQQQQ", data, at + table + size * number) for number in range(count)]
        begin = at + rows[names][4]
        for name, _, _, _, offset, length in rows:
            if data.startswith(b".text.", begin + name):
                out.append((at + offset, at + offset + length))
    return out


def build(folder: Path) -> None:
    """Writes the unchanged inputs into a folder."""
    import numpy as np

    import ptxaudit
    from ptxaudit.frontend.compile.nvrtc import compile_source
    from ptxaudit.review.baseline import baseline_json

    images = {}
    for arch in ("sm_80", "sm_90"):
        compiled = compile_source(SOURCE, arch=arch, name="k.cu")
        (folder / f"{arch}.cubin").write_bytes(compiled.cubin)
        images[arch] = compiled
    (folder / "k.ptx").write_text(images["sm_90"].ptx)
    (folder / "small.ptx").write_text(
        compile_source(
            'extern "C" __global__ void k(int n) { extern __shared__ int s[]; s[threadIdx.x * n] = n; }\n'
        ).ptx
    )
    (folder / "k.fatbin").write_bytes(_fat_binary(images))
    (folder / "k.o").write_bytes(_host(_fat_binary(images)))
    (folder / "libk.a").write_bytes(
        _archive({"one.o": _host(_fat_binary({"sm_80": images["sm_80"]})), "two.o": (folder / "k.o").read_bytes()})
    )
    (folder / "launch.toml").write_text(LAUNCHES)
    (folder / "ptxaudit.toml").write_text(SETTINGS)
    (folder / "compile_commands.json").write_text(COMMANDS)
    np.save(folder / "data.npy", np.arange(256, dtype=np.int32))
    np.save(folder / "pairs.npy", np.zeros((4, 4), dtype=[("a", "<i4"), ("b", "<f8")]))
    report = ptxaudit.audit(
        str(folder / "sm_90.cubin"), launches=[ptxaudit.Launch("column", grid=1, block=32, params=[None, 33])]
    )
    (folder / "report.json").write_text(report.to_json())
    (folder / "baseline.json").write_text(baseline_json(ptxaudit.audit(str(folder / "small.ptx"))))
    (folder / "source.csv").write_text(_profile(report))


def _profile(report: Report) -> str:
    """A source page of the profiler for the first kernel."""
    kernel = report.kernels[0]
    sites = {site.offset: site for site in kernel.sites}
    rows = []
    for offset in range(0, max(sites) + INSTRUCTION, INSTRUCTION):
        site = sites.get(offset)
        text, figures = (
            ("NOP", (1, 0, 0))
            if site is None
            else (site.text, (site.requests or 1, site.wavefronts or 1, site.ideal or 1))
        )
        rows.append(",".join(f'"{cell}"' for cell in (hex(CODE_AT + offset), text, *figures)))
    header = '"Address","Source","Instructions Executed","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"'
    return "\n".join((f'"Kernel Name","{kernel.name}",', header, *rows)) + "\n"


def _fat_binary(images: dict) -> bytes:
    """A header and a chain of uncompressed entries."""
    body = b""
    for arch, compiled in images.items():
        for kind, payload in ((1, compiled.ptx.encode() + b"\0"), (2, compiled.cubin)):
            if kind == 1 and arch != "sm_90":
                continue
            payload += bytes(-len(payload) % 8)
            body += struct.pack("<HHIQ12xI8xQ16x", kind, 0x101, 64, len(payload), int(arch[3:]), 0x11) + payload
    return struct.pack("<4sHHQ", bytes.fromhex("50ed55ba"), 1, 16, len(body)) + body


def _host(payload: bytes) -> bytes:
    """A 64-bit x86 ELF file with device code in it."""
    names = b"\0.shstrtab\0.nv_fatbin\0"
    at = 64 + len(names) + -len(names) % 16
    table = at + len(payload) + -len(payload) % 16
    header = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 1)
    sections = bytes(64) + b"".join(
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
        for name, kind, offset, size in ((1, 3, 64, len(names)), (11, 1, at, len(payload)))
    )
    body = (header + names).ljust(at, b"\0") + payload
    return body.ljust(table, b"\0") + sections


def _archive(members: dict[str, bytes]) -> bytes:
    out = b"!<arch>\n"
    for name, data in members.items():
        out += (
            f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{0o644:<8o}{len(data):<10}".encode()
            + b"`\n"
            + data
            + b"\n" * (len(data) % 2)
        )
    return out


# --- mutations ----------------------------------------------------------------------------------


def changed(data: bytes, rng: random.Random, text: bool, others: Sequence[bytes]) -> bytes:
    """The data after one to three mutations."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(_OF_TEXT if text and rng.random() < 0.75 else _OF_BYTES)(data, rng, others)
    return data


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data)) if data else 0


def _bit(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes([(data[at] if data else 0) ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _byte(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes([rng.choice((0, 255, rng.randrange(256)))]) + data[at + 1 :]


def _integer(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    size = rng.choice((2, 4, 8))
    at = _place(data, rng) // size * size
    return data[:at] + (rng.choice(NUMBERS) & (1 << 8 * size) - 1).to_bytes(size, "little") + data[at + size :]


def _cut(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    return data[: _place(data, rng)]


def _remove(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at + rng.choice((1, 2, 8, 64, 1000)) :]


def _repeat(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at : at + rng.choice((1, 8, 64, 4096))] * rng.choice((2, 3, 300)) + data[at:]


def _splice(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: _place(data, rng)] + other[_place(other, rng) :]


def _insert(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.randbytes(rng.choice((1, 4, 16, 200))) + data[at:]


def _as_text(change: Callable[[str, random.Random], str]) -> Callable[[bytes, random.Random, Sequence[bytes]], bytes]:
    return lambda data, rng, others: change(data.decode("utf-8", "surrogateescape"), rng).encode(
        "utf-8", "surrogateescape"
    )


def _words(text: str, rng: random.Random) -> str:
    """Replaces a word by another."""
    words = list(WORD.finditer(text))
    if not words:
        return text
    one, other = rng.choice(words), rng.choice(words)
    return text[: one.start()] + other[0] + text[one.end() :]


def _digits(text: str, rng: random.Random) -> str:
    """Replaces a number by another."""
    numbers = list(NUMBER.finditer(text))
    if not numbers:
        return text
    one = rng.choice(numbers)
    return text[: one.start()] + rng.choice(DIGITS) + text[one.end() :]


def _lines(text: str, rng: random.Random) -> str:
    """Removes, repeats or moves a line."""
    lines = text.split("\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    line = lines.pop(one)
    return "\n".join(
        rng.choice((lines, lines[:one] + [line, line] + lines[one:], lines[:other] + [line] + lines[other:]))
    )


def _piece(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(PIECES) * rng.choice((1, 1, 2, 500)) + text[at:]


_OF_BYTES = (_bit, _bit, _byte, _byte, _integer, _integer, _cut, _remove, _repeat, _splice, _insert)
_OF_TEXT = tuple(map(_as_text, (_words, _words, _digits, _lines, _piece)))


# --- outcomes -----------------------------------------------------------------------------------


def of_audit(cases: Sequence[Case], bases: Bases) -> list[str]:
    """The outcomes of compiled files and PTX, audited together."""
    import ptxaudit
    from ptxaudit.base.errors import InputError

    try:
        report = ptxaudit.audit([Path(case.path) for case in cases], budget=BUDGET)
        kernels, problems = report.kernels, report.problems
    except InputError as error:  # none of them could be read
        return [_of_words(str(error)) for _ in cases]
    return [
        _ending(
            case,
            bases.kernels[case.base],
            [k for k in kernels if k.input == case.path],
            [
                p
                for p in problems
                if p.file in (None, case.path) or p.file.startswith((f"{case.path}#", f"{case.path}:"))
            ],
        )
        for case in cases
    ]


def _ending(case: Case, before: dict[str, int], kernels: Sequence, problems: Sequence) -> str:
    words = [_of_words(f"{problem.what} {problem.detail}") for problem in problems]
    if any(word in BAD for word in words):
        return next(word for word in words if word in BAD)
    after: dict[str, int] = {}
    for kernel in kernels:
        after[kernel.name] = after.get(kernel.name, 0) + len(kernel.sites)
    if problems:
        return "message"
    is_text = case.base.endswith(".ptx")
    if (
        not after
        or not is_text
        and (len(after) < len(before) or not case.touched and sum(after.values()) < sum(before.values()))
    ):
        return "lost"
    return "same" if after == before else "other"


def _of_words(said: str) -> str:
    """The outcome that the text of an error indicates."""
    if "ran out of memory" in said:
        return "oversize"
    return "fault" if "failed here" in said or "Traceback" in said or "fault of ptxaudit" in said else "message"


def of_command(cases: Sequence[Case], bases: Bases, words: Callable[[Case], list[str]]) -> list[str]:
    """The outcomes of files that a command reads, one by one."""
    from click.testing import CliRunner

    from ptxaudit.ui.cli import main

    out = []
    for case in cases:
        done = CliRunner().invoke(main, words(case))
        said = done.output + (done.stderr or "")
        strange = done.exception is not None and not isinstance(done.exception, SystemExit)
        if isinstance(done.exception, TooLong):
            raise done.exception
        out.append(
            "fault"
            if strange or done.exit_code not in (0, 1, 2)
            else _of_words(said)
            if done.exit_code == 2
            else "other"
        )
    return out


def _audit_with(option: str, *more: str) -> Callable[[Sequence[Case], Bases], list[str]]:
    return lambda cases, bases: of_command(
        cases,
        bases,
        lambda case: [
            "audit",
            str(bases.folder / "k.ptx"),
            "--no-cache",
            "--budget",
            str(BUDGET),
            option,
            case.path,
            *more,
        ],
    )


def _of_buffers(cases: Sequence[Case], bases: Bases) -> list[str]:
    def words(case: Case) -> list[str]:
        launch = Path(case.path).with_suffix(".toml")
        launch.write_text(
            f'[[launch]]\nkernel = "column"\ngrid = 1\nblock = 32\nparams = [{{file = "{Path(case.path).name}"}}, 33]\n'
        )
        return ["audit", str(bases.folder / "k.ptx"), "--no-cache", "--budget", str(BUDGET), "--launch", str(launch)]

    return of_command(cases, bases, words)


KINDS = (
    Kind("PTX", ("k.ptx", "small.ptx"), 25, True, of_audit),
    Kind("cubin", ("sm_80.cubin", "sm_90.cubin"), 25, False, of_audit),
    Kind("fat binary", ("k.fatbin",), 3, False, of_audit),
    Kind("archive", ("libk.a", "k.o"), 2, False, of_audit),
    Kind("launch file", ("launch.toml",), 12, True, _audit_with("--launch")),
    Kind(
        "settings",
        ("ptxaudit.toml",),
        12,
        True,
        lambda cases, bases: of_command(cases, bases, lambda case: ["audit", "--config", case.path, "--no-cache"]),
    ),
    Kind(
        "baseline",
        ("baseline.json",),
        6,
        True,
        lambda cases, bases: of_command(
            cases, bases, lambda case: ["audit", str(bases.folder / "small.ptx"), "--no-cache", "--baseline", case.path]
        ),
    ),
    Kind(
        "report",
        ("report.json",),
        6,
        True,
        lambda cases, bases: of_command(
            cases, bases, lambda case: ["diff", str(bases.folder / "report.json"), case.path]
        ),
    ),
    Kind(
        "profile",
        ("source.csv",),
        4,
        True,
        lambda cases, bases: of_command(
            cases, bases, lambda case: ["compare", str(bases.folder / "report.json"), case.path]
        ),
    ),
    Kind(".npy", ("data.npy", "pairs.npy"), 3, False, _of_buffers),
    Kind("compile_commands", ("compile_commands.json",), 2, True, _audit_with("--compile-commands")),
)


def kind_of(number: int) -> Kind:
    """The kind of a case; successive cases have the same kind, so that they can be run together."""
    return random.Random(f"kind {number // TOGETHER}").choices(KINDS, [kind.weight for kind in KINDS])[0]


def case(number: int, kind: Kind, bases: Bases, folder: Path) -> Case:
    """Writes the mutated file of a case."""
    rng = random.Random(f"case {number}")
    name = rng.choice(kind.files)
    data = bases.data[name]
    others = [other for other_name, other in sorted(bases.data.items()) if other_name != name]
    new = changed(data, rng, kind.text, others)
    path = folder / f"{number}-{name}"
    path.write_bytes(new)
    touched = (
        len(new) != len(data) or any(new[begin:end] != data[begin:end] for begin, end in bases.code(name))
        if not kind.text
        else True
    )
    return Case(number, name, str(path), touched)


def run(numbers: Sequence[int], kind: Kind, bases: Bases) -> Tally:
    """Runs cases of one kind: together if nothing goes wrong, otherwise one by one."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="mutations-") as name:
        folder = Path(name)
        shutil.copy(bases.folder / "data.npy", folder)
        shutil.copy(bases.folder / "launch.toml", folder / "launch.toml")
        shutil.copy(bases.folder / "k.ptx", folder)
        cases = [case(number, kind, bases, folder) for number in numbers]
        endings = _timed(cases, kind, bases, tally, SECONDS)
        if endings is None or any(ending in BAD for ending in endings):
            endings = [(_timed([one], kind, bases, tally, SECONDS) or ["hang"])[0] for one in cases]
        tally.endings[kind.name] = Counter(endings)
        tally.bad += [
            f"{one.number} ({one.base}): {ending}" for one, ending in zip(cases, endings, strict=True) if ending in BAD
        ]
    tally.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return tally


def _timed(cases: Sequence[Case], kind: Kind, bases: Bases, tally: Tally, seconds: float) -> list[str] | None:
    """The outcomes; None if one case took too long, or an error cannot be attributed to a single case."""
    begin = time.process_time()
    try:
        with at_most(seconds):
            endings = kind.see(cases, bases)
    except TooLong:
        return None
    except Exception as error:
        return None if len(cases) > 1 else ["oversize" if isinstance(error, MemoryError) else "fault"]
    tally.seconds = max(tally.seconds, (time.process_time() - begin) / len(cases))
    return endings


def work(first: int, last: int, kind_name: str | None, folder: str) -> Tally:
    """Runs cases in a child process, with its limit on memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    numbers = range(first, last)
    kind = next(k for k in KINDS if k.name == kind_name) if kind_name else kind_of(first)
    return run(numbers, kind, Bases(Path(folder)))


def table(tally: Tally) -> str:
    """The outcomes by kind, in the format of docs/reliability.md."""
    columns = ("same", "other", "message", *BAD)
    lines = [
        "| input | cases | same result | another result | message | fault | hang | oversize | lost |",
        "|---|" + "--:|" * 8,
    ]
    for kind in KINDS:
        found = tally.endings.get(kind.name)
        if found:
            lines.append(
                f"| {kind.name} | {found.total():,} | " + " | ".join(f"{found[column]:,}" for column in columns) + " |"
            )
    whole = sum(tally.endings.values(), Counter())
    lines.append(f"| all | {whole.total():,} | " + " | ".join(f"{whole[column]:,}" for column in columns) + " |")
    return "\n".join(lines)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=int, default=2_000)
    arguments.add_argument("--start", type=int, default=0)
    arguments.add_argument("--kind", choices=[kind.name for kind in KINDS])
    arguments.add_argument("--seconds", type=float, help="stop after so long")
    arguments.add_argument(
        "--bases",
        metavar="FOLDER",
        help="the unchanged inputs: made there if it has none, to be taken along to where no compiler is",
    )
    arguments.add_argument("--keep", metavar="FOLDER", help="write the changed files there, and do nothing with them")
    arguments.add_argument("-j", "--jobs", type=int, default=2)
    options = arguments.parse_args()
    begin, tally = time.perf_counter(), Tally()
    with tempfile.TemporaryDirectory(prefix="mutations-") as own:
        folder = options.bases or own
        Path(folder).mkdir(exist_ok=True)
        if not any(Path(folder).iterdir()):
            build(Path(folder))
        end = options.start + options.cases
        if options.keep:
            for number in range(options.start, end):
                kind = next((k for k in KINDS if k.name == options.kind), None) or kind_of(number)
                print(case(number, kind, Bases(Path(folder)), Path(options.keep)).path)
            return 0
        cuts = [options.start, *range((options.start // TOGETHER + 1) * TOGETHER, end, TOGETHER), end]
        with ProcessPoolExecutor(options.jobs) as pool:
            for found in pool.map(partial(work, kind_name=options.kind, folder=folder), cuts, cuts[1:]):
                for line in found.bad:
                    print(line, flush=True)
                tally.add(found)
                if options.seconds and time.perf_counter() - begin > options.seconds:
                    pool.shutdown(cancel_futures=True)
                    break
    print(table(tally))
    print(
        f"{time.perf_counter() - begin:.0f} s; the slowest batch took {tally.seconds:.2f} s a case; the largest process"
        f" {tally.memory >> 20} MB"
    )
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
