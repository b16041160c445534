"""Runs the vendor's disassembler on the code of many cubins at once.

    disassemble([cubin, cubin, …])  ->  [{"gemm": (Line("@!P0", "BRA", "0x770"), …), …}, {…}, …]

`nvdisasm` takes about a third of a second to start and accepts one file. Therefore the functions of all cubins of one
architecture are concatenated, and each distinct instruction is passed to it once, as raw code (`-b SM90`). Its output
for raw code is the same as for the cubin, except for branch targets, which are relative to the instruction's position
in the raw code and are moved back here. (test_disassemble.py compares both.) The lines are kept for a process
that audits the same code again, with other launches or in another test.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock

from ptxaudit.base import limits, temporary, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, CodeSection, Cubin
from ptxaudit.frontend.compile import toolchains

BATCH_BYTES = 4 << 20  # of code per process: bounds the memory for its text
TUNABLES = "GLIBC_TUNABLES"  # of the C library, which ignores unknown names
KEPT_BYTES = 1 << 20  # of code whose lines are kept; these take about 15 times as much memory

_LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([^\s;]+)([^;]*);")
_TARGET = re.compile(r"-?0x[0-9a-f]+(?=\s*$)")
_BAD_PLACE = re.compile(r"at address (0x[0-9a-fA-F]+)")
# Opcodes whose last operand is a location in the code.
_WITH_TARGET = re.compile(r"(BRA|BSSY|CALL\.REL|RET\.REL|WARPSYNC\.COLLECTIVE|LEPC)\b")


class Line(Record):
    """One instruction as printed: guard ("@!P0" or ""), opcode, operands separated by ", "."""

    guard: str
    opcode: str
    operands: str

    @property
    def text(self) -> str:
        text = f"{self.opcode} {self.operands}" if self.operands else self.opcode
        return f"{self.guard} {text}" if self.guard else text


Disassembly = dict[str, tuple[Line, ...] | InputError]  # function -> its lines, or the reason why there are none


class _Piece(Record):
    """A function in a batch, and the position of its cubin."""

    cubin: int
    function: CodeSection

    def instructions(self) -> Iterator[bytes]:
        """The encoded instructions."""
        code = self.function.code
        return (code[at : at + INSTRUCTION_BYTES] for at in range(0, self.size, INSTRUCTION_BYTES))

    @property
    def size(self) -> int:
        """Bytes of complete instructions."""
        return len(self.function.code) // INSTRUCTION_BYTES * INSTRUCTION_BYTES


class _Kept:
    """A cache of recently disassembled functions, by tool, architecture and code. Thread-safe."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, int, bytes], tuple[Line, ...]] = {}
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: tuple[str, int, bytes]) -> tuple[Line, ...] | None:
        with self._lock:
            lines = self._lines.pop(key, None)
            if lines is not None:
                self._lines[key] = lines  # now the most recently used
            return lines

    def add(self, key: tuple[str, int, bytes], lines: tuple[Line, ...]) -> None:
        with self._lock:
            if key not in self._lines and len(key[2]) <= KEPT_BYTES:
                self._lines[key] = lines
                self._bytes += len(key[2])
            while self._bytes > KEPT_BYTES:
                oldest = next(iter(self._lines))
                del self._lines[oldest]
                self._bytes -= len(oldest[2])

    def clear(self) -> None:
        with self._lock:
            self._lines.clear()
            self._bytes = 0


kept = _Kept()


def disassemble(cubins: Sequence[Cubin], tool: str | None = None) -> list[Disassembly]:
    """The lines of every function of every cubin, in the cubins' order: {function: lines}.

    A function that does not decode has an InputError instead of its lines. tool: path of nvdisasm. Raises InputError
    if there is no disassembler or it cannot be run.
    """
    if not any(cubin.functions for cubin in cubins):
        return [{} for _ in cubins]
    tool = tool or toolchains.get("nvdisasm").path
    out: list[Disassembly] = [
        {f.name: before for f in cubin.functions if (before := kept.get((tool, cubin.sm, f.code))) is not None}
        for cubin in cubins
    ]
    for sm in sorted({cubin.sm for cubin in cubins}):
        for pieces in _heaps(cubins, sm, out):
            for piece, lines in _run(pieces, sm, cubins, tool):
                out[piece.cubin][piece.function.name] = lines
                if isinstance(lines, tuple):
                    kept.add((tool, sm, piece.function.code), lines)
    return out


def _heaps(cubins: Sequence[Cubin], sm: int, known: Sequence[Disassembly]) -> Iterator[list[_Piece]]:
    """The functions of one architecture that are not yet disassembled, in batches of at most about BATCH_BYTES."""
    heap: list[_Piece] = []
    end = 0
    for position, cubin in enumerate(cubins):
        if cubin.sm != sm:
            continue
        for function in cubin.functions:
            if function.name in known[position]:
                continue
            if heap and end + len(function.code) > BATCH_BYTES:
                yield heap
                heap, end = [], 0
            heap.append(_Piece(position, function))
            end += heap[-1].size
    if heap:
        yield heap


def _run(
    pieces: list[_Piece], sm: int, cubins: Sequence[Cubin], tool: str
) -> Iterator[tuple[_Piece, tuple[Line, ...] | InputError]]:
    """The lines of one batch. A function that does not decode is removed, and the rest run again."""
    while pieces:
        given = {code: at for at, code in enumerate(dict.fromkeys(code for p in pieces for code in p.instructions()))}
        said, complaint = _nvdisasm(pieces, given, sm, tool)
        lines = _lines(said)
        if not complaint and len(lines) != len(given):
            complaint = f"it printed {len(lines)} instructions of {len(given)}"
        if not complaint:
            for piece in pieces:
                yield piece, _placed(lines, [given[code] for code in piece.instructions()])
            return
        if len(pieces) > 1 and not _BAD_PLACE.search(complaint):  # the position is unknown: try both halves
            for half in (pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :]):
                yield from _run(half, sm, cubins, tool)
            return
        bad = _culprit(pieces, given, complaint)
        yield (
            bad,
            InputError(
                f"the code of {bad.function.name} does not decode as sm_{sm}",
                "build it again, or update nvidia-cuda-nvdisasm",
                cubins[bad.cubin].file,
                detail=complaint,
            ),
        )
        pieces = [piece for piece in pieces if piece is not bad]


def _culprit(pieces: list[_Piece], given: Mapping[bytes, int], complaint: str) -> _Piece:
    """The first function with the instruction that the message is about; the first of all if it states no address."""
    match = _BAD_PLACE.search(complaint)
    place = int(match[1], 16) // INSTRUCTION_BYTES if match else 0
    return next((piece for piece in pieces if any(given[code] == place for code in piece.instructions())), pieces[0])


def _nvdisasm(pieces: list[_Piece], given: Iterable[bytes], sm: int, tool: str) -> tuple[str, str]:
    """(its output, its error message or "") for the instructions of these pieces, concatenated."""
    with temporary.folder() as folder:
        path = Path(folder) / "code.bin"
        path.write_bytes(b"".join(given))
        try:
            done = vendor.run([tool, "-b", f"SM{sm}", str(path)], limits.TOOL_TIME, temporary=folder, more=_memory())
        except OSError as error:
            raise InputError(f"the disassembler cannot be run: {error}", toolchains.how_to_add("nvdisasm")) from error
    if done.status == 0:
        return done.out, ""
    crash = vendor.crashed("the disassembler", done)
    complaint = crash.what if crash else done.err.strip() or f"exit status {done.status}"
    if "option 'binary'" in complaint:
        raise InputError(f"this nvdisasm does not know sm_{sm}", toolchains.how_to_add("nvdisasm"), detail=complaint)
    return "", complaint


def _memory() -> dict[str, str]:
    """Huge pages for the tables that it builds at its start, which take a tenth off that time."""
    return {} if TUNABLES in os.environ else {TUNABLES: "glibc.malloc.hugetlb=1"}


def _lines(said: str) -> list[Line]:
    return [Line(guard, opcode, operands.strip()) for _, guard, opcode, operands in _LINE.findall(said)]


def _placed(lines: Sequence[Line], places: Sequence[int]) -> tuple[Line, ...]:
    """The lines at these places, in this order, with branch targets relative to the first of them."""
    return tuple(_moved(lines[place], (at - place) * INSTRUCTION_BYTES) for at, place in enumerate(places))


def _moved(line: Line, by: int) -> Line:
    """The instruction moved by a number of bytes."""
    if not by or not _WITH_TARGET.match(line.opcode):
        return line
    return Line(line.guard, line.opcode, _TARGET.sub(lambda target: hex(int(target[0], 16) + by), line.operands))
