"""Saves the registers of a recursive function across its calls, as a stack would.

    call f, (a);        ->   %r1@7 = mov %r1 (save)              the call at instruction 7
                             f/in0 = mov a;  f/arg0 = mov f/in0
    (after it)               out0 = mov f/result0
                             %r1 = mov %r1@7 (restore)
                             r = mov out0

All activations of the function share its registers. A saved register exists once per call and depth: `saved_at` gives
its name there to the engine that executes calls; other stages see only moves.
"""

from __future__ import annotations

from ptxaudit.ir.nodes import Function, Op, Operand, Reg

SAVE, RESTORE = ("save",), ("restore",)


def registers(function: Function) -> list[Reg]:
    """All registers that its code writes, its arguments and its results."""
    written = [d for i in function.instructions for op in i.ops for d in op.dst if d is not None]
    return list({r.name: r for r in (*function.arguments, *function.results, *written)}.values())


def kept(
    into: tuple[Op, ...], back: tuple[Op, ...], own: list[Reg], index: int
) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """The moves before and after a call, including those that save the caller's registers. index: of the call."""
    places = {r.name: Reg(f"{r.name}@{index}", r.bits) for r in own}
    given = [Reg(f"in{k}@{index}", op.bits) for k, op in enumerate(into)]
    taken = [Reg(f"out{k}@{index}", op.bits) for k, op in enumerate(back)]
    before = (
        *(Op("mov", (places[r.name],), (r,), r.bits, SAVE) for r in own),
        *(Op("mov", (reg,), op.src, op.bits, guard=op.guard) for reg, op in zip(given, into)),
        *(Op("mov", op.dst, (reg,), op.bits, guard=op.guard) for reg, op in zip(given, into)),
    )
    behind = (
        *(Op(op.name, (reg,), op.src, op.bits, op.attrs) for reg, op in zip(taken, back)),  # guard not restored yet
        *(Op("mov", (r,), (places[r.name],), r.bits, RESTORE) for r in own),
        *(Op("mov", op.dst, (reg,), op.bits, guard=op.guard) for reg, op in zip(taken, back)),
    )
    return before, behind


def saved_at(op: Op, depth: int) -> Op:
    """A move that saves or restores, with the register's name at a depth of calls."""
    if op.attrs == SAVE:
        return Op("mov", (_at_depth(op.dst[0], depth),), op.src, op.bits)
    return Op("mov", op.dst, (_at_depth(op.src[0], depth),), op.bits)


def _at_depth(reg: Operand | None, depth: int) -> Reg:
    assert isinstance(reg, Reg)  # saving and restoring moves have register operands
    return Reg(f"{reg.name}#{depth}", reg.bits)
