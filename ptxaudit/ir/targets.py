"""Finds the functions that an unmodelled call may enter: those whose addresses are taken, and their callees.

    .global .u64 table[2] = {f, g};      addressed(module)  ->  {"f", "g"}
    mov.u64 %rd1, h;                     … and "h"

A call through a pointer may enter any of them, wherever in the module the address is taken: another kernel may have
stored it in memory. A call to an external function may call back any function of the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from ptxaudit.ir.dataflow.solve import reached
from ptxaudit.ir.nodes import CODE, Address, Function, Instruction, Module, Op
from ptxaudit.ir.transfers import is_unresolved


def addressed(module: Module) -> frozenset[str]:
    """The functions whose addresses are taken, in code or in initial values of variables."""
    return _referred(module) & module.functions.keys()


def is_open(module: Module) -> bool:
    """Whether the module is linked with others, or refers to external functions: they may pass pointers to theirs."""
    if "open" not in module.memo:
        called = {
            c.callee
            for f in module.functions.values()
            for i in f.instructions
            if is_unresolved(c := i.control) and c is not None and c.callee is not None
        }
        module.memo["open"] = module.linked or not (_referred(module) | called) <= module.functions.keys()
    opened: bool = module.memo["open"]
    return opened


def _referred(module: Module) -> frozenset[str]:
    """The functions whose addresses the module contains."""
    if "referred" not in module.memo:
        tables = {v for function in module.functions.values() for v in function.variables if v.functions}
        out = {name for variable in tables for _, name in variable.functions}
        for function in module.functions.values():
            out.update(
                source.name
                for op in _operations(function)
                for source in op.src
                if type(source) is Address and source.space == CODE
            )
        module.memo["referred"] = frozenset(out)
    referred: frozenset[str] = module.memo["referred"]
    return referred


def entered(module: Module, calls: Iterable[Instruction]) -> tuple[str, ...]:
    """The functions that unmodelled calls may enter, and all their callees, in the module's order."""

    def called(name: str) -> Iterator[str]:
        for i in module.functions[name].instructions:
            if i.control is not None and i.control.kind == "call":
                yield from _first(module, i)

    out = reached({name for call in calls for name in _first(module, call)}, called)
    return tuple(name for name in module.functions if name in out)


def _first(module: Module, call: Instruction) -> Set[str]:
    """The functions that one call may enter directly."""
    callee = call.control.callee if call.control is not None else None
    if callee is None:
        return addressed(module)
    if callee in module.functions:
        return {callee}
    return {f.name for f in module.functions.values() if not f.entry} if is_unresolved(call.control) else set()


def _operations(function: Function) -> Iterator[Op]:
    return (op for instruction in function.instructions for op in instruction.ops)
