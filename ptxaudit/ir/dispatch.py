"""Turns a call with a computed target into a choice among the functions that it may call.

    call (r), %rd, (a);        ->   0  switch chosen, {1, 3, 5}        chosen = 0 where %rd = f, 1 where %rd = g, else 2
                                    1  call (r), f, (a);
                                    2  bra 6
                                    3  call (r), g, (a);
                                    4  bra 6
                                    5  call (r), %rd, (a);             not followed: only if it may go elsewhere
                                    6  …

Later stages (`link`, the graph, the lanes) have only direct calls and switches: each lane whose pointer is known goes
where it points, and one whose pointer is unknown may enter any of the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ptxaudit.base.records import Record
from ptxaudit.ir.nodes import CODE, Address, Const, Control, Function, Instruction, Module, Op, Operand, Reg
from ptxaudit.ir.targets import addressed, is_open

NOWHERE = 0xFFFFFFFF  # the number for no choice
MOST_CHOICES = 64  # functions that one call may enter; with more, it is not modelled


class Choices(Record):
    """selector: an operand with the number of the called function, and ops: the operations that compute it; calls: a
    direct call of each function; open: the call may also go elsewhere.
    """

    ops: tuple[Op, ...]
    selector: Operand
    calls: tuple[tuple[tuple[Op, ...], Control], ...]
    open: bool


def with_choices(module: Module, kernel: Function) -> tuple[Module, Function]:
    """A PTX module and a kernel in it, with choices for the calls through registers that the kernel may reach.

    The choices are the functions whose addresses are taken.
    """
    made: dict[str, Function] = {}
    waiting = [kernel.name]
    while waiting:
        name = waiting.pop()
        if name in made or name not in module.functions:
            continue
        made[name] = _with_choices(module, module.functions[name])
        waiting += {
            i.control.callee for i in made[name].instructions if i.control is not None and i.control.callee is not None
        }
    if not any(function.chooses for function in made.values()):
        return module, kernel
    return replace(module, functions=module.functions | made), replace(made[kernel.name], chooses=True)


def _with_choices(module: Module, function: Function) -> Function:
    known: dict[str, Function] = module.memo.setdefault("with choices", {})
    if function.name not in known:
        known[function.name] = expanded(function, lambda i: _of_ptx(i, module))
    return known[function.name]


def of_machine_code(function: Function) -> Function:
    """The same for a function of machine code, whose lifter has found the possible targets of its calls."""
    return expanded(function, _of_sass)


def _is_computed(instruction: Instruction) -> bool:
    c = instruction.control
    return c is not None and c.kind == "call" and not c.targets and c.callee is None


def _of_ptx(instruction: Instruction, module: Module) -> Choices | None:
    pointer = instruction.control.selector if instruction.control is not None else None
    call = next((op for op in instruction.ops if op.name == "call"), None)
    if not isinstance(pointer, Reg) or call is None:
        return None
    fitting = [module.functions[name] for name in sorted(addressed(module)) if _fits(call, module.functions[name])]
    if not fitting or len(fitting) > MOST_CHOICES:
        return None
    may_leave = is_open(module)
    compared = [Address(f.name, CODE, 0, pointer.bits) for f in fitting]
    ops, chosen = chosen_among(pointer, compared, len(fitting) if may_leave else NOWHERE)
    calls = tuple(((replace(call, attrs=(f.name,), guard=None),), Control("call", callee=f.name)) for f in fitting)
    return Choices(ops, chosen, calls, may_leave)


def _fits(call: Op, function: Function) -> bool:
    """Whether its arguments and results may be those of a function: as many pieces, and of the same sizes.

    Constants and discarded results have any size.
    """
    given, taken = (*call.src, *call.dst), (*function.arguments, *function.results)
    return (
        bool(function.instructions)
        and (len(call.src), len(call.dst)) == (len(function.arguments), len(function.results))
        and all(one.bits == other.bits for one, other in zip(given, taken) if isinstance(one, Reg))
    )


def _of_sass(instruction: Instruction) -> Choices | None:
    c = instruction.control
    if c is None or c.selector is None or not c.choices:
        return None
    ops = tuple(op for op in instruction.ops if op.name != "call")
    return Choices(ops, c.selector, tuple(((), Control("call", (target,))) for target in c.choices), c.open)


def chosen_among(pointer: Operand, compared: Sequence[Operand], other: int) -> tuple[tuple[Op, ...], Operand]:
    """Operations that find which operand a pointer equals, and the result: the operand's number, or `other`."""
    ops: list[Op] = []
    chosen: Operand = Const(other)
    for at, operand in enumerate(compared):
        here, number = Reg(f"call/is{at}", 1), Reg(f"call/chosen{at}", 32)
        ops += [
            Op("setp.eq", (here,), (pointer, operand), pointer.bits),
            Op("select", (number,), (Const(at), chosen, here), 32),
        ]
        chosen = number
    return tuple(ops), chosen


def expanded(function: Function, choices_of: Callable[[Instruction], Choices | None]) -> Function:
    """The function with its computed calls replaced by choices, where `choices_of` has any."""
    found = {
        i.index: choices for i in function.instructions if _is_computed(i) and (choices := choices_of(i)) is not None
    }
    if not found:
        return function
    index, at = [], 0
    for i in function.instructions:
        index.append(at)
        at += _length(found.get(i.index))
    index.append(at)
    out: list[Instruction] = []
    for i in function.instructions:
        moved = replace(i, index=len(out), control=_moved(i.control, index))
        out += [moved] if i.index not in found else _choice(moved, found[i.index], index)
    return replace(function, instructions=tuple(out), chooses=True)


def _length(choices: Choices | None) -> int:
    return 1 if choices is None else 1 + 2 * len(choices.calls) + choices.open


def _moved(control: Control | None, index: list[int]) -> Control | None:
    if control is None or not control.targets:
        return control
    return replace(control, targets=tuple(index[t] for t in control.targets))


def _choice(call: Instruction, choices: Choices, index: list[int]) -> list[Instruction]:
    """The instructions that replace a call."""
    start, count = call.index, len(choices.calls)
    behind = start + _length(choices)
    stubs = tuple(start + 1 + 2 * k for k in range(count))
    elsewhere = (behind - 1,) if choices.open else ()
    ops, selector, targets = choices.ops, choices.selector, stubs + elsewhere
    guard = call.control.guard if call.control is not None else None
    if guard is not None:  # lanes that do not call continue after it
        calling = Reg("call/calling", 32)
        source, other = (Const(len(targets)), selector) if guard.negated else (selector, Const(len(targets)))
        ops, selector, targets = (
            (*ops, Op("select", (calling,), (source, other, guard.reg), 32)),
            calling,
            (*targets, behind),
        )
    plain = replace(call, ops=(), control=None, guard=None)
    out = [replace(call, ops=ops, guard=None, control=Control("switch", targets, selector=selector, choices=targets))]
    for own, control in choices.calls:
        out.append(replace(plain, index=start + len(out), ops=own, control=_moved(control, index)))
        out.append(replace(plain, index=start + len(out), control=Control("branch", (behind,))))
    if choices.open:
        original = tuple(op for op in call.ops if op.name == "call")
        out.append(
            replace(
                plain,
                index=start + len(out),
                ops=tuple(replace(op, guard=None) for op in original),
                control=Control("call"),
            )
        )
    return out
