"""Finds the targets of calls, and whether these return to the next instruction.

    /*0050*/  MOV R20, 0x80                     the return address, 0x80 = the instruction after the call
    /*0070*/  CALL.REL.NOINC 0x5f0         ->   {0x70: ("call", index of 0x5f0)}
    /*05f0*/  …  RET.REL.NODEC R20 0x0

Since sm_70 the hardware keeps no return addresses: a caller puts one into the registers that the callee's RET names.
A call without a visible return address is left out (nothing is known after it); one whose target never returns is a
branch. ptxas before sm_90 also leaves loops that way:

    @!P0 CALL.REL.NOINC 0x2ee0             ->   {…: ("branch", index of 0x2ee0)}, if no RET is reached from there
    /*2ee0*/  BSYNC B0
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, CodeSection
from ptxaudit.frontend.sass.builder import PAIR_BITS, Computed, Context
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.frontend.sass.lower import lower
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.dataflow.solve import reached

_PLACE = re.compile(r"0x[0-9a-f]+$")  # the last operand of a branch
_BARRIER = re.compile(r"\bB\d+\b")
_BARRIERS = ("BSSY", "BSYNC", "BMOV")
_JUMPS = ("BRA", "JMP", "WARPSYNC.COLLECTIVE")
_LOOK_BACK = 256  # instructions before a call that are searched for its return address

Lines = dict[str, tuple[Line, ...]]


def is_call(lines: tuple[Line, ...], place: int) -> bool:
    position = place // INSTRUCTION_BYTES
    return position < len(lines) and lines[position].opcode.startswith("CALL")


def is_indirect_call(line: Line) -> bool:
    """Whether the line is a call through a register or constant memory."""
    return line.opcode.startswith("CALL") and not line.operands.startswith("0x")


def find_calls(
    context: Context, sections: list[CodeSection], lines: Lines, starts: dict[str, int]
) -> dict[int, tuple[str, int]]:
    """byte offset -> (kind, instruction index) of the calls of a section that can be followed.

    kind: "call"; "branch", if it does not return; "jump", if it leads into the middle of code and may return.
    sections: those that are lifted together.
    starts: the index of each one's first instruction.
    """
    out = {}
    own = lines[context.function.name]
    by_name = {section.name: section for section in sections}
    callers = _callers(sections, lines)
    known: dict[tuple[str, int], set[str | int] | None] = {}  # target -> its return registers or addresses
    inside: set[tuple[str, int]] = set()  # the targets in the middle of a function
    for position, line in enumerate(own):
        if not line.opcode.startswith("CALL"):
            continue
        place = position * INSTRUCTION_BYTES
        target = _target(context.function, line, place)
        callee = by_name.get(target[0]) if target is not None else None
        if target is None or callee is None or target[1] % INSTRUCTION_BYTES or not 0 <= target[1] < len(callee.code):
            continue
        index, code = starts[callee.name] + target[1] // INSTRUCTION_BYTES, lines[callee.name]
        if target not in known:
            known[target] = _returns(context, callee, target[1], code)
            if known[target] is None and _is_inside(callee, target[1], code):
                inside.add(target)
        returns = known[target]
        if target in inside:
            out[place] = ("jump", index)
        elif returns is None:
            continue
        elif not returns:
            out[place] = ("branch", index)
        elif _given(context, own, position, returns):
            out[place] = ("call", index)
        elif callers[target] == 1 and returns == {
            place + INSTRUCTION_BYTES
        }:  # ptxas has put the address into the function
            out[place] = ("call", index)
    return out


def computed_calls(
    context: Context,
    sections: list[CodeSection],
    lines: Lines,
    starts: dict[str, int],
    addressed: frozenset[str],
    relocatable: bool,
) -> dict[int, Computed]:
    """byte offset -> possible targets, for the calls of a section through registers.

    CALL.REL R enters a function of its own section. CALL.ABS R enters a function whose address occurs in the file
    (`addressed`), or in a relocatable object also others.
    """
    out = {}
    function = context.function
    by_name = {section.name: section for section in sections}
    own = lines[function.name]
    for position, line in enumerate(own):
        if not is_indirect_call(line):
            continue
        place = position * INSTRUCTION_BYTES
        relative = ".REL" in line.opcode
        entries: list[tuple[ir.Operand, CodeSection, int]]
        if relative:
            entries = [
                (ir.Const(s.offset, PAIR_BITS), function, s.offset)
                for s in function.symbols
                if s.offset or not function.entry
            ]
        else:
            entries = [
                (ir.Address(name, ir.CODE, 0, PAIR_BITS), by_name[name], 0)
                for name in sorted(addressed)
                if name in by_name
            ]
        back = [
            (operand, section, offset)
            for operand, section, offset in entries
            if _comes_back(context, section, offset, lines, own, position)
        ]
        targets = tuple(
            (operand, starts[section.name] + offset // INSTRUCTION_BYTES) for operand, section, offset in back
        )
        out[place] = Computed(targets, relocatable and not relative or len(back) < len(entries))
    return out


def _comes_back(
    context: Context, section: CodeSection, offset: int, lines: Lines, own: tuple[Line, ...], position: int
) -> bool:
    """Whether a function that the call at `position` of section `own` enters returns to the next instruction."""
    returns = _returns(context, section, offset, lines[section.name])
    return _given(context, own, position, returns) if returns else False


def _given(context: Context, own: tuple[Line, ...], position: int, returns: set[str | int]) -> bool:
    """Whether the call at `position` leaves the next instruction's address in all return registers of a function."""
    return all(
        isinstance(r, str) and value_before(context, own, position, r) == (position + 1) * INSTRUCTION_BYTES
        for r in returns
    )


def _callers(sections: list[CodeSection], lines: Lines) -> Counter[tuple[str, int] | None]:
    """The number of calls of each (section, byte offset); calls of unknown targets count for None."""
    return Counter(
        _target(section, line, position * INSTRUCTION_BYTES)
        for section in sections
        for position, line in enumerate(lines[section.name])
        if line.opcode.startswith("CALL")
    )


def _target(section: CodeSection, line: Line, place: int) -> tuple[str, int] | None:
    """(section, byte offset) of a direct call's target."""
    for relocation in section.relocations:
        if relocation.offset == place:
            symbol = relocation.symbol
            return symbol.section.removeprefix(".text."), symbol.offset + relocation.addend
    if line.operands.startswith("0x") and ".ABS" not in line.opcode:
        return section.name, int(line.operands, 16)
    return None


def _returns(context: Context, section: CodeSection, offset: int, lines: tuple[Line, ...]) -> set[str | int] | None:
    """The registers in which the function at an offset expects its return address, or that address.

    None: unknown, because the code there is not a whole function, or because lanes may leave it otherwise.
    """
    first, end = _extent(section, offset, lines)
    if _begins_function(section, offset):
        return _registers(context, lines, first, end, range(first, end))
    within = _reached(section, offset, lines)
    if not _may_return(section, offset, lines, within):
        return set()
    # a function even without a symbol, if only calls enter it and lanes leave it by RET alone: of two routines for
    # divisions of 64-bit integers, one of which computes in uniform registers, ptxas names one
    alone = not _is_inside(section, offset, lines) and all(first <= at < end for at in within)
    return _registers(context, lines, first, end, within) if alone else None


def _registers(
    context: Context, lines: tuple[Line, ...], first: int, end: int, within: Iterable[int]
) -> set[str | int] | None:
    """The registers in which a function expects its return address, or that address. within: the positions that it
    executes, of those from `first` to `end`."""
    ways = _ways_back(lines, first, end)
    returns = [position for position in within if lines[position].opcode.startswith("RET")]
    work = [(position, lines[position].operands.split()[0]) for position in returns]
    seen, found = set(work), set[str | int]()
    while work:
        position, register = work.pop()
        if position == first:
            found.add(register)
        for earlier in ways.get(position, ()):
            for before in _before(context, lines, first, earlier, register):
                if isinstance(before, int | str):
                    found.add(before)
                elif before not in seen:
                    seen.add(before)
                    work.append(before)
    return found if found or not returns and _stays(lines, first, end) else None


def _begins_function(section: CodeSection, offset: int) -> bool:
    return any(s.offset == offset for s in section.symbols)


def _is_inside(section: CodeSection, offset: int, lines: tuple[Line, ...]) -> bool:
    """Whether code is in the middle of a function: it has no symbol, and is reached without a call, too."""
    start = _start(section, offset)
    return not _begins_function(section, offset) and offset // INSTRUCTION_BYTES in _reached(section, start, lines)


def _may_return(section: CodeSection, offset: int, lines: tuple[Line, ...], within: Iterable[int]) -> bool:
    """Whether code in the middle of a function may reach a RET of it, or leave it without ending. within: what it
    reaches."""
    first, end = _extent(section, _start(section, offset), lines)
    return any(not first <= at < end or lines[at].opcode.startswith("RET") for at in within)


def _start(section: CodeSection, offset: int) -> int:
    """The offset of the function that contains an offset without a symbol."""
    return max((s.offset for s in section.symbols if s.offset < offset), default=0)


def _reached(section: CodeSection, offset: int, lines: tuple[Line, ...]) -> set[int]:
    """The positions that are reached from an offset within its function, calls being one step."""
    first, end = _extent(section, _start(section, offset + 1), lines)
    tables = [at for at in range(first + 1, end) if _leaves(lines[at - 1])]  # where computed branches may lead
    meetings: dict[str, list[int]] = defaultdict(list)
    for at in range(first, end):
        place = place_in(lines[at]) if lines[at].opcode.startswith("BSSY") else None
        if place is not None and (barrier := _BARRIER.search(lines[at].operands)):
            meetings[barrier[0]].append(place)

    def onward(at: int) -> Iterator[int]:
        if not first <= at < end:
            return
        line = lines[at]
        if not _leaves(line):
            yield at + 1
        if line.opcode.startswith(("BRX", "JMX")):
            yield from tables
        elif line.opcode.startswith(_JUMPS) and (target := place_in(line)) is not None:
            yield target
        elif line.opcode.startswith("BSYNC") and (barrier := _BARRIER.search(line.operands)):
            yield from meetings[barrier[0]]

    return reached((offset // INSTRUCTION_BYTES,), onward)


def _stays(lines: tuple[Line, ...], first: int, end: int) -> bool:
    """Whether no branch leads out of a function, nor its last instruction to the one after it."""
    last = max((at for at in range(first, end) if lines[at].opcode != "NOP"), default=first)
    jumps = [place_in(line) for line in lines[first:end] if line.opcode.startswith(("BRA", "JMP"))]
    return _leaves(lines[last]) and all(target is not None and first <= target < end for target in jumps)


def _ways_back(lines: tuple[Line, ...], first: int, end: int) -> dict[int, list[int]]:
    """Each position of a function -> its predecessors.

    These are the instruction that falls through to it, branches, and BSYNCs whose lanes continue there. Computed
    branches may lead to every instruction that nothing falls through to. An instruction without any predecessor gets
    the one before it.
    """
    ways: dict[int, list[int]] = defaultdict(list)
    for position in range(first, end):
        line = lines[position]
        if position + 1 < end and not _leaves(line):
            ways[position + 1].append(position)
        if line.opcode.startswith(_JUMPS) and (target := place_in(line)) is not None:
            ways[target].append(position)
    computed = [at for at in range(first, end) if lines[at].opcode.startswith(("BRX", "JMX"))]
    for position in range(first + 1, end):
        if _leaves(lines[position - 1]):
            ways[position] += computed
    behind_nothing = {position for position in range(first + 1, end) if not ways[position]}
    onward: dict[int, list[int]] = defaultdict(list)
    for position in range(first, end):
        for earlier in ways[position] or [position - 1]:
            onward[earlier].append(position)
    for wait, target in _ways_of_barriers(lines, first, end, onward):
        ways[target].append(wait)
    for position in behind_nothing:
        ways[position] = ways[position] or [position - 1]
    return ways


def _ways_of_barriers(
    lines: tuple[Line, ...], first: int, end: int, onward: Mapping[int, Iterable[int]]
) -> Iterator[tuple[int, int]]:
    """(position of a BSYNC, where its lanes continue) for each BSSY that may reach it.

    A BSSY reaches a BSYNC if a path leads there without another BSSY of the same barrier (reaching definitions). For
    a barrier that BMOV moves, every BSSY does. onward: the other edges, forwards.
    """
    of = {at: _BARRIER.search(lines[at].operands) for at in range(first, end) if lines[at].opcode.startswith(_BARRIERS)}
    register = {at: found[0] for at, found in of.items() if found is not None}
    opened = {at: place_in(lines[at]) for at in register if lines[at].opcode.startswith("BSSY")}
    moved = {register[at] for at in register if lines[at].opcode.startswith("BMOV")}
    every = {name: frozenset(at for at in opened if register[at] == name) for name in moved}
    last: dict[int, frozenset[int]] = defaultdict(frozenset)  # position -> the BSSYs that reach it

    def goes_on(position: int) -> list[int]:
        """Where lanes that wait at a BSYNC continue."""
        own = register.get(position)
        if position in opened or own is None or not lines[position].opcode.startswith("BSYNC"):
            return []
        starts = every[own] if own in moved else [at for at in last[position] if register[at] == own]
        return [target for at in starts if (target := opened[at]) is not None]

    work = list(opened)
    while work:
        position = work.pop()
        now = last[position]
        if position in opened:
            if lines[position].guard in ("", "@PT"):
                now = frozenset(at for at in now if register[at] != register[position])
            now |= {position}
        for later in (*onward.get(position, ()), *goes_on(position)):
            if first <= later < end and not now <= last[later]:
                last[later] |= now
                work.append(later)
    for wait in register:
        yield from ((wait, target) for target in goes_on(wait))


def place_in(line: Line) -> int | None:
    """The position that a branch, or an instruction that opens a barrier, names."""
    place = _PLACE.search(line.operands)
    return None if place is None else int(place[0], 16) // INSTRUCTION_BYTES


def _leaves(line: Line) -> bool:
    """Whether no lane continues at the next instruction."""
    always = line.guard in ("", "@PT") and "," not in line.operands
    return always and line.opcode.partition(".")[0] in ("BRA", "JMP", "EXIT", "RET", "BRX", "JMX")


def _extent(section: CodeSection, offset: int, lines: tuple[Line, ...]) -> tuple[int, int]:
    """First instruction of the function at an offset, and one past its last."""
    end = min((s.offset for s in section.symbols if s.offset > offset), default=len(section.code))
    return offset // INSTRUCTION_BYTES, min(end // INSTRUCTION_BYTES, len(lines))


def _before(
    context: Context, lines: tuple[Line, ...], first: int, earlier: int, register: str
) -> list[tuple[int, str] | int | str]:
    """The origin of a register's value after an instruction: (position, register) before it, or a constant.

    "" stands for a computed value, which no caller provides. Copies are followed backwards, also through the stack:
    if there is a single store to the location that a register is loaded from; otherwise the load counts as no write.
    """
    line = lines[earlier]
    if not _writes(line, register):
        return [(earlier, register)]
    if line.opcode == "LDL":
        return [_kept_at(lines, first, earlier) or (earlier, register)]
    ops = operations_of(context, line, earlier)
    source = ops[0].src[0] if len(ops) == 1 and ops[0].name == "mov" else None
    made: tuple[int, str] | int | str = ""
    if isinstance(source, ir.Reg):
        made = earlier, source.name
    elif isinstance(source, ir.Const):
        made = source.value
    return [made] if line.guard in ("", "@PT") else [made, (earlier, register)]


def _kept_at(lines: tuple[Line, ...], first: int, position: int) -> tuple[int, str] | None:
    """(position, register) of the only store to the stack location that a load reads; None if there is none."""
    place = lines[position].operands.partition(", ")[2]
    stores = [
        at for at in range(first, position) if lines[at].opcode == "STL" and lines[at].operands.startswith(place + ",")
    ]
    if len(stores) != 1 or any(_writes(line, "R1") for line in lines[stores[0] + 1 : position]):
        return None
    return stores[0], lines[stores[0]].operands.partition(", ")[2]


def value_before(context: Context, lines: tuple[Line, ...], position: int, register: str) -> int | None:
    """The constant that the last write of a register before a call put there, None if there is none."""
    for earlier in range(position - 1, max(-1, position - 1 - _LOOK_BACK), -1):
        line = lines[earlier]
        if _writes(line, register):
            ops = operations_of(context, line, earlier) if line.guard in ("", lines[position].guard) else ()
            if len(ops) == 1 and ops[0].name == "mov" and isinstance(value := ops[0].src[0], ir.Const):
                return value.value
            return None
    return None


def _writes(line: Line, register: str) -> bool:
    return line.operands.split(",")[0] == register and not line.opcode.startswith(("ST", "RED", "CALL"))


def operations_of(context: Context, line: Line, position: int) -> list[ir.Op]:
    builder = lower(context, line, position * INSTRUCTION_BYTES)
    return builder.ops if builder else []
