"""The registers, predicates and memories that one instruction reads and writes.

@p ld.shared r1, [r2 + 4]     reads p, r2, as does its access; writes an unknown value to r1 (`opaque_load`)
st.local [r3], r1             reads r3, r1; writes local memory
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.ir.nodes import COPY_ASYNC, MATRICES, STORE_MATRIX, Function, Guard, Instruction, Op, Reg, Site

BARRIER_MOVES = ("barrier.save", "barrier.clear", "barrier.restore")  # between convergence barriers and registers
SHARED_SPACES = ("shared", "shared::cluster", "generic", MATRICES)  # of operations that may access shared memory
WRITES = ("store", "atom", COPY_ASYNC, STORE_MATRIX)  # operations that write to an address operand


def barrier_moved_to(op: Op) -> Reg | None:
    """The convergence barrier whose lanes an operation replaces: by none, or by those in a register."""
    barrier = op.src[0] if op.name in ("barrier.clear", "barrier.restore") else None
    return barrier if isinstance(barrier, Reg) else None


def sources_of(op: Op) -> list[Reg]:
    """Registers that an operation reads, including its guard."""
    regs = [s for s in op.src if type(s) is Reg]
    if op.guard is not None:
        regs.append(op.guard.reg)
    return regs


def read_guard_first(ops: list[Op], guard: Guard, temporary: Callable[[int], Reg]) -> None:
    """Makes all operations of an instruction use the guard's initial value, which hardware reads before any write.

    If an operation writes the guard's register, the later ones use a copy as their guard. temporary: makes a register
    of the given width for this instruction only.

        @p setp.lt p|q, a, b     t = p; @p p = …; @t q = …
    """
    at = next((k for k, op in enumerate(ops) if op.writes(guard.reg.name)), len(ops))
    behind = [k for k in range(at + 1, len(ops)) if ops[k].guard == guard]
    if behind:
        copy = temporary(guard.reg.bits)
        for k in behind:
            ops[k] = replace(ops[k], guard=Guard(copy, guard.negated))
        ops.insert(0, Op("mov", (copy,), (guard.reg,), guard.reg.bits))


def opaque_load(op: Op) -> bool:
    """Whether it reads memory with unspecified contents: the result is unknown, whatever the address."""
    return op.name in ("load", "atom") and not (op.space in ("param", "local") or op.space.startswith("const"))


def overwrites(op: Op, site: Site) -> bool:
    """Whether it may overwrite what a site's address is computed from: the access comes first."""
    return opaque_load(op) or site.of == "local" and op.name == "load"


def writes_local(op: Op) -> bool:
    """Whether it may write local memory."""
    return op.name == "call" or op.name in ("store", "clobber") and op.space in ("local", "generic")


def accesses_local(instruction: Instruction) -> bool:
    """Whether it loads from or stores to local memory at an explicit address, even if it is not modelled."""
    return any(op.space == "local" and op.name in ("load", "store", "opaque") for op in instruction.ops)


def bytes_moved(instruction: Instruction) -> dict[tuple[str, str], int]:
    """("load" or "store", state space) -> the bytes that each lane loads or stores there."""
    found: dict[tuple[str, str], int] = {}
    for op in instruction.ops:
        if op.name in ("load", "store"):
            elements = len(op.dst) if op.name == "load" else len(op.src) - 1
            key = op.name, op.space
            found[key] = found.get(key, 0) + elements * op.element[0] // 8
    return found


def promised(instruction: Instruction) -> bool:
    """Whether the code promises that nothing writes the memory that the instruction loads."""
    return any(op.read_only for op in instruction.ops)


def ordered(instruction: Instruction) -> bool:
    """Whether the instruction loads what others may write meanwhile."""
    return any(op.ordered for op in instruction.ops)


class SharedWrites(Record):
    """The shared-memory data flow that is traced (engine/memory/tables.py).

    writers: instructions that may write shared memory; valued: writers whose values may be known; barriers:
    instructions that order accesses.
    """

    writers: frozenset[int] = frozenset()
    valued: frozenset[int] = frozenset()
    barriers: frozenset[int] = frozenset()


def reads(
    instruction: Instruction,
    follow_loads: bool = False,
    entering: bool = False,
    shared: SharedWrites | None = None,
) -> list[Reg]:
    """Registers that determine an instruction's results, access and control.

    entering: leaves out those that its own operations write first, such as temporaries. shared: shared memory that it
    reads or writes counts as a result.
    """
    ops = instruction.ops
    if shared is None and instruction.site is None and len(ops) == 1:
        op = ops[0]
        if op.name != "store" and (follow_loads or not opaque_load(op)):
            return sources_of(op)  # the common case
    regs: list[Reg] = []
    written: set[str] = set()
    place: set[str] | None = None  # written before the memory access
    for op in instruction.ops:
        if place is None and op.name in ("load", "atom", "store"):
            place = set(written)
        if shared is not None and op.name in ("load", "store", "atom") and op.space in SHARED_SPACES:
            all_of_it = op.name in ("store", "atom") and instruction.index in shared.valued
            read = [s for s in (op.src if all_of_it else op.src[:1]) if isinstance(s, Reg)] + (
                [op.guard.reg] if op.guard else []
            )
        elif opaque_load(op) and (not follow_loads or op.space == MATRICES):
            read = [op.guard.reg] if op.guard else []
        elif op.name == "store" and op.space not in ("local",):
            read = []
        else:
            read = sources_of(op)
        regs += [r for r in read if r.name not in written]
        if entering and op.guard is None:
            written.update(d.name for d in op.dst if d is not None)
    place = written if place is None else place
    return regs + [r for r in site_reads(instruction) if r.name not in place]


def site_reads(instruction: Instruction) -> list[Reg]:
    """Registers that determine an access."""
    site = instruction.site
    if site is None:
        return []
    regs = [o for o in (site.address, site.source, site.source_size) if type(o) is Reg]
    return regs + guard_reads(instruction)


def guard_reads(instruction: Instruction) -> list[Reg]:
    """Predicates that determine the active lanes of an access, or at a barrier."""
    site = instruction.site
    guards = (site.guard, site.ignore, instruction.guard) if site is not None else (instruction.guard,)
    return [g.reg for g in guards if g is not None]


def control_reads(instruction: Instruction) -> list[Reg]:
    """Registers that determine where control goes."""
    control = instruction.control
    if control is None:
        return []
    regs = [control.guard.reg] if control.guard else []
    if isinstance(control.selector, Reg) and control.kind in ("switch", "warpsync", "part"):
        regs.append(control.selector)
    if control.meeting is not None:
        regs += [r for r in (control.meeting.number_in, control.meeting.threads_in) if isinstance(r, Reg)]
    return regs


def within_instructions(function: Function) -> frozenset[str]:
    """Temporaries: registers that no instruction reads unless it has itself written them, in all lanes."""
    found: frozenset[str] | None = function.__dict__.get("within_instructions")
    if found is None:
        found = function.__dict__["within_instructions"] = _temporaries(function)
    return found


def _temporaries(function: Function) -> frozenset[str]:
    every: set[str] = set()
    entering: set[str] = set()
    for instruction in function.instructions:
        plain = instruction.site is None and instruction.guard is None and instruction.control is None
        if plain and len(instruction.ops) == 1:  # the common case
            op = instruction.ops[0]
            for d in op.dst:
                if d is not None:
                    every.add(d.name)
            for s in op.src:
                if type(s) is Reg:
                    entering.add(s.name)
            if op.guard is not None:
                entering.add(op.guard.reg.name)
            continue
        read: list[str] = []
        written: set[str] = set()
        for op in instruction.ops:
            read += [r.name for r in sources_of(op) if r.name not in written]
            names = [d.name for d in op.dst if d is not None]
            every.update(names)
            if op.guard is None:
                written.update(names)
        if instruction.site is not None or instruction.guard is not None or instruction.control is not None:
            late = site_reads(instruction) + guard_reads(instruction) + control_reads(instruction)
            read += [r.name for r in late if r.name not in written]
        entering.update(read)
    return frozenset(every - entering)
