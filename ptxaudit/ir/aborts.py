"""Removes paths on which lanes end their launch with an error: a trap, a failed assertion.

    @%p1 bra fine;           in a launch that completes, no lane continues here:
    call __assertfail, …     bra fine
fine:

Counts are for launches that complete, so a branch with one side that always aborts takes the other side, whatever its
condition. A loop from which only a trap can be reached is also such a side: its lanes stay in it, or abort.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ptxaudit.ir.nodes import RUNTIME, Control, Function, Instruction

NOTE = "figures assume a launch that no trap or failed assertion ends"
_PASSED = frozenset(("barrier", "open", "sync", "leave", "warpsync", "part", "yield"))  # control continues after these


def without_aborts(function: Function) -> Function:
    """The function without paths that always abort; itself if there are none, or only such paths."""
    code = function.instructions
    if not any(_aborts(i.control) for i in code):
        return function
    doomed = _doomed(code)
    if doomed[0]:
        return function
    changed = {i.index: control for i in code if not doomed[i.index] and (control := _decided(i, doomed)) != i.control}
    if not changed:
        return function
    kept = tuple(replace(i, control=changed[i.index]) if i.index in changed else i for i in code)
    return replace(function, instructions=kept, notes=(*function.notes, NOTE))


def _aborts(control: Control | None) -> bool:
    return control is not None and control.aborts


def _always_aborts(control: Control | None) -> bool:
    return control is not None and control.aborts and control.guard is None


def _doomed(code: Sequence[Instruction]) -> list[bool]:
    """For each instruction, whether paths from it abort and none ends otherwise."""
    following = [_following(i, len(code)) for i in code]
    before: list[list[int]] = [[] for _ in code]
    for index, after in enumerate(following):
        for k in after:
            before[k].append(index)
    aborting = _that_come_to([i.index for i in code if _aborts(i.control)], before)
    ending = _that_come_to([i.index for i in code if not following[i.index] and not _always_aborts(i.control)], before)
    return [may_abort and not may_end for may_abort, may_end in zip(aborting, ending, strict=True)]


def _that_come_to(ends: Iterable[int], before: Sequence[Sequence[int]]) -> list[bool]:
    """For each instruction, whether it is one of `ends` or can reach one. before: the predecessors of each."""
    found, work = [False] * len(before), list(ends)
    for index in work:
        found[index] = True
    while work:
        for index in before[work.pop()]:
            if not found[index]:
                found[index] = True
                work.append(index)
    return found


def _following(instruction: Instruction, end: int) -> tuple[int, ...]:
    """The successors of an instruction; () if lanes may also exit, return, or go anywhere."""
    control, after = instruction.control, instruction.index + 1
    passed = (after,) if after < end else ()
    if control is None or control.kind in _PASSED:
        return passed
    if control.kind == "call" and control.callee in RUNTIME and not control.targets:
        return passed
    if control.kind == "exit" and control.aborts and control.guard is not None:
        return passed
    if control.kind in ("branch", "call") and len(control.targets) == 1:  # a call enters its callee, or passes it
        ways = {control.targets[0], *(passed if control.guard is not None else ())}
        return tuple(ways) if all(0 <= way < end for way in ways) else ()
    return ()


def _decided(instruction: Instruction, doomed: Sequence[bool]) -> Control | None:
    """The control of an instruction without the side that always aborts."""
    control = instruction.control
    if control is None or control.guard is None:
        return control
    if control.aborts:
        return None
    if control.kind not in ("branch", "call") or len(control.targets) != 1 or control.targets[0] >= len(doomed):
        return control
    if doomed[control.targets[0]]:
        return None
    if control.kind == "call":
        return control
    after = instruction.index + 1
    return replace(control, guard=None) if after < len(doomed) and doomed[after] else control
