"""The effect of a trip of a loop, as far as its code shows it: a guess that saves the trips to find it out.

i = i + ntid.x;  p = i < n;  @p bra head        moved: i;  leaving: @p
j = select(j == 2, 0, j + 1)                    tangled: j moves by no step
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxaudit.base.records import Record
from ptxaudit.engine.memory.registers import Name
from ptxaudit.engine.ops.operations import ever_known
from ptxaudit.engine.ops.table import OPS
from ptxaudit.ir.nodes import Guard, Op, Reg
from ptxaudit.ir.operands import opaque_load

MOST_STEPS = 64  # operations that compute one register from the values at the beginning of a trip


class Trip(Record):
    """The part of a trip that its code shows.

    steps: (instruction, operation)s that every trip executes once, in order, and that depend on nothing else. They
    compute `moved`, registers that the next trip reads and that seem to be a linear function of the values at the
    beginning of this one, and `leaving`, the predicates of the blocks that may leave the loop (None for one that other
    operations compute). tangled: registers that depend on those values in other ways.
    """

    steps: tuple[tuple[int, Op], ...]
    moved: tuple[str, ...]
    leaving: tuple[Guard | None, ...]
    tangled: frozenset[str]


class Piece(Record):
    """A block of a loop, with its (instruction, operation)s.

    once: every trip executes it once; inner: it is in an inner loop; exits: it may leave the loop, under the predicate
    `guard`, if any.
    """

    steps: tuple[tuple[int, Op], ...]
    once: bool
    inner: bool
    exits: bool
    guard: Guard | None


class _Made(Record):
    """How a trip computes a register.

    linear: as a linear function of the values at its beginning; None: it depends on nothing that changes. needs: the
    positions of the operations that compute it, among all steps; None if these are not all.
    """

    linear: bool | None
    needs: frozenset[int] | None = frozenset()


_BEGUN = _Made(True)
_TANGLED = _Made(False, None)
_CONVERSIONS = ("cvta", "cvta.to")  # of pointers to shared memory: an offset is added


def trip_of(pieces: Iterable[Piece], written: frozenset[Name], carried: tuple[Name, ...]) -> Trip:
    """The trip of a loop with these blocks in execution order, given the registers that it writes and carries."""
    made: dict[str, _Made] = {}
    every: list[tuple[int, Op]] = []
    leaving: list[tuple[Guard | None, frozenset[int]]] = []
    for piece in pieces:
        for index, op in piece.steps:
            if piece.once:
                result = _made(op, made, written, len(every))
                every.append((index, op))
            else:
                result = _Made(_made(op, made, written, 0).linear, None) if piece.inner else _TANGLED
            made.update((d.name, result) for d in op.dst if d is not None)
        if piece.exits:
            name = piece.guard.reg.name if piece.once and piece.guard is not None else ""
            needs = made.get(name, _BEGUN).needs if name else None
            leaving.append((piece.guard, needs) if needs is not None else (None, frozenset()))
    moved = {
        name: needs for name in carried if isinstance(name, str) and (needs := _of_a_step(made.get(name))) is not None
    }
    needed: frozenset[int] = frozenset().union(*moved.values(), *(needs for _, needs in leaving))
    return Trip(
        tuple(every[at] for at in sorted(needed)),
        tuple(moved),
        tuple(guard for guard, _ in leaving),
        frozenset(name for name, m in made.items() if m.linear is False),
    )


def _is_linear(op: Op) -> bool:
    row = OPS.get(op.name)
    return row.linear if row is not None else op.name in _CONVERSIONS


def _of_a_step(made: _Made | None) -> frozenset[int] | None:
    """The positions of the operations that compute a register which moves by a step; None for others."""
    return made.needs or None if made is not None and made.linear else None


def _made(op: Op, made: dict[str, _Made], written: frozenset[Name], place: int) -> _Made:
    """How an operation computes its result."""
    if op.guard is not None or op.name == "call":
        return _TANGLED
    sources = [made.get(s.name, _BEGUN) for s in op.src if type(s) is Reg and s.name in written]
    linear = (
        None if ever_known(op.name) or op.name in _CONVERSIONS or op.name == "load" and not opaque_load(op) else False
    )
    for source in sources:
        if source.linear is not None:
            linear = linear is not False and source.linear and _is_linear(op)
    of_sources = [s.needs for s in sources if s.needs is not None]
    needs = None if len(of_sources) < len(sources) else frozenset((place,)).union(*of_sources)
    return _Made(linear, needs if needs is not None and len(needs) <= MOST_STEPS else None)
