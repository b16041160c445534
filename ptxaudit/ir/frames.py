"""Saves the registers of a recursive function across its calls, as a stack would.

    call f, (a);        ->   %r1@7 = mov %r1 (save)              the call at instruction 7
                             f/in0 = mov a;  f/arg0 = mov f/in0
    (after it)               out0 = mov f/result0
                             %r1 = mov %r1@7 (restore)
                             r = mov out0

All activations of the function share its registers. A saved register exists once per call and depth: `saved_at` gives
its name there to the engine that executes calls; other stages see only moves. Each activation has local variables of
its own: `own_variables` marks their names, `variables_at` gives those at a depth. A stage that does not execute the
calls does not know where they are (`is_own`).
"""

from __future__ import annotations

from msgspec.structs import replace

from ptxaudit.ir.nodes import Address, Function, Op, Operand, Reg

SAVE, RESTORE = ("save",), ("restore",)
_OWN = "@own"  # ends the name of a local variable of which each activation has one


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


def own_variables(op: Op) -> Op:
    """An operation of a function that calls itself, with its local variables marked."""
    return _renamed(op, _OWN) if any(type(s) is Address and s.space == "local" for s in op.src) else op


def variables_at(op: Op, depth: int) -> Op:
    """An operation with the names that the variables of its activation have at a depth of calls."""
    return _renamed(op, f"#{depth}") if any(type(s) is Address and is_own(s) for s in op.src) else op


def is_own(address: Address) -> bool:
    """It is the address of a local variable of some activation, not known which."""
    return address.space == "local" and address.name.endswith(_OWN)


def has_own(function: Function) -> bool:
    """Some activations of functions have local variables of their own."""
    return any(type(s) is Address and is_own(s) for i in function.instructions for op in i.ops for s in op.src)


def _renamed(op: Op, end: str) -> Op:
    renamed = (replace(s, name=s.name + end) if type(s) is Address and s.space == "local" else s for s in op.src)
    return replace(op, src=tuple(renamed))


def _at_depth(reg: Operand | None, depth: int) -> Reg:
    assert isinstance(reg, Reg)  # saving and restoring moves have register operands
    return Reg(f"{reg.name}#{depth}", reg.bits)
