"""The bytes of a launch's buffers that it writes, found by executing its stores.

    keys = 0x7f0000000200 … 0x7f00000003ff       st.global [out + 4·rank], ranks counted from the keys
    out  = 0x7f0000000400 …                      -> out + 0 … out + 511, none of them a byte of `keys`

By its pointers alone (`written`), a store through `out` may write `keys`, at whose end `out` points; and where one
allocation holds all arrays of a program, any store may write them all. So the stores are executed on the assumption
that no other bytes than some are written, first none: if they write no others, none of them can have been the first to
do so, and the assumption holds. Else these are assumed to be written, too. What a store writes whose addresses stay
unknown is judged by its pointers, unless a store of the launch leaves the buffers to which its own point.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.status import Status
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.engine.answer.task import Task
from ptxaudit.engine.exec.runs import simulate
from ptxaudit.engine.memory.extents import NOTHING, Intervals, united
from ptxaudit.engine.memory.given import Given
from ptxaudit.engine.memory.writers import bytes_of
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir.graph import build
from ptxaudit.ir.nodes import Instruction, Op, Site, SiteSpace

MOST_RUNS = 4
SHARE = 0.3  # of the steps left
WIDTHS = (1, 2, 4, 8, 16)  # bytes of a plain store


def stored(task: Task, memory: Given, account: Account) -> Given | None:
    """The memory of a launch with the bytes that it writes; None if that says no more about its contents."""
    own = {index: op for index, op in memory.writers or () if bytes_of(op) in WIDTHS}
    if not memory.writers or len(own) < len(memory.writers):  # several by one instruction, or of another width
        return None
    asked = _storing(task, own)
    within = {index: memory.writers[index, op] for index, op in own.items()}
    known = NOTHING
    try:
        with account.part(SHARE) as some:
            for _ in range(MOST_RUNS):
                trying = replace(memory, stored=known)
                found = simulate(replace(asked, facts=replace(asked.facts, memory=trying)), some).sites
                written = {k: _written(found[k]) for k in own}
                if any(_leaves(memory, written[k], within[k]) for k in own):
                    within = dict.fromkeys(own, frozenset(range(len(memory.buffers))))
                    memory = replace(memory, trusted=(False,) * len(memory.buffers), writes=False)
                    continue
                now = united([known, *(_at_most(memory, written[k], within[k]) for k in own)])
                if now.equals(known):
                    return trying
                known = now
    except Exhausted:
        pass
    return None


def _storing(task: Task, own: Mapping[int, Op]) -> Task:
    """The same launch, with these stores as its accesses."""
    function = task.function
    sites = {index: _site(op, function.instructions[index]) for index, op in own.items()}
    instructions = [replace(i, site=sites.get(i.index, i.site)) for i in function.instructions]
    graph = build(replace(function, instructions=tuple(instructions)), task.graph.account)
    accesses = {index: site.access for index, site in sites.items() if site.access is not None}
    facts = replace(task.facts, extents=True, keep=False, seen=False, supposed=None)
    return replace(task, graph=graph, facts=facts, accesses=accesses, originals={k: k for k in accesses})


def _site(op: Op, instruction: Instruction) -> Site:
    """A plain store to the bytes that an operation writes."""
    size = bytes_of(op)
    kind = f"v{size // 4}.b32" if size > 4 else f"b{8 * size}"
    space: SiteSpace = "global" if op.space == "global" else "generic"
    site = Site(f"st.{kind}", op.src[0], op.offset, space, op.guard or instruction.guard, of="global")
    return with_access(site, ())


def _written(found: SiteResult) -> Intervals | None:
    """The bytes that a store writes; None if some of its addresses are unknown."""
    if found.status is Status.UNREACHED:
        return NOTHING
    if found.status is Status.EXACT and found.extent is not None and not found.extent.missing:
        return found.extent.bytes()
    return None


def _leaves(memory: Given, written: Intervals | None, within: frozenset[int]) -> bool:
    """A store writes a buffer to which none of its pointers points."""
    others = (buffer for at, buffer in enumerate(memory.buffers) if at not in within)
    return written is not None and any(written.touched(np.array([start]), len(data)).any() for start, data in others)


def _at_most(memory: Given, written: Intervals | None, within: frozenset[int]) -> Intervals:
    """The bytes that a store writes, or all of the buffers that it may write by its pointers."""
    if written is not None:
        return written
    ends = [(start, start + len(data)) for at, (start, data) in enumerate(memory.buffers) if at in within]
    return Intervals(*(np.array(side, np.int64) for side in zip(*ends))) if ends else NOTHING
