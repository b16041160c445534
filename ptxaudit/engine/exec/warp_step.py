"""The effect of one instruction on one group of lanes, independent of which scheduler brings lanes to it.

    @p ld.shared r1, [r1 + 4]     the access, by lanes in which p holds or may hold; then r1, which is unknown

`exec` runs groups of known lanes (path by path, with a launch: a group is a cohort); `fixpoint` runs blocks with what
is known of all lanes that reach them (a group is an abstract state). Both pass each operation and each access of an
instruction on in the order of the hardware, and ask this module which lanes are active and where control gathers them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Uniform, Value, constant, squeeze, unknown
from ptxaudit.engine.memory.registers import View, guard_mask
from ptxaudit.ir.gathering import unites
from ptxaudit.ir.nodes import Control, Guard, Instruction, Op, Reg, Site
from ptxaudit.ir.operands import overwrites

Group = TypeVar("Group")


class Scheduler(Protocol[Group]):
    """Decides which lanes reach an instruction."""

    def observe(self, instruction: Instruction, site: Site, group: Group, view: View) -> None:
        """The group makes an access."""

    def perform(self, op: Op, instruction: Instruction, group: Group, view: View) -> tuple[Group, View]:
        """The group executes an operation; returns the group and its view afterwards."""


def step(
    scheduler: Scheduler[Group],
    instruction: Instruction,
    ops: Iterable[Op],
    watched: Site | None,
    group: Group,
    view: View,
) -> tuple[Group, View]:
    """Executes operations of an instruction.

    watched: its access, if requested. It is observed before an operation overwrites an operand of its address, else
    after all operations.
    """
    for op in ops:
        if watched is not None and overwrites(op, watched):
            scheduler.observe(instruction, watched, group, view)
            watched = None
        group, view = scheduler.perform(op, instruction, group, view)
    if watched is not None:
        scheduler.observe(instruction, watched, group, view)
    return group, view


class Participants(Record):
    """The lanes that make an access.

    decides: the guard that selects them; lanes: (rows, LANES) those that do, or that may, if the guard's value
    (`undecided`) is unknown.
    """

    decides: Guard | None
    lanes: np.ndarray
    undecided: Value | None


def participants(instruction: Instruction, site: Site, view: View, mask: np.ndarray) -> Participants:
    """The lanes that make an access. mask: (rows, LANES) the lanes that reach the instruction."""
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
    """The address of an access without its offset.

    A uniform register (one per warp) is one number for all lanes that are issued together, whatever is known of it.
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


def gathers(control: Control, explicit: bool, recursive: bool = False) -> bool:
    """All living lanes of the warp continue together after it.

    explicit: machine code. (In PTX, ptxas puts a WARPSYNC before an aligned barrier where it sees that lanes may have
    diverged. To another barrier, and to `bar.warp.sync`, it lets diverged groups come by a WARPSYNC.COLLECTIVE, after
    which they are diverged as before: compiled, and measured in kernels 9506 and 9557 of bench/adversary.) recursive:
    lanes may return diverged from recursive functions, which it does not see (`Graph.diverging`).
    """
    if control.guard is not None:
        return False  # lanes may pass it by
    if control.kind == "warpsync":
        return explicit and unites(control)
    return control.kind == "barrier" and control.aligned and not explicit and not recursive
