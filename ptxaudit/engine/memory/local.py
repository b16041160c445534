"""Each lane's local memory, for spills and local arrays: one cell per place, which holds a value as a register does.

    st.local [8], r1;  ld.local r2, [8]      r2 = r1, in the lanes that stored
    st.local [r3], r1                        in each lane the cell at r3; if r3 is unknown, all cells become unknown

The cells are kept among the registers, under the names ("local", base of the place, byte offset from it, bits).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import distinct
from ptxaudit.engine.domain.value import DTYPES, Uniform, Value, opaque, squeeze
from ptxaudit.engine.memory.generic import located
from ptxaudit.engine.memory.references import Otherwise, Reference
from ptxaudit.engine.memory.registers import Registers, Results, blend, take
from ptxaudit.ir.reasons import Kind, Reason

CELLS = (8, 16, 32, 64, 128)  # sizes in bits of a store to local memory, or of one element of a vector
MOST_PLACES = 64  # places in a local array that one access may reach

Place = tuple[Uniform | None, int, np.ndarray | None]  # base, byte offset, the lanes that access it or None for all


class Local:
    """The memory of the state space "local", and of generic addresses that lie there or may."""

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        kind = at.bits if at.bits in DTYPES else 64
        if at.op.space == "local":
            places = _places(at.address, at.active) or ()
            return tuple([at.extended(_cell(at, k, places), k) for k in range(len(at.op.dst))])
        if may_be_local(at):  # one place, but different contents in each lane
            unknown = opaque(kind, Reason(Kind.MAY_BE_LOCAL, at.index))
            return tuple([at.extended(unknown, k) for k in range(len(at.op.dst))])
        return otherwise()

    def store(self, at: Reference) -> None:
        if at.op.name != "store":
            return  # atomic operations never access local memory
        if at.op.space != "local":
            if may_be_local(at):
                forget(at.view.registers)
            return
        places = _places(at.address, at.active)
        if places is None:
            forget(at.view.registers)
        values = at.stored() if places and at.certain else None
        for place in places or ():
            _write(at, place, values)


def forget(registers: Registers) -> None:
    """Makes all of local memory unknown."""
    for key in [k for k in registers.values if type(k) is tuple]:
        del registers.values[key]


def may_be_local(at: Reference) -> bool:
    """Whether the address lies, or may lie, in local memory in an active lane."""
    if not at.view.env.makes_local_addresses:
        return False
    found = located(at.address, at.active, at.view.env, at.index, op=at.op, of="local")
    return bool((found.lanes | found.open).any())


def _places(address: Value, mask: np.ndarray) -> list[Place] | None:
    """The places to which a local address refers; None if unknown."""
    flat = squeeze(address)
    if (
        flat.poison is not None
        or flat.valid is not None
        or len(flat.terms) > 1
        or any((c != 1).any() for _, c in flat.terms)
    ):
        return None
    symbol = flat.terms[0][0] if flat.terms else None
    number: Callable[[int], int] = lambda n: n - (1 << 32) if n >= 1 << 31 else n
    if flat.base.size == 1:
        return [(symbol, number(int(flat.base.flat[0]) & 0xFFFFFFFF), None)]
    wide = np.broadcast_to(flat.base, mask.shape)
    numbers = distinct(wide[mask])
    if len(numbers) > MOST_PLACES:
        return None
    return [(symbol, number(int(n) & 0xFFFFFFFF), mask & (wide == n)) for n in numbers]


def _cell(at: Reference, k: int, places: list[Place] | tuple[()]) -> Value:
    """An element of a load, from the cells that the lanes read."""
    value = missing = opaque(at.bits if at.bits in DTYPES else 64, Reason(Kind.LOCAL_PLACE, at.index))
    for symbol, start, lanes in places:
        cell = at.view.registers.values.get(("local", symbol, start + k * at.bits // 8, at.bits))
        cell = missing if cell is None else cell if at.view.rows is None else take(cell, at.view.rows)
        value = cell if lanes is None else blend(value, cell, lanes)
    return value


def _write(at: Reference, place: Place, values: list[Value] | None) -> None:
    """Writes, or may write, consecutive elements at a place. values: None: unknown."""
    cells, view = at.view.registers.values, at.view
    symbol, first, lanes = place
    for key in [
        k for k in cells if type(k) is tuple and k[1] != symbol and not (_is_variable(k[1]) and _is_variable(symbol))
    ]:
        del cells[key]  # its base is at an unknown distance from this one
    size = at.bits // 8
    unknown = Reason(Kind.LOCAL_PLACE if at.bits in DTYPES or not at.certain else Kind.WIDE_SPILL, at.index)
    for k in range(len(at.op.src) - 1):
        start = first + k * size
        name = ("local", symbol, start, at.bits)
        for wide in CELLS:  # look up overlapping cells only: there may be thousands of others
            for other in range(start - wide // 8 + 1, start + size):
                if (key := ("local", symbol, other, wide)) in cells and key != name:
                    del cells[key]
        value = opaque(at.bits if at.bits in DTYPES else 64, unknown) if values is None else values[k]
        view._store(
            name, value, at.active if lanes is None else lanes, view.full and at.guard is None and lanes is None
        )


def _is_variable(symbol: Uniform | None) -> bool:
    """Whether the base is a variable: two variables do not overlap."""
    return symbol is not None and symbol.kind == "variable"
