"""Lifts the functions of a cubin to `ir`: lowers each instruction, and joins functions with those that they call.

    Line("@!P0", "LDS.128", "R4, [R3+UR4+0x100]")
 -> Instruction(place=0x1c0, opcode="LDS.128", guard=@!P0,
        ops=(t0.32 = add(R3, UR4); @!P0 R4, R5, R6, R7 = load shared(t0.32 + 256)), site=Site("LDS.128", t0.32, 256, …))

A kernel is lifted together with the functions that it calls in other sections: their instructions follow its own, as
registers belong to the machine and not to a function. An opcode without a lowering, or a form that its lowering does
not support, becomes an operation named by the opcode that writes every register the instruction may write
(`clobber`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from typing import Any

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.faults import as_input_error
from ptxaudit.base.quiet import no_collection
from ptxaudit.frontend.artifacts.cubin import (
    CODE_PREFIX,
    INSTRUCTION_BYTES,
    CodeSection,
    Cubin,
    Relocation,
    addresses_taken,
    read_cubin,
)
from ptxaudit.frontend.artifacts.lines import source_lines
from ptxaudit.frontend.sass import places
from ptxaudit.frontend.sass.builder import PAIR_BITS, SHARED_SECTIONS, WORD_BITS, Context, symbol_address
from ptxaudit.frontend.sass.calls import Lines, computed_calls, find_calls, is_call, is_indirect_call
from ptxaudit.frontend.sass.disassemble import Line, disassemble
from ptxaudit.frontend.sass.jump_tables import listed_targets
from ptxaudit.frontend.sass.lower import lower
from ptxaudit.frontend.sass.runtime_calls import runtime_calls
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import nodes as ir

# Relocation types by number: the half of an address that the literal receives (nvdisasm prints 32@lo, 32@hi).
_LOW, _HIGH, _WORDS = 56, 57, (55, 59)
_BANKS_WITHOUT_TABLES = (0, 4)  # parameters; addresses of variables, which relocations describe
_USER_BANK = 3  # __constant__ variables
_GLOBAL_SECTIONS = ".nv.global"  # .nv.global.init too: __device__ variables
INDEX_BYTES = 8
_OWN_BANK = re.compile(r"c\[0x[1-9a-f]")  # a bank whose contents are specific to the function

# (text of a line, start of the parameters) -> (guard, operations, control, site), for lines whose meaning does not
# depend on their position
Memo = dict[tuple[str, int], tuple[Any, ...]]
Sources = Callable[[str, int], ir.Source | None]  # (section, byte offset) -> position in the source
Positions = tuple[Sources | None, tuple[str, ...]]  # None if the file has none; notes about them


def lift_cubin(data: bytes, file: str, tool: str | None = None) -> ir.Module:
    """All functions of the cubin in `data`. Raises InputError if it cannot be read or disassembled."""
    cubin = read_cubin(data, file)
    return lift_module(cubin, disassemble([cubin], tool)[0])


def lift_module(
    cubin: Cubin,
    lines: dict[str, tuple[Line, ...] | InputError],
    known: Positions | None = None,
    memo: Memo | None = None,
) -> ir.Module:
    """The functions of a cubin, from its disassembly, with their source positions (`known`, or read here).

    memo: see `lift_function`.

    A function that did not decode or cannot be lifted is left out, with its InputError in `lines`; if none decoded,
    the first one's InputError is raised.
    """
    good = {f.name: f for f in cubin.functions if not isinstance(lines.get(f.name), InputError)}
    if cubin.functions and not good:
        raise next(error for error in lines.values() if isinstance(error, InputError))
    decoded: Lines = {name: found for name, found in lines.items() if not isinstance(found, InputError)}
    sources, notes = known or positions(cubin)
    called: set[str] = set()
    functions = {}
    addressed = cubin.addressed | addresses_taken(good.values())
    memo = {} if memo is None else memo
    with no_collection():
        for entry_turn in (True, False):
            for function in good.values():
                if function.entry == entry_turn and function.name not in called:
                    try:
                        sections = _sections(function, good, decoded, addressed)
                        functions[function.name] = lift_function(
                            cubin, sections, decoded, sources, memo, notes, addressed
                        )
                    except Exception as error:  # in one function: the others remain
                        found = as_input_error(error)
                        lines[function.name] = dataclasses.replace(
                            found, what=f"{function.name}: {found.what}", file=cubin.file
                        )
                        continue
                    called |= {section.name for section in sections[1:]}
    return ir.Module(cubin.file, "sass", cubin.arch, functions, cubin.version, cubin.producer)


def positions(cubin: Cubin) -> Positions:
    """Positions of instructions in the source, for all functions of a cubin."""
    try:
        table = source_lines(cubin)
    except InputError as error:
        return None, (f"{error.what}: {error.hint}",)
    return table.at if table else None, ()


def _sections(
    function: CodeSection, functions: dict[str, CodeSection], lines: Lines, addressed: frozenset[str]
) -> list[CodeSection]:
    """A function and those that it calls in other sections, directly or indirectly.

    addressed: functions that a call through a pointer may enter.
    """
    out = {function.name: function}
    waiting = [function]
    while waiting:
        section = waiting.pop(0)
        callees = [
            r.symbol.section.removeprefix(CODE_PREFIX)
            for r in section.relocations
            if is_call(lines[section.name], r.offset)
        ]
        if any(is_indirect_call(line) for line in lines[section.name]):
            callees += sorted(addressed)
        for name in callees:
            if name in functions and name not in out:
                out[name] = functions[name]
                waiting.append(functions[name])
    return list(out.values())


def lift_function(
    cubin: Cubin,
    sections: list[CodeSection],
    lines: Lines,
    sources: Sources | None = None,
    memo: Memo | None = None,
    notes: tuple[str, ...] = (),
    addressed: frozenset[str] = frozenset(),
) -> ir.Function:
    """One function: its own section first, then those of the functions that it calls.

    addressed: functions whose addresses occur in the file.
    memo: the lowered forms of lines, shared by the functions of one architecture.
    """
    memo = {} if memo is None else memo
    starts, end = {}, 0
    for section in sections:
        starts[section.name] = end
        end += len(lines[section.name])
    instructions: list[ir.Instruction] = []
    for section in sections:
        context = _context(cubin, section, sections, lines, starts, addressed)
        instructions += _instructions(context, lines[section.name], sources, memo)
    own = signature(cubin, sections[0])
    direct = {
        r.symbol.section.removeprefix(CODE_PREFIX)
        for section in sections
        for r in section.relocations
        if is_call(lines[section.name], r.offset)
    }
    return replace(
        own,
        instructions=tuple(instructions),
        variables=(*own.variables, *_addressed(cubin, sections, lines)),
        routines=tuple(routine for section in sections for routine in _routines(section, starts, lines)),
        notes=notes
        + tuple(
            f"{section.name} {'is' if section.name in direct else 'may be'} called; "
            f"its code follows from offset {starts[section.name] * INSTRUCTION_BYTES:#x} on"
            for section in sections[1:]
        ),
    )


def _routines(section: CodeSection, starts: dict[str, int], lines: Lines) -> Iterator[ir.Routine]:
    """The functions of a section, each up to the next one."""
    first, count = starts[section.name], len(lines[section.name])
    places = sorted({0, *(s.offset // INSTRUCTION_BYTES for s in section.symbols)})
    for begin, end in pairwise([place for place in places if place < count] + [count]):
        yield ir.Routine(section.name, first * INSTRUCTION_BYTES, first + begin, first + end)


def signature(cubin: Cubin, function: CodeSection) -> ir.Function:
    """A function without its instructions, from the file's metadata."""
    info, threads = function.info, function.info.max_threads
    return ir.Function(
        name=function.name,
        isa="sass",
        arch=cubin.arch,
        instructions=(),
        entry=function.entry,
        parameters=tuple(
            ir.Parameter(f"{function.name}_param_{p.ordinal}", p.offset, p.size, pointer=p.pointer)
            for p in info.parameters
        ),
        shared_static=function.shared_static,
        block=info.reqntid,
        max_threads=threads[0] * threads[1] * threads[2] if threads else None,
        cluster=info.cluster,
        variables=tuple(_constants(function)),
        explicit_reconvergence=True,
        absolute_shared=True,
        unique_places=True,
        final=True,
    )


def _context(
    cubin: Cubin,
    section: CodeSection,
    sections: list[CodeSection],
    lines: Lines,
    starts: dict[str, int],
    addressed: frozenset[str],
) -> Context:
    base = sections[0].info.param_base
    relocated = {
        r.offset: _relocated(r, section) for r in section.relocations if not is_call(lines[section.name], r.offset)
    }
    context = Context(
        section, cubin.sm, places.param_base(cubin.sm) if base is None else base, relocated, starts[section.name]
    )
    own = lines[section.name]
    branches = listed_targets(context, own)
    context = replace(context, function=replace(section, info=replace(section.info, branches=branches)))
    missing = {
        r.offset: r.symbol.name
        for r in section.relocations
        if not r.symbol.section and is_call(own, r.offset) and not is_indirect_call(own[r.offset // INSTRUCTION_BYTES])
    }
    computed = computed_calls(context, sections, lines, starts, addressed, cubin.relocatable)
    for place, name in runtime_calls(context, own).items():
        missing[place] = name
        del computed[place]
    return replace(context, calls=find_calls(context, sections, lines, starts), missing=missing, computed=computed)


def _relocated(relocation: Relocation, section: CodeSection) -> tuple[ir.Operand, int]:
    """The value that a relocation puts in place of an instruction's literal: (address, which half)."""
    symbol = relocation.symbol
    if symbol.section == f".text.{section.name}" and relocation.type in (_LOW, _HIGH):
        return ir.Const(symbol.offset + relocation.addend, PAIR_BITS), int(relocation.type == _HIGH)  # a return address
    if relocation.type in (_LOW, _HIGH):
        return symbol_address(symbol, relocation.addend), int(relocation.type == _HIGH)
    if relocation.type in _WORDS:
        return symbol_address(symbol, relocation.addend, WORD_BITS), 0
    return ir.Unknown(f"the address of {symbol.name} by relocation type {relocation.type}", PAIR_BITS), 0


def _constants(function: CodeSection) -> Iterator[ir.Variable]:
    """Constant banks with their contents."""
    for bank, data in sorted(function.banks.items()):
        relocations = function.bank_relocations.get(bank, ())
        if bank in _BANKS_WITHOUT_TABLES or relocations and not (bank == _USER_BANK and function.constants):
            continue
        if relocations:
            yield from _constant_tables(function, data, relocations)
            continue
        tables = [(f"c[{bank:#x}]", 0, len(data))]
        if bank == _USER_BANK and function.constants:
            tables = [(symbol.name, symbol.offset, symbol.size) for symbol in function.constants]
        for name, offset, size in tables:
            content = data[offset : offset + size]
            yield ir.Variable(
                name,
                f"const:{bank}",
                size,
                address=offset,
                rewritable=bank == _USER_BANK,
                data=content if any(content) else None,
            )  # all zeros: the program fills it before the launch


def _constant_tables(function: CodeSection, data: bytes, relocations: tuple[Relocation, ...]) -> Iterator[ir.Variable]:
    """The variables of a bank that contains addresses: tables of functions, and those without addresses."""
    for symbol in function.constants:
        content, end = data[symbol.offset : symbol.offset + symbol.size], symbol.offset + symbol.size
        own = [r for r in relocations if symbol.offset <= r.offset < end]
        functions = tuple(
            (r.offset - symbol.offset, r.symbol.section.removeprefix(CODE_PREFIX))
            for r in own
            if r.symbol.section.startswith(CODE_PREFIX) and not r.symbol.offset + r.addend
        )
        if not own:
            yield ir.Variable(
                symbol.name,
                f"const:{_USER_BANK}",
                symbol.size,
                address=symbol.offset,
                data=content if any(content) else None,
            )
        elif len(functions) == len(own):
            yield ir.Variable(
                symbol.name,
                f"const:{_USER_BANK}",
                symbol.size,
                address=symbol.offset,
                functions=functions,
                around=content,
            )


def _addressed(cubin: Cubin, sections: list[CodeSection], lines: Lines) -> Iterator[ir.Variable]:
    """The shared variables named in a relocatable object, and those in global memory, with tables of functions."""
    calling = [section for section in sections if any(is_indirect_call(line) for line in lines[section.name])]
    symbols = {r.symbol for section in sections for r in chain(section.relocations, *section.bank_relocations.values())}
    for symbol in sorted(symbols, key=lambda s: s.name):
        for space, prefixes in (("shared", SHARED_SECTIONS), ("global", _GLOBAL_SECTIONS)):
            if symbol.section.startswith(prefixes):
                initial = cubin.initial.get(symbol.name) if calling and space == "global" else None
                functions, around = _table(*initial, calling) if initial is not None else ((), None)
                points = initial is not None and len(functions) < len(initial[1])
                yield ir.Variable(symbol.name, space, symbol.size, functions=functions, around=around, points=points)


def _table(
    content: bytes, relocations: tuple[Relocation, ...], calling: list[CodeSection]
) -> tuple[tuple[tuple[int, str], ...], bytes | None]:
    """(functions, bytes around them) of a variable that may be a table of functions; no bytes (None) if it is not.

    Linked code has addresses there, by relocations. Code compiled as a whole has offsets of functions in the section,
    or indices into a constant bank that contains these (with several kernels, each has its own bank).
    """
    if relocations:
        functions = tuple(
            (r.offset, r.symbol.section.removeprefix(CODE_PREFIX))
            for r in relocations
            if r.symbol.section.startswith(CODE_PREFIX) and not r.symbol.offset + r.addend
        )
        return functions, content if len(functions) == len(relocations) else None
    words = {int.from_bytes(content[at : at + INDEX_BYTES], "little") for at in range(0, len(content), INDEX_BYTES)} - {
        0
    }
    return (), content if words and any(
        all(_is_place(word, section) for word in words) for section in calling
    ) else None


def _is_place(word: int, section: CodeSection) -> bool:
    """Whether the word is the offset of a function in the section, or the index of one in a constant bank."""
    places = {symbol.offset for symbol in section.symbols if symbol.offset}
    return word in places or any(
        int.from_bytes(bank[word : word + INDEX_BYTES], "little") in places
        for number, bank in section.banks.items()
        if number not in (*_BANKS_WITHOUT_TABLES, _USER_BANK) and word + INDEX_BYTES <= len(bank)
    )


def _instructions(
    context: Context, lines: tuple[Line, ...], sources: Sources | None, memo: Memo
) -> Iterator[ir.Instruction]:
    slots: frozenset[str] = frozenset()
    shift = context.first * INSTRUCTION_BYTES
    for position, line in enumerate(lines):
        place, text = position * INSTRUCTION_BYTES, line.text
        here = place in context.relocated or slots or line.opcode.startswith("CALL") or _not_all_in_text(line.operands)
        lowered = None if here else memo.get((text, context.param_base))
        if lowered is None:
            b = lower(context, line, place, slots)
            site = with_access(b.site, b.ops) if b and b.site is not None else None
            lowered = (b.guard, tuple(b.ops), b.control, site) if b else (None, (), None, None)
            if not here and lowered[2] is None:
                memo[text, context.param_base] = lowered
        slots = _cluster_slots(slots, line)
        guard, ops, control, site = lowered
        source = sources(context.function.name, place) if sources is not None else None
        yield ir.Instruction(
            context.first + position, shift + place, line.opcode, text, guard, ops, control, site, source
        )


def _not_all_in_text(operands: str) -> bool:
    """Whether the text is incomplete: it does not show a NaN's bits, or the contents of the function's own bank."""
    return "NAN" in operands or _OWN_BANK.search(operands) is not None


def _cluster_slots(slots: frozenset[str], line: Line) -> frozenset[str]:
    """Follows `CS2R.32 R5, SR_CgaSize; IMAD R5, R5, -0xa0, RZ; [R2UR UR5, R5;] LDC R5, c[0x0][R5+0x2ac]`.

    sm_100 finds its cluster constants in this way. The load is lowered as if it read the first table, as all of them
    contain the same values.
    """
    if places.CGA_SIZE in line.operands:
        return slots | {line.operands.partition(",")[0]}
    if not slots:
        return slots
    written, _, rest = line.operands.partition(", ")
    if line.opcode in ("IMAD", "R2UR") and rest.partition(",")[0] in slots:
        return slots | {written}
    return slots - {written}
