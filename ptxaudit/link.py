"""Joins a kernel with the device functions that it calls into one function, before graphs are built.

    call (r1), f, (r2)        ->   f/arg0 = r2;  call to f's first instruction
                                   (the next instruction)  r1 = f/result0
    …                              f's instructions follow the kernel's, their registers renamed f/…

A function is appended once however often it is called; the engine keeps the return addresses. Calls
that cannot be followed (function pointers, functions that are elsewhere, recursion) keep their
opaque results, and a note says so.
"""

from __future__ import annotations

from dataclasses import replace

from .ir import Control, Function, Guard, Instruction, Module, Op, Reg


def link(module: Module, kernel: Function) -> Function:
    """The kernel with its callees appended; the kernel itself when it calls nothing."""
    if not any(i.control and i.control.kind == "call" and not i.control.targets for i in kernel.instructions):
        return kernel
    order, recursive = _callees(module, kernel)
    notes = list(kernel.notes)
    notes += [f"{name} calls itself, directly or through others: its calls are not followed" for name in sorted(recursive)]
    out: list[Instruction] = []
    starts: dict[str, int] = {}
    waiting: list[tuple[int, str]] = []          # calls to resolve once every start is known
    variables = {(v.space, v.name): v for v in kernel.variables}
    for function in [kernel, *order]:
        prefix = "" if function is kernel else f"{function.name}/"
        for v in function.variables:
            variables.setdefault((v.space, v.name), v)
        starts[function.name] = len(out)
        new_index = _numbering(function, module, recursive, len(out))
        for instruction in function.instructions:
            callee = _followed(instruction, module, recursive)
            control = _renamed_control(instruction.control, prefix, new_index)
            ops = tuple(_renamed_op(op, prefix) for op in instruction.ops)
            landing = ()
            if callee is not None:
                call = next((op for op in ops if op.name == "call"), None)
                ops, landing = _passing(call, callee)
                waiting.append((len(out), callee.name))
            out.append(replace(
                instruction, index=len(out), ops=ops, control=control, guard=_renamed_guard(instruction.guard, prefix),
                site=_renamed_site(instruction.site, prefix)))
            if callee is not None:
                out.append(replace(instruction, index=len(out), ops=landing, control=None, site=None, guard=None))
    for at, name in waiting:
        out[at] = replace(out[at], control=replace(out[at].control, targets=(starts[name],)))
    return replace(kernel, instructions=tuple(out), variables=tuple(variables.values()), notes=tuple(notes))


def _followed(instruction: Instruction, module: Module, recursive: set[str]) -> Function | None:
    c = instruction.control
    if c is None or c.kind != "call" or c.targets or c.callee in recursive:
        return None
    callee = module.functions.get(c.callee) if c.callee else None
    return callee if callee is not None and callee.instructions and not callee.entry else None


def _numbering(function: Function, module: Module, recursive: set[str], start: int) -> list[int]:
    """Old index -> new index: a followed call takes two places."""
    out = []
    at = start
    for i in function.instructions:
        out.append(at)
        at += 2 if _followed(i, module, recursive) is not None else 1
    return out + [at]


def _callees(module: Module, kernel: Function) -> tuple[list[Function], set[str]]:
    """(functions reached by calls, in order of first call; names on a cycle of calls)."""
    order: list[Function] = []
    recursive: set[str] = set()

    def visit(function: Function, path: tuple[str, ...]) -> None:
        for i in function.instructions:
            callee = _followed(i, module, recursive)
            if callee is None:
                continue
            if callee.name in path:
                recursive.add(callee.name)
                continue
            if callee not in order:
                order.append(callee)
                visit(callee, path + (callee.name,))
    visit(kernel, (kernel.name,))
    return [f for f in order if f.name not in recursive], recursive


def _passing(call: Op | None, callee: Function) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """Moves into the callee's arguments, and out of its results."""
    if call is None:
        return (), ()
    prefix = f"{callee.name}/"
    into = tuple(Op("mov", (_renamed(reg, prefix),), (source,), reg.bits, guard=call.guard)
                 for reg, source in zip(callee.arguments, call.src))
    back = tuple(Op("mov", (reg,), (_renamed(result, prefix),), reg.bits, guard=call.guard)
                 for reg, result in zip(call.dst, callee.results) if reg is not None)
    missing = tuple(Op("call", (reg,), (), reg.bits, call.attrs, call.guard)
                    for reg in call.dst[len(callee.results):] if reg is not None)
    return into, back + missing


def _renamed(operand, prefix: str):
    return replace(operand, name=prefix + operand.name) if prefix and isinstance(operand, Reg) else operand


def _renamed_guard(guard: Guard | None, prefix: str) -> Guard | None:
    return Guard(_renamed(guard.reg, prefix), guard.negated) if guard and prefix else guard


def _renamed_op(op: Op, prefix: str) -> Op:
    if not prefix:
        return op
    return replace(op, dst=tuple(_renamed(d, prefix) for d in op.dst), src=tuple(_renamed(s, prefix) for s in op.src),
                   guard=_renamed_guard(op.guard, prefix))


def _renamed_control(control: Control | None, prefix: str, new_index: list[int]) -> Control | None:
    if control is None:
        return None
    return replace(control, targets=tuple(new_index[t] for t in control.targets), guard=_renamed_guard(control.guard, prefix),
                   barrier=_renamed(control.barrier, prefix), selector=_renamed(control.selector, prefix))


def _renamed_site(site, prefix: str):
    if site is None or not prefix:
        return site
    return replace(site, address=_renamed(site.address, prefix), guard=_renamed_guard(site.guard, prefix),
                   source=_renamed(site.source, prefix), ignore=_renamed_guard(site.ignore, prefix),
                   source_size=_renamed(site.source_size, prefix))
