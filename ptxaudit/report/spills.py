"""Counts the bytes of registers that a kernel spills to memory and refills, as `ptxas -v` does.

    STL [R1+0x10], R4 and LDL.64 R6, [R1+0x18], both named as spills  ->  Spills(stores=4, loads=8, bytes=12)

The machine code of CUDA 12.6 and later names the instructions; an earlier assembler that runs here reports the bytes
in its remarks. Since CUDA 13 registers are also spilled to shared memory if a kernel asks for it (`.pragma
"enable_smem_spilling"`): these are named in the same way and counted separately, as `ptxas -v` omits them. Code
without any access to local memory spills nothing. Arrays and call frames in local memory are not counted; where the
file does not distinguish them from spills, the result is unknown.
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
REMARKS = "--ptxas-options=-v"  # makes NVRTC and nvcc pass on the remarks of their ptxas

_PROPERTIES = re.compile(
    r"Function properties for (\S+)\s*\n[^\n]*?\d+ bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)
_ENTRY = re.compile(r"Compiling entry function '(\S+)'")
_REMARK = re.compile(r"ptxas info\s*:|ptxas\s+\.\s")


def named_by(version: str) -> bool:
    """Whether the machine code of a release ("12.4", "13.5.37") names its spills; True for an unknown release."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= NAMED_SINCE


def without_remarks(log: str) -> str:
    """A compiler's log without what REMARKS adds to it."""
    return "\n".join(line for line in log.splitlines() if not _REMARK.match(line)).strip()


def compiled_usage(cubin: bytes, version: str, log: str) -> dict[str, Usage]:
    """The resources of the functions in newly made machine code; version: of its assembler, which printed `log`."""
    spilled = _logged(log)
    return {
        name: replace(one, spill_bytes=spilled.get(name))
        for name, one in usage(cubin, complete=named_by(version)).items()
    }


def _logged(log: str) -> dict[str, tuple[int, int]]:
    """The spilled bytes of each kernel; of none if a device function spills, as the log does not say which kernels
    contain it."""
    said = {name: (int(stores), int(loads)) for name, stores, loads in _PROPERTIES.findall(log)}
    entries = set(_ENTRY.findall(log))
    alone = not any(any(both) for name, both in said.items() if name not in entries)
    return {name: both for name, both in said.items() if name in entries} if alone else {}


def spills(functions: Iterable[ir.Function], of: Mapping[str, Usage]) -> Spills | None:
    """The spills of a machine-code kernel and its callees; None if unknown for one of them."""
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
    """The instructions of a kernel by section: it may include functions from other sections of the file."""
    found: dict[str, list[ir.Instruction]] = {}
    for routine in function.routines:
        found.setdefault(routine.section, []).extend(function.instructions[routine.first : routine.end])
    return found


def _sum(one: Spills, other: Spills) -> Spills:
    return Spills(
        one.stores + other.stores, one.loads + other.loads, one.bytes + other.bytes, one.shared + other.shared
    )


def spills_of_ptx(taken: Usage) -> Spills | None:
    """The spills of a PTX kernel, from the resources of its machine code: zero if nothing is named, or if there is no
    stack to spill to."""
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
