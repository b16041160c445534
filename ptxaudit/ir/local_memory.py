"""Finds accesses to local memory whose address differs between lanes.

    float a[16]; … a[(threadIdx.x + i) % 16]    ->    ld.local.f32 [%rd23], by "lane"
    float a[16]; … a[key[threadIdx.x] % 16]     ->    ld.local.f32 [%rd23], by "data"

Before: an ir.Function and its graph. After: the instructions whose local address depends on the thread's index or on
loaded data. Local memory is interleaved by thread: lanes that access the same element share its 128-byte line, and
lanes that access different elements each need their own line. An index that is the same in all lanes (a loop's
counter, a parameter) is not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION
from ptxaudit.ir.call_frames import STACK_POINTER
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function, Instruction, Op, Operand, Reg, Special
from ptxaudit.ir.operands import opaque_load
from ptxaudit.ir.warp_operations import DIFFERS

# Special registers that differ between the lanes of a warp.
_LANES = ("tid.", "laneid", "lanemask")

# Operations whose results may be anything, also loaded data: what a call that is not followed returns, and others.
UNMODELLED = ("call", "opaque")

By = Literal["lane", "data"]


class LocalAccess(Record):
    """An instruction, and what its address depends on: the lane's number, or data, loaded or of unmodelled origin."""

    instruction: Instruction
    by: By


def lane_indexed(function: Function, flow: Graph) -> tuple[LocalAccess, ...]:
    """The local accesses whose address differs between lanes, in program order.

    Raises Exhausted if the graph's account is used up.
    """
    found = []
    known: dict[tuple[str, int], By | None] = {}
    for instruction in function.instructions:
        if flow.block_of[instruction.index] not in flow.reachable:
            continue
        for op in instruction.ops:
            if op.name in ("load", "store") and op.space == "local" and op.src:
                by = _of_operand(op.src[0], instruction.index, function, flow, known)
                if by is not None:
                    found.append(LocalAccess(instruction, by))
                    break
    return tuple(found)


def _of_operand(
    operand: Operand, index: int, function: Function, flow: Graph, known: dict[tuple[str, int], By | None]
) -> By | None:
    """Why an operand differs between lanes: "lane" before "data", None for neither."""
    if isinstance(operand, Special):
        return "lane" if operand.name.startswith(_LANES) else None
    if not isinstance(operand, Reg):
        return None
    reasons = set()
    seen: set[tuple[str, int]] = set()
    pending = [(operand.name, index)]
    while pending:
        key = pending.pop()
        if key in seen:
            continue
        seen.add(key)
        if key in known:
            reasons.add(known[key])
            continue
        definitions = flow.reaching(*key)
        flow.account.spend(1 + INSTRUCTION * len(definitions), "analysing local memory")
        for at in definitions:
            control = function.instructions[at].control
            if key[0] == STACK_POINTER and control is not None and control.kind == "call":
                pending.append((STACK_POINTER, at))  # a call preserves it
                continue
            inner: set[str] = set()  # results of earlier operations of the same instruction
            for op in function.instructions[at].ops:
                reasons |= set(_origins(op))
                pending += [(source.name, at) for source in _followed(op) if source.name not in inner]
                inner |= {d.name for d in op.dst if d is not None}
    by: By | None = "lane" if "lane" in reasons else "data" if "data" in reasons else None
    known[operand.name, index] = by
    return by


def _origins(op: Op) -> Iterator[By]:
    """The reasons that an operation itself adds."""
    if any(isinstance(source, Special) and source.name.startswith(_LANES) for source in op.src):
        yield "lane"
    if op.name.split(".")[0] in DIFFERS:
        yield "lane"
    if opaque_load(op) or op.name in UNMODELLED:
        yield "data"


def _followed(op: Op) -> list[Reg]:
    """Registers that an operation's result is computed from; loaded data is not traced further.

    What is loaded from a table of constants differs where the address does.
    """
    if opaque_load(op) or op.name in UNMODELLED:
        return []
    return [source for source in op.src if isinstance(source, Reg)]
