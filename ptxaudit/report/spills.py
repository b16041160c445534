"""How many bytes of registers a kernel spills to memory and refills, as `ptxas -v` counts them.

    STL [R1+0x10], R4 and LDL.64 R6, [R1+0x18], both named as spills  ->  Spills(stores=4, loads=8, bytes=12)

The machine code of CUDA 12.6 and later names the instructions; of an earlier assembler that runs here the remarks
say the bytes. Since CUDA 13 registers are spilled to shared memory, too, where a kernel asks for it
(`.pragma "enable_smem_spilling"`): these are named in the same way and counted beside, as `ptxas -v` leaves them out.
Code without any access to local memory spills nothing. What else is in local memory, arrays and the frames of calls, is
not counted; where the file does not tell the two apart nothing is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ptxaudit.frontend.artifacts.usage import NOTHING_KNOWN, Usage, usage
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.operands import accesses_local, bytes_moved
from ptxaudit.report.local_kinds import named_spills
from ptxaudit.report.model import Spills

NAMED_SINCE = (12, 6)
REMARKS = "--ptxas-options=-v"  # what makes NVRTC and nvcc pass on what their ptxas says

_PROPERTIES = re.compile(
    r"Function properties for (\S+)\s*\n[^\n]*?\d+ bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)
_ENTRY = re.compile(r"Compiling entry function '(\S+)'")
_REMARK = re.compile(r"ptxas info\s*:|ptxas\s+\.\s")


def named_by(version: str) -> bool:
    """Whether the machine code of a release ("12.4", "13.5.37") names its spills; True of one that is not known."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= NAMED_SINCE


def without_remarks(log: str) -> str:
    """A compiler's log without what REMARKS adds to it."""
    return "\n".join(line for line in log.splitlines() if not _REMARK.match(line)).strip()


def compiled_usage(cubin: bytes, version: str, log: str) -> dict[str, Usage]:
    """What the functions take of machine code that was made just now, by this release, which said `log`."""
    spilled = _logged(log)
    return {
        name: replace(one, spill_bytes=spilled.get(name))
        for name, one in usage(cubin, complete=named_by(version)).items()
    }


def _logged(log: str) -> dict[str, tuple[int, int]]:
    """The bytes of each kernel; of none where a device function spills, as the log does not say which kernels have it
    in them.
    """
    said = {name: (int(stores), int(loads)) for name, stores, loads in _PROPERTIES.findall(log)}
    entries = set(_ENTRY.findall(log))
    alone = not any(any(both) for name, both in said.items() if name not in entries)
    return {name: both for name, both in said.items() if name in entries} if alone else {}


def spills(functions: Iterable[ir.Function], of: Mapping[str, Usage]) -> Spills | None:
    """Of a kernel in machine code and of what it calls; None where one of them does not say."""
    found = Spills(0, 0, 0)
    for function in functions:
        named = named_spills(function, of)
        for section, instructions in _sections(function).items():
            own = _of_section(instructions, named, of.get(section, NOTHING_KNOWN))
            if own is None:
                return None
            found = _sum(found, own)
    return found


def _sections(function: ir.Function) -> dict[str, list[ir.Instruction]]:
    """The instructions of a kernel, and of the functions beside it in other sections of the file."""
    found: dict[str, list[ir.Instruction]] = {}
    for routine in function.routines:
        found.setdefault(routine.section, []).extend(function.instructions[routine.first : routine.end])
    return found


def _sum(one: Spills, other: Spills) -> Spills:
    return Spills(
        one.stores + other.stores, one.loads + other.loads, one.bytes + other.bytes, one.shared + other.shared
    )


def spills_of_ptx(taken: Usage) -> Spills | None:
    """Of a kernel in PTX, by what its machine code takes: none where nothing is named, or there is no stack to spill
    to.
    """
    if taken.spill_bytes is not None:
        stores, loads = taken.spill_bytes
        return Spills(stores, loads, stores + loads)
    nothing = not taken.spilled if taken.spilled is not None else taken.stack == 0
    return Spills(0, 0, 0) if nothing else None


def _of_section(instructions: list[ir.Instruction], named: frozenset[int], taken: Usage) -> Spills | None:
    if taken.spilled is None:
        if taken.spill_bytes is not None:
            stores, loads = taken.spill_bytes
            return Spills(stores, loads, stores + loads)
        return None if any(map(accesses_local, instructions)) else Spills(0, 0, 0)
    moved: Counter[tuple[str, str]] = Counter()
    for i in instructions if named else ():
        moved.update(bytes_moved(i) if i.index in named else {})
    stores, loads = moved["store", "local"], moved["load", "local"]
    return Spills(stores, loads, stores + loads, moved["store", "shared"] + moved["load", "shared"])
