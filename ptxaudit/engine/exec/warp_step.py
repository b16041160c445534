"""What one instruction does with one group of lanes, whoever decides which lanes come to it.

    @p ld.shared r1, [r1 + 4]     the access, by lanes in which p holds or may; then r1, of which nothing is known

`exec` runs groups of lanes that are known (path by path, with a launch: its group is a cohort); `fixpoint` runs blocks
from what is known of all that come there (its group is an abstract state). Both hand each operation and each access of
an instruction on in the order of the hardware, and ask here which lanes take part and where control may gather them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.lanes import FULL_MASK
from ptxaudit.engine.domain.value import Uniform, Value, constant, squeeze, unknown
from ptxaudit.engine.memory.registers import View, guard_mask
from ptxaudit.ir.nodes import Const, Control, Guard, Instruction, Op, Reg, Site
from ptxaudit.ir.operands import overwrites

Group = TypeVar("Group")


class Scheduler(Protocol[Group]):
    """What decides which lanes come to an instruction."""

    def observe(self, instruction: Instruction, site: Site, group: Group, view: View) -> None:
        """The group makes an access."""

    def perform(self, op: Op, instruction: Instruction, group: Group, view: View) -> tuple[Group, View]:
        """The group executes an operation: it, and what is seen of it, behind."""


def step(
    scheduler: Scheduler[Group],
    instruction: Instruction,
    ops: Iterable[Op],
    watched: Site | None,
    group: Group,
    view: View,
) -> tuple[Group, View]:
    """Executes these operations of an instruction. watched: its access, if that is looked at: made before an operation
    overwrites what its address is made of, else behind them."""
    for op in ops:
        if watched is not None and overwrites(op, watched):
            scheduler.observe(instruction, watched, group, view)
            watched = None
        group, view = scheduler.perform(op, instruction, group, view)
    if watched is not None:
        scheduler.observe(instruction, watched, group, view)
    return group, view


class Participants(Record):
    """Which lanes make an access. decides: the guard that says so; lanes: (rows, LANES) those that do, or, where its
    value (`undecided`) is not known, may."""

    decides: Guard | None
    lanes: np.ndarray
    undecided: Value | None


def participants(instruction: Instruction, site: Site, view: View, mask: np.ndarray) -> Participants:
    """mask: (rows, LANES) the lanes that come to the instruction."""
    decides = site.guard or instruction.guard
    lanes, undecided = guard_mask(view, decides)
    if undecided is None:
        return Participants(decides, mask if lanes is None else lanes, None)
    if undecided.poison is None or undecided.terms:
        return Participants(decides, mask, undecided)
    return Participants(decides, mask & (undecided.base | undecided.poison), undecided)


def address_of(site: Site, view: View, index: int) -> Value:
    """The byte address of the access that instruction `index` makes."""
    address = base_of(site, view, index)
    return affine.add(address, constant(site.offset, address.bits)) if site.offset else address


def base_of(site: Site, view: View, index: int) -> Value:
    """What the offset of an access is added to. A register that a warp has one of is one number for all lanes that are
    issued together, whatever is known of it.
    """
    address, reg = view.read(site.address), site.address
    if not (isinstance(reg, Reg) and reg.uniform) or address.poison is None and address.valid is None:
        return address
    data = address.why is not None and address.why.data
    one = unknown(Uniform(reg.name, address.bits, kind="derived", key=("of a warp", reg.name, index), data=data))
    if address.poison is not None or address.valid is None:
        return one
    known = squeeze(Value(address.base, address.terms))
    if not known.uniform:
        return one
    return affine.add(known, affine.scale(one, constant(1 << address.valid, address.bits).base))


def gathers(control: Control, explicit: bool) -> bool:
    """All living lanes of the warp go on together behind it. explicit: machine code (in PTX, ptxas puts a WARPSYNC
    before a block's barrier where lanes may have diverged)."""
    if control.kind == "warpsync":
        return not control.targets and (  # else they part again
            control.selector is None or isinstance(control.selector, Const) and control.selector.value == FULL_MASK
        )
    return control.kind == "barrier" and control.guard is None and not explicit
