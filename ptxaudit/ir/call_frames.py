"""Finds the accesses to local memory that belong to frames of calls: saved registers, and arguments passed in memory.

    STL [R1+0x14], R16   …   LDL R16, [R1+0x14];  RET     R16 has its initial value again at the end: saved
    LDL R7, [R1+0x28]                                     in a function that lowers R1 by less: its caller's frame
    STL [R1], R4;  CALL                                   never read here, and its address is not taken: an argument

Before: machine code as in the file, with the places where its functions start. After: the instructions. They are
derived from the use of registers and the stack pointer (R1, initialised from its location in constant memory). No
calling convention is assumed, except that a call preserves the stack pointer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.ir.dataflow.solve import solve
from ptxaudit.ir.nodes import RUNTIME, Const, Function, Instruction, Op, Reg, Routine, Special

STACK_POINTER = "R1"
WORD_BITS, WORD = 32, 4  # bytes
CALLER = -1  # the stack pointer at the entry of a function
_ALL = -1  # bits of all registers
_TEMPORARY = "t"  # prefix of the names of an instruction's own temporaries
_SUMS = ("add", "add3", "mad", "lea", "sub")


class Place(Record):
    """An address on the stack.

    base: CALLER, or the instruction that set another base (rounded down, or of a kernel); low: bytes above it; exact:
    exactly there, otherwise there or higher: an index is added to the address of an array.
    """

    base: int
    low: int
    exact: bool = True


class _State(Record):
    """The state before an instruction.

    written: bits of the registers that the function may have written; places: registers that hold stack addresses.
    """

    written: int
    places: dict[str, Place]


class _Access(Record):
    """A load or store of local memory.

    place: of its first byte, None if it is not known to be on the stack; kept: for each word of a store, whether the
    register still has the caller's value; of a load, whether it is not written again before the function returns.
    """

    op: Op
    place: Place | None
    kept: tuple[bool, ...]

    def words(self) -> Iterator[tuple[tuple[int, int], str, bool]]:
        """(base and byte, register, kept) of each word of an access with a known place."""
        registers = self.op.dst if self.op.name == "load" else self.op.src[1:]
        for k, register in enumerate(registers):
            name = register.name if isinstance(register, Reg) else ""
            assert self.place is not None
            yield (self.place.base, self.place.low + WORD * k), name, self.kept[k]


class _Seen(Record):
    """How a function uses local memory.

    taken: stack addresses that it keeps in other registers or passes on; calls: it calls another function.
    """

    accesses: dict[int, _Access] = field(default_factory=dict)
    taken: set[Place] = field(default_factory=set)
    calls: bool = False


class StackUse(Record):
    """frames: the instructions that belong to call frames; fixed: those at a constant offset from the stack pointer."""

    frames: frozenset[int] = frozenset()
    fixed: frozenset[int] = frozenset()


def stack_use(function: Function) -> StackUse:
    """The use of the stack by all functions in the machine code of a kernel."""
    frames: set[int] = set()
    fixed: set[int] = set()
    for routine in function.routines:
        if any(_local(i) is not None for i in function.instructions[routine.first : routine.end]):
            seen = _look_at(function, routine)
            fixed.update(k for k, access in seen.accesses.items() if access.place is not None and access.place.exact)
            frames.update(_kept(seen), _arguments_read(seen), _arguments_written(seen))
    return StackUse(frozenset(frames), frozenset(fixed))


def _local(instruction: Instruction) -> Op | None:
    return next((op for op in instruction.ops if op.space == "local" and op.name in ("load", "store")), None)


# --- use of the stack -------------------------------------------------------------------------


def _kept(seen: _Seen) -> set[int]:
    """The accesses whose every word only ever saves and restores one register of the caller."""
    stores: dict[tuple[int, int], set[str]] = defaultdict(set)
    loads: dict[tuple[int, int], set[str]] = defaultdict(set)
    for access in seen.accesses.values():
        if access.place is not None and access.place.exact:
            of = loads if access.op.name == "load" else stores
            for word, name, kept in access.words():
                of[word].add(name if kept else "")
    words = {word for word, names in stores.items() if len(names) == 1 and "" not in names and loads.get(word) == names}
    return {
        k
        for k, access in seen.accesses.items()
        if access.place is not None and access.place.exact and all(word in words for word, _, _ in access.words())
    }


def _arguments_read(seen: _Seen) -> set[int]:
    """The loads from above the initial stack pointer, if the function neither stores there nor passes an address
    there.

    (In a function that ptxas lays out together with its callers, its own variables are there.)
    """
    above = {
        k: access
        for k, access in seen.accesses.items()
        if access.place is not None and access.place.base == CALLER and access.place.low >= 0
    }
    if any(access.op.name == "store" for access in above.values()) or seen.calls and seen.taken:
        return set()
    return set(above)


def _arguments_written(seen: _Seen) -> set[int]:
    """The stores that only a callee can read: below every address that is taken, and not read in this function."""
    if not seen.calls:
        return set()
    exact = {k: a for k, a in seen.accesses.items() if a.place is not None and a.place.exact}
    read = {word for a in exact.values() if a.op.name == "load" for word, _, _ in a.words()}
    lowest: dict[int, int] = {}
    for place in seen.taken:
        lowest[place.base] = min(place.low, lowest.get(place.base, place.low))
    return {
        k
        for k, access in exact.items()
        if access.op.name == "store"
        and all(
            _is_own(word) and word not in read and word[1] < lowest.get(word[0], word[1] + 1)
            for word, _, _ in access.words()
        )
    }


def _is_own(word: tuple[int, int]) -> bool:
    """Whether it is below the initial stack pointer of the function."""
    base, at = word
    return base != CALLER or at < 0


# --- data flow --------------------------------------------------------------------------------


def _look_at(function: Function, routine: Routine) -> _Seen:
    """Follows the stack pointer and the registers through one function."""
    code = {i.index: i for i in function.instructions[routine.first : routine.end]}
    following = {k: _following(i, routine) for k, i in code.items()}
    bits = _numbered(code.values())
    called = function.entry and routine.first == 0
    first = _State(0, {} if called else {STACK_POINTER: Place(CALLER, 0)})
    before = _forward(code, following, routine.first, first, bits)
    after = _until_return(code, following, bits)
    seen = _Seen(calls=any(_calls(i) for i in code.values()))
    for k, state in before.items():
        taken = _Taken()
        _step(code[k], state, bits, taken)
        seen.taken.update(taken.places)
        if (op := _local(code[k])) is not None:
            seen.accesses[k] = _access(op, state, after[k], bits, taken.at)
    return seen


class _Taken:
    """What one step observes.

    places: addresses that are taken, to compute others or to be passed on; at: the place that it accesses.
    """

    def __init__(self) -> None:
        self.places: set[Place] = set()
        self.at: Place | None = None

    def look(self, op: Op, made: Place | None, places: dict[str, Place]) -> None:
        """made: the address on the stack that an operation computes."""
        operands = op.src
        if op.space == "local" and op.name in ("load", "store"):
            found = _place_of(op.src[0], places)
            self.at = found and Place(found.base, found.low + _signed(op.offset), found.exact)
            operands = op.src[1:]
        if made is None or not made.exact:
            self.places.update(p for p in (_place_of(operand, places) for operand in operands) if p is not None)


def _numbered(code: Iterable[Instruction]) -> dict[str, int]:
    """A bit for each register that is read or written."""
    bits: dict[str, int] = {}
    for i in code:
        for op in i.ops:
            for operand in (*op.dst, *op.src):
                if isinstance(operand, Reg):
                    bits.setdefault(operand.name, 1 << len(bits))
    return bits


def _following(instruction: Instruction, routine: Routine) -> tuple[int, ...]:
    """The possible successors in the same function."""
    c, after = instruction.control, instruction.index + 1
    if c is None or c.kind not in ("branch", "switch", "exit", "ret"):
        found: tuple[int, ...] = (after,)
    else:
        found = (*c.targets, *((after,) if c.guard is not None else ()))
    return tuple(k for k in found if routine.first <= k < routine.end)


def _calls(instruction: Instruction) -> bool:
    control = instruction.control
    return control is not None and control.kind == "call" and (bool(control.targets) or control.callee not in RUNTIME)


def _forward(
    code: dict[int, Instruction], following: dict[int, tuple[int, ...]], start: int, first: _State, bits: dict[str, int]
) -> dict[int, _State]:
    """The state before each reachable instruction."""
    preceding = _preceding(following)
    before: dict[int, _State | None] = dict.fromkeys(code)
    before[start] = first

    def transfer(k: int) -> _State | None:
        found = before[k]
        for p in preceding[k]:
            if (state := before[p]) is not None:
                found = _merged(found, _step(code[p], state, bits, None))
        return found

    solve(before, transfer, following, list(code))
    return {k: state for k, state in before.items() if state is not None}


def _preceding(following: dict[int, tuple[int, ...]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for k, after in following.items():
        for n in after:
            found[n].append(k)
    return found


def _merged(old: _State | None, new: _State) -> _State:
    """The join of two states; a value that would grow forever is dropped."""
    if old is None:
        return new
    places = {}
    for name, place in old.places.items():
        if (found := _joined(place, new.places.get(name))) is not None:
            places[name] = found
    return _State(old.written | new.written, places)


def _joined(old: Place, new: Place | None) -> Place | None:
    """The join of two places; None if there is none, e.g. of an address that each trip of a loop lowers."""
    if new is None or new.base != old.base:
        return None
    if new.low >= old.low:
        return old if new == old or not old.exact else Place(old.base, old.low, exact=False)
    return Place(old.base, new.low, exact=False) if old.exact else None


def _step(instruction: Instruction, state: _State, bits: dict[str, int], taken: _Taken | None) -> _State:
    """The state after an instruction."""
    if instruction.control is not None and instruction.control.kind == "call":
        own = {name: place for name, place in state.places.items() if name == STACK_POINTER}
        if taken is not None:
            taken.places.update(place for name, place in state.places.items() if name != STACK_POINTER)
        return _State(_ALL, own)
    written, places, temporary = state.written, state.places, []
    for op in instruction.ops:
        made = _made(op, places, instruction.index)
        if taken is not None:
            taken.look(op, made, places)
        for d in op.dst:
            if d is None:
                continue
            written |= bits[d.name]
            now = made if op.guard is None or made == places.get(d.name) else None
            if now is not None:
                places = {**places, d.name: now}
                if d.name.startswith(_TEMPORARY):
                    temporary.append(d.name)
            elif d.name in places:
                places = {name: place for name, place in places.items() if name != d.name}
    if temporary:
        places = {name: place for name, place in places.items() if name not in temporary}
    return _State(written, places)


def _place_of(operand: object, places: dict[str, Place]) -> Place | None:
    return places.get(operand.name) if isinstance(operand, Reg) else None


def _made(op: Op, places: dict[str, Place], index: int) -> Place | None:
    """The address on the stack that an operation computes."""
    if len(op.dst) != 1 or op.bits != WORD_BITS:
        return None
    if op.name == "mov":
        if isinstance(op.src[0], Special) and op.src[0].name == "stack":
            return Place(index, 0)
        return _place_of(op.src[0], places)
    held = [k for k, operand in enumerate(op.src) if _place_of(operand, places) is not None]
    if len(held) != 1:
        return None
    at = held[0]
    place = _place_of(op.src[at], places)
    assert place is not None
    rest = [operand for k, operand in enumerate(op.src) if k != at]
    if op.name == "and" and isinstance(rest[0], Const) and place.exact:
        return Place(index, 0)  # rounded down to a multiple
    if op.name not in _SUMS or op.name == "sub" and at != 0 or op.name in ("mad", "lea") and at != len(op.src) - 1:
        return None
    if op.name in ("add", "sub", "add3") and all(isinstance(operand, Const) for operand in rest):
        step = sum(_signed(operand.value) for operand in rest if isinstance(operand, Const))
        return Place(place.base, place.low + (-step if op.name == "sub" else step), place.exact)
    return Place(place.base, place.low, exact=False) if op.name != "sub" else None


def _signed(value: int) -> int:
    value &= (1 << WORD_BITS) - 1
    return value - (1 << WORD_BITS) if value >> (WORD_BITS - 1) else value


def _until_return(
    code: dict[int, Instruction], following: dict[int, tuple[int, ...]], bits: dict[str, int]
) -> dict[int, int]:
    """instruction -> bits of the registers that may be written between it and a return; all if there is none."""
    own = {k: _writes(i, bits) for k, i in code.items()}
    behind: dict[int, int | None] = {
        k: 0 if i.control is not None and i.control.kind == "ret" else None for k, i in code.items()
    }

    def transfer(k: int) -> int | None:
        found = behind[k]
        for n in following[k]:
            if (further := behind[n]) is not None:
                found = (found or 0) | own[n] | further
        return found

    solve(behind, transfer, _preceding(following), list(code)[::-1])
    return {k: _ALL if found is None else found for k, found in behind.items()}


def _writes(instruction: Instruction, bits: dict[str, int]) -> int:
    if instruction.control is not None and instruction.control.kind == "call":
        return _ALL
    return sum({bits[d.name] for op in instruction.ops for d in op.dst if d is not None})


def _access(op: Op, state: _State, behind: int, bits: dict[str, int], place: Place | None) -> _Access:
    if op.bits != WORD_BITS:
        kept = tuple(False for _ in range(max(len(op.dst), len(op.src))))
    elif op.name == "load":
        kept = tuple(d is not None and not behind & bits[d.name] for d in op.dst)
    else:
        kept = tuple(isinstance(r, Reg) and not state.written & bits[r.name] for r in op.src[1:])
    return _Access(op, place, kept)
