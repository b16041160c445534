"""Lowers one instruction: finds its lowering function by opcode, falls back to `clobber`.

    Line("@!P0", "VIADD", "R7, R3, 0x10")  ->  @!P0 R7 = add.32(R3, 16)
    Line("", "F2FP.BF16.F32.PACK_AB", "R5, R3, R2")  ->  R5 = F2FP.BF16.F32.PACK_AB.32()
"""

from __future__ import annotations

from .. import ir
from ..errors import InputError
from . import lift_control, lift_float, lift_integer, lift_logic, lift_memory, lift_warp
from .builder import Builder, Context, NoMeaning, machine_register
from .clobber import clobber
from .disassemble import Line
from .parse import parse_operands

LOWERINGS = {
    **lift_integer.LOWERINGS, **lift_logic.LOWERINGS, **lift_float.LOWERINGS, **lift_memory.LOWERINGS,
    **lift_warp.LOWERINGS, **lift_control.LOWERINGS,
}

_GUARDS: dict[str, ir.Guard] = {
    f"@{sign}{kind}{number}": ir.Guard(machine_register(kind, number), bool(sign))
    for kind in ("P", "UP") for number in range(7) for sign in ("", "!")
}
_ALWAYS, _NEVER = ("", "@PT", "@UPT"), ("@!PT", "@!UPT")


def lower(context: Context, line: Line, place: int, cluster_slots: frozenset[str] = frozenset()) -> Builder | None:
    """The lowered instruction at a byte offset of its section; None when its guard is never true.

    cluster_slots: see `Builder`.
    """
    if line.guard in _NEVER:
        return None
    guard = None if line.guard in _ALWAYS else _GUARDS[line.guard]
    try:
        operands = parse_operands(line.operands)
    except InputError:
        b = Builder(context, place, guard, line.opcode, (), cluster_slots)
        lift_control.forget_everything(b)
        return b
    b = Builder(context, place, guard, line.opcode, operands, cluster_slots)
    lowering = LOWERINGS.get(b.root)
    try:
        if lowering is None:
            raise NoMeaning
        lowering(b)
    except NoMeaning:
        b.control = b.site = None
        clobber(b)
        lift_memory.unscored_site(b)
    return b
