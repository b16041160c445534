"""The operations that may have written a register that another one reads, given the guards of both.

@p ld r, [a];  @p st [r]       only the load, whatever was in r before
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxaudit.engine.ops.table import OPS
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Guard, Instruction, Op

_TEMPORARY = re.compile(r"t\d+\.\d+")  # of machine code: no register of PTX has a dot in its name


def definitions(graph: Graph, name: str, index: int, position: int) -> Iterator[tuple[int, int]]:
    """(instruction, operation) of each possible definition of a register that the operation at `position` reads."""
    instructions = graph.function.instructions
    own, ends = written_here(graph, name, index, position)
    yield from ((index, k) for k in own)
    if ends:
        return
    reaching = graph.reaching(name, index)
    given = _under_one_guard(graph, name, index, reaching)
    for definition in _lasting(graph, name, index, reaching):
        if given is None or definition == given or _between(graph, definition, given, index):
            yield from ((definition, k) for k, op in enumerate(instructions[definition].ops) if op.writes(name))


def written_here(graph: Graph, name: str, index: int, position: int) -> tuple[list[int], bool]:
    """Operations of the same instruction that write a register before `position`, and whether one always does.

    One that always does defines a temporary of the instruction.
    """
    ops = graph.function.instructions[index].ops
    own = [k for k, op in enumerate(ops[:position]) if op.writes(name)]
    return own, any(ops[k].guard is None for k in own)


def _lasting(graph: Graph, name: str, index: int, reaching: frozenset[int]) -> frozenset[int]:
    """The definitions without those that a later one of their block overwrites, as it has the same guard.

    @p add r, r, 4;  @p ld r, [r];  st [r]      reads the load, or what was in r before both
    """
    guarded = [at for at in sorted(reaching) if graph.function.instructions[at].guard is not None]
    overwritten = {
        one
        for one, later in zip(guarded, guarded[1:])
        if graph.block_of[one] == graph.block_of[later]
        and not one < index <= later
        and _overwrites(graph, name, one, later)
    }
    return reaching - overwritten


def _overwrites(graph: Graph, name: str, one: int, later: int) -> bool:
    """Whether an instruction writes a register in all lanes in which an earlier one of its block does."""
    before, after = graph.function.instructions[one], graph.function.instructions[later]
    guard = before.guard
    if guard is None or guard != after.guard or not _writes_under(before, name, guard):
        return False
    made = _made_by(graph, guard.reg.name, one)
    same = made is not None and not one <= made < later and made == _made_by(graph, guard.reg.name, later)
    return same and _writes_under(after, name, guard)


def _under_one_guard(graph: Graph, name: str, index: int, reaching: frozenset[int]) -> int | None:
    """A dominator of `index` with the same guard, which thus writes a register whenever the later instruction acts.

    Values written before it are not read. None if there is none.

        @p ld r, [a];  @p st [r]       reads only the load, whatever was in r before

    The guard has the same value at both if one instruction alone, which dominates both, always writes it: if it were
    executed again between the two, the first of them would be executed again as well.
    """
    instructions = graph.function.instructions
    guard = guard_of(instructions[index])
    if guard is None or len(reaching) < 2:
        return None
    made = _made_by(graph, guard.reg.name, index)
    if made is None:
        return None
    return next(
        (
            at
            for at in sorted(reaching, reverse=True)
            if _writes_under(instructions[at], name, guard)
            and _before(graph, at, index)
            and _before(graph, made, at)
            and _made_by(graph, guard.reg.name, at) == made
        ),
        None,
    )


def _made_by(graph: Graph, name: str, index: int) -> int | None:
    """The only instruction that defines a register's value at another one, if it always writes it."""
    found = graph.reaching(name, index)
    if len(found) != 1:
        return None
    (made,) = found
    always = all(op.guard is None for op in graph.function.instructions[made].ops if op.writes(name))
    return made if always else None


def _before(graph: Graph, one: int, other: int) -> bool:
    """Whether one instruction dominates the other."""
    block, later = graph.block_of[one], graph.block_of[other]
    return one < other if block == later else graph.dominates(block, later)


def _between(graph: Graph, definition: int, given: int, index: int) -> bool:
    """Whether a definition may follow `given`, which dominates `index`.

    Then `given` dominates the definition as well, as a path that avoids it would continue to `index`.
    """
    if graph.block_of[given] == graph.block_of[index]:
        return given < definition < index
    return _before(graph, given, definition)


def _writes_under(instruction: Instruction, name: str, guard: Guard) -> bool:
    return all(op.guard == guard for op in instruction.ops if op.writes(name))


def guard_of(instruction: Instruction) -> Guard | None:
    """The guard of all actions of an instruction; None if it has none, or several."""
    guards = {op.guard for op in instruction.ops if not for_itself(op)}
    if instruction.site is not None:
        guards.add(instruction.site.guard)
    return next(iter(guards)) if len(guards) == 1 and instruction.control is None else None


def for_itself(op: Op) -> bool:
    """Whether the operation writes only temporaries of its instruction."""
    return bool(op.dst) and op.name in OPS and all(d is None or _TEMPORARY.fullmatch(d.name) for d in op.dst)
