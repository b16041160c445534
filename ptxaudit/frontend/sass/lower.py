"""Lowers one instruction by the row of its opcode, or by `clobber` if the row does not declare all of it.

Line("@!P0", "VIADD", "R7, R3, 0x10")  ->  @!P0 R7 = add.32(R3, 16)
Line("", "R2UR.OR", "P0, UR5, R9")       ->  UR5, P0 = opaque ('R2UR.OR', '.OR is not supported here')
Line("", "VIADD.FOO", "R7, R3, 0x10")            ->  R7 = opaque ('VIADD.FOO', '.FOO is not supported here')
"""

from __future__ import annotations

from functools import lru_cache

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.sass import lift_control, lift_float, lift_half, lift_integer, lift_logic, lift_memory, lift_warp
from ptxaudit.frontend.sass.builder import Builder, Context, NoMeaning, machine_register
from ptxaudit.frontend.sass.clobber import clobber, is_listed
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.frontend.sass.parse import parse_operands
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import Operand
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.operands import read_guard_first

ROWS: dict[str, Row] = {
    **lift_integer.LOWERINGS,
    **lift_logic.LOWERINGS,
    **lift_float.LOWERINGS,
    **lift_half.LOWERINGS,
    **lift_memory.LOWERINGS,
    **lift_warp.LOWERINGS,
    **lift_control.LOWERINGS,
}
"""Every modelled opcode, by its root: the forms that are supported, and how they are lowered."""

_GUARDS: dict[str, ir.Guard] = {
    f"@{sign}{kind}{number}": ir.Guard(machine_register(kind, number), bool(sign))
    for kind in ("P", "UP")
    for number in range(7)
    for sign in ("", "!")
}
_ALWAYS, _NEVER = ("", "@PT", "@UPT"), ("@!PT", "@!UPT")


def lower(context: Context, line: Line, place: int, cluster_slots: frozenset[str] = frozenset()) -> Builder | None:
    """The lowered instruction at a byte offset of its section; None if its guard is never true.

    cluster_slots: see `Builder`.
    """
    if line.guard in _NEVER:
        return None
    guard = None if line.guard in _ALWAYS else _GUARDS[line.guard]
    try:
        operands = parse_operands(line.operands)
    except InputError:
        b = Builder(context, place, guard, line.opcode, (), cluster_slots)
        b.refused = "operands unknown to the grammar"
        lift_control.forget_everything(b)
        if b.root in lift_control.CONTROL:
            lift_control.unknown_jump(b)
        lift_memory.unscored_site(b)
        return b
    b = Builder(context, place, guard, line.opcode, operands, cluster_slots)
    row = ROWS.get(b.root)
    b.refused = "" if row is None else _refusal(row, line.opcode, operands)
    try:
        if row is None or b.refused:
            raise NoMeaning(b.refused)
        row.lower(b)
        _check_results(b)
    except NoMeaning as why:
        b.refused = b.refused or str(why) or ("" if row is None else "its operands are not supported")
        _without_meaning(b)
    if guard is not None and len(b.ops) > 1:
        read_guard_first(b.ops, guard, b.temporary)
    return b


def _check_results(b: Builder) -> None:
    """Refuses an instruction with one predicate as both results: which of them it keeps depends on the opcode."""
    operands = b.operands
    if not any(one == other for one, other in zip(operands[:2], operands[1:3])):  # results are neighbours
        return
    written = [r.name for op in b.ops for r in op.dst if r is not None and r.bits == 1 and op.guard is b.guard]
    names = [name for name in written if name[:1] in "PU"]
    if len(set(names)) < len(names):
        raise NoMeaning("one predicate as both results")


@lru_cache(maxsize=1 << 16)
def _refusal(row: Row, opcode: str, operands: tuple[Operand, ...]) -> str:
    return row.refuses(opcode, operands)


def _without_meaning(b: Builder) -> None:
    """Makes everything that an unsupported instruction may write opaque; a control transfer may lead anywhere."""
    b.ops.clear()
    b.control = b.site = None
    if b.root in lift_control.CONTROL:
        return lift_control.not_understood(b)
    if b.root not in ROWS and not is_listed(b.root):
        return _anything(b)
    clobber(b)
    lift_memory.unscored_site(b)


def _anything(b: Builder) -> None:
    """An opcode in no table: it may write all registers and all memory. (Every control transfer is in a table.)"""
    lift_control.forget_everything(b)
    lift_memory.unscored_site(b)
