"""The effect of one operation on the registers of many warps, under a mask of active lanes.

`Registers` is the register file: name -> Value over all rows. A `View` is what one piece of code
sees of it: some rows, a mask. `execute` runs an `Op`: arithmetic through `operations.apply`, loads,
stores to local memory, and the operations that look across the lanes of a warp.

    view of rows 0–7, all lanes      r1 = add(r2, 4)         -> the register is replaced
    view of rows {2}, lanes 0–15     r1 = mov(0)             -> row 2, lanes 0–15 of r1 change
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain import affine, alternatives
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.value import (
    BITS,
    DTYPES,
    EVERYWHERE,
    Lost,
    Uniform,
    Value,
    because,
    constant,
    fingerprint,
    known,
    least,
    opaque,
    squeeze,
    sure_bits,
    unknown,
)
from ptxaudit.engine.exec.members import members, several, words_of
from ptxaudit.engine.memory.environment import LANES, POINTER_LIMIT, WINDOW_ZEROS, Environment
from ptxaudit.engine.memory.spaces import GLOBAL, LOCAL, OPEN, SHARED, spaces_of, within
from ptxaudit.engine.ops import operations
from ptxaudit.engine.ops.halves import as_plain, kept
from ptxaudit.engine.ops.row import Row
from ptxaudit.ir.nodes import Guard, Op, Operand, Reg
from ptxaudit.ir.reasons import Kind

FULL_MASK = 0xFFFFFFFF
CELLS = (8, 16, 32, 64, 128)  # bits that a lane stores to local memory at once, an element of a vector by itself
MOST_PLACES = 64  # places of a local array that one access may reach


def take(value: Value, rows: np.ndarray) -> Value:
    """The value in some rows."""
    if value.alternatives is not None:
        return alternatives.in_rows(value, rows)

    def pick(array):
        return array if array is None or array.shape[0] == 1 else array[rows]

    poison = pick(value.poison)
    if poison is not value.poison and not poison.any():  # it was in the other rows
        poison = None
    if type(value) is not Value:
        return kept(take(as_plain(value), rows), value, make=lambda part: take(part, rows))
    return Value(
        pick(value.base),
        tuple((u, pick(c)) for u, c in value.terms),
        value.valid,
        poison,
        value.why if poison is not None or value.valid is not None else None,
        pick(value.sure),
    )


def blend(old: Value, new: Value, mask: np.ndarray) -> Value:
    """new where the mask is true, old elsewhere. mask: (rows, lanes) or broadcastable."""
    if type(old) is not Value or type(new) is not Value:
        return kept(blend(as_plain(old), as_plain(new), mask), old, new, make=lambda a, b: blend(a, b, mask))
    if old.base.dtype != new.base.dtype:
        old = affine.fit(old, new.bits)
    if old.alternatives is not None or new.alternatives is not None:
        both = alternatives.blended(old, new, mask)
        if both is not None:
            return both
    if old.poison is EVERYWHERE and new.poison is EVERYWHERE and old.sure is None and new.sure is None:
        return opaque(new.bits, because(new, old))
    base = np.where(mask, new.base, old.base)
    terms: dict[Uniform, np.ndarray] = {}
    zero = base.dtype.type(0)
    for u, c in new.terms:
        terms[u] = np.where(mask, c, zero)
    for u, c in old.terms:
        rest = np.where(mask, zero, c)
        terms[u] = terms[u] | rest if u in terms else rest
    poison = None
    if old.poison is not None or new.poison is not None:
        no = np.zeros((1, 1), bool)
        poison = np.where(mask, no if new.poison is None else new.poison, no if old.poison is None else old.poison)
        if not poison.any():
            poison = None
    why = None if poison is None and old.valid is None and new.valid is None else because(new, old)
    sure = None
    if old.sure is not None or new.sure is not None:
        sure = np.where(mask, sure_bits(new), sure_bits(old))
    return Value(
        base, tuple((u, c) for u, c in terms.items() if c.any()), least(old.valid, new.valid), poison, why, sure
    )


class Registers:
    """name -> Value over all rows. Local-memory cells live here too, under tuple names."""

    __slots__ = ("rows", "values")

    def __init__(self, rows: int, values: dict | None = None):
        self.rows = rows
        self.values: dict = {} if values is None else values

    def get(self, name, bits: int) -> Value:
        value = self.values.get(name)
        if value is None:
            return opaque(bits, Lost(Kind.UNWRITTEN, given=(name,)))
        return value

    def expand(self, index: np.ndarray) -> None:
        """Replace the rows by copies: new row i is old row index[i]."""
        self.values = {n: take(v, index) for n, v in self.values.items()}
        self.rows = len(index)


class View:
    """Rows and lanes that run together. rows None = all of them; full: every living lane is active."""

    __slots__ = ("registers", "rows", "mask", "full", "env", "exact", "data", "alive", "supposed")

    def __init__(
        self,
        registers: Registers,
        env: Environment,
        rows,
        mask: np.ndarray,
        full: bool,
        exact: bool = True,
        data: bool = False,
        alive: np.ndarray | None = None,
    ):
        """exact: the mask is certain; data: if it is not, then because of data that was not given; alive: the lanes
        that have not exited, active or not, where that is known."""
        self.registers, self.env = registers, env
        self.rows, self.mask, self.full, self.exact, self.data, self.alive = rows, mask, full, exact, data, alive
        # register -> (predicate, what it holds in lanes where that, which is not known, is true, and where it is false)
        self.supposed: dict[str, tuple[str, Value, Value]] = {}

    def where(self, guard: Guard, holds: bool = True) -> View:
        """The same as the lanes see it in which a guard that is not known holds, or does not."""
        held = {
            name: otherwise if guard.negated == holds else value
            for name, (predicate, value, otherwise) in self.supposed.items()
            if predicate == guard.reg.name
        }
        return _Supposed(self, held) if held else self

    def write_perhaps(self, reg: Reg, value: Value, guard: Guard, doubt: Value, index: int) -> None:
        """A write where a guard holds, which is not known: the register then holds the old or the new."""
        if value.bits != reg.bits and reg.bits in DTYPES:
            value = affine.fit(value, reg.bits)
        left = self.where(guard, holds=False).read(reg)
        self.write(reg, operations.apply(Op("select", bits=reg.bits), (value, self.read(reg), doubt), index), None)
        if not reg.uniform and guard.reg.name != reg.name and value.bits == left.bits:
            self.supposed[reg.name] = (guard.reg.name, left, value) if guard.negated else (guard.reg.name, value, left)

    def suppose_copy(self, reg: Reg, op: Op) -> None:
        """The register is a copy: what is supposed of its source is so of it."""
        source = op.src[0]
        entry = self.supposed.get(source.name) if op.guard is None and type(source) is Reg else None
        if entry is not None and reg.bits == entry[1].bits and not reg.uniform:
            self.supposed[reg.name] = entry

    def _outdate(self, name: str) -> None:
        """A register was written: what was supposed of it, or where it is true, holds no more."""
        self.supposed = {n: entry for n, entry in self.supposed.items() if n != name and entry[0] != name}

    def read(self, source: Operand) -> Value:
        if type(source) is not Reg:
            value = self.env.operand(source)
        elif (value := self.registers.values.get(source.name)) is None:
            value = self.registers.get(source.name, source.bits)
        return value if self.rows is None else take(value, self.rows)

    def write(self, reg: Reg, value: Value, guard: np.ndarray | None) -> None:
        """guard: (n, lanes) bool where the instruction acts, None = all active lanes."""
        if self.supposed:
            self._outdate(reg.name)
        if BITS[value.base.dtype] != reg.bits:
            value = (
                affine.fit(value, reg.bits)
                if reg.bits in DTYPES
                else opaque(64, Lost(Kind.WIDE_REGISTER, given=(reg.bits,)))
            )
        if reg.uniform:
            value, guard = self._per_warp(value, guard)
            self._store(reg.name, value, guard, guard is None)
        else:
            self._store(reg.name, value, self.mask if guard is None else guard, self.full and guard is None)

    def _per_warp(self, value: Value, guard):
        """A uniform register holds what its first active lane has."""
        first = (self.mask if guard is None else guard).argmax(axis=1)[:, None]
        n = self.mask.shape[0]
        pick = lambda a: np.take_along_axis(np.broadcast_to(a, (n, LANES)), first, 1) if a.shape[1] > 1 else a
        value = squeeze(value) if value.alternatives is None else alternatives.in_lane(value, pick)
        if not value.uniform:
            value = Value(
                pick(value.base),
                tuple((u, pick(c)) for u, c in value.terms),
                value.valid,
                None if value.poison is None else pick(value.poison),
                value.why,
            )
        if guard is not None:
            guard = guard.any(axis=1, keepdims=True)
            if guard.all():
                guard = None
        return value, guard

    def _store(self, name, value: Value, mask, whole: bool) -> None:
        values = self.registers.values
        if self.rows is None:
            if whole or mask is None:
                values[name] = value
            else:
                old = values.get(name)
                if old is None and isinstance(name, tuple):  # memory: other lanes may have been written
                    old = opaque(value.bits, Lost(Kind.LOCAL_PLACE))
                values[name] = value if old is None else blend(old, value, mask)
            self.env.note_work(values[name])
            return
        rows = self.registers.rows
        old = values.get(name)
        if old is None:
            old = opaque(value.bits, Lost(Kind.UNWRITTEN_IN_SOME, given=(name,)))
        part = value if mask is None else blend(take(old, self.rows), value, mask)
        values[name] = _scatter(old, part, self.rows, rows)
        self.env.note_work(values[name])


class _Supposed(View):
    """A view in the lanes where a guard holds; nothing is written through it."""

    __slots__ = ("held",)

    def __init__(self, view: View, held: dict[str, Value]):
        super().__init__(view.registers, view.env, view.rows, view.mask, view.full, view.exact, view.data, view.alive)
        self.held = held

    def read(self, source: Operand) -> Value:
        value = self.held.get(source.name) if type(source) is Reg else None
        return super().read(source) if value is None else value


def _scatter(old: Value, part: Value, index: np.ndarray, rows: int) -> Value:
    """old with some rows replaced."""
    if type(old) is not Value or type(part) is not Value:
        return kept(
            _scatter(as_plain(old), as_plain(part), index, rows),
            old,
            part,
            make=lambda a, b: _scatter(a, b, index, rows),
        )
    if old.base.dtype != part.base.dtype:
        old = affine.fit(old, part.bits)
    if part.alternatives is not None or old.alternatives is not None:
        inside = np.zeros((rows, 1), bool)
        inside[index] = True
        return blend(old, take(part, np.cumsum(inside) - 1), inside)

    def put(a, b, dtype):
        a = np.zeros((1, 1), dtype) if a is None else a
        b = np.zeros((1, 1), dtype) if b is None else b
        out = np.empty((rows, max(a.shape[1], b.shape[1])), dtype)
        out[:] = a
        out[index] = b
        return out

    dtype = part.base.dtype
    mine, others = dict(part.terms), dict(old.terms)
    terms = []
    for u in {**others, **mine}:
        c = put(others.get(u), mine.get(u), dtype)
        if c.any():
            terms.append((u, c))
    poison = None
    if old.poison is not None or part.poison is not None:
        poison = put(old.poison, part.poison, bool)
        poison = poison if poison.any() else None
    sure = None
    if old.sure is not None or part.sure is not None:
        sure = put(sure_bits(old), sure_bits(part), dtype)
    return Value(
        put(old.base, part.base, dtype), tuple(terms), least(old.valid, part.valid), poison, because(part, old), sure
    )


# --- operations -----------------------------------------------------------------------------


def guard_mask(view: View, guard) -> tuple[np.ndarray | None, Value | None]:
    """(lanes where a guard holds among the active ones or None for all, the guard if not known there)."""
    if guard is None:
        return None, None
    value = view.read(guard.reg)
    if guard.negated:
        value = affine.invert(value)
    if value.terms or value.valid is not None:
        return None, value
    if value.poison is not None and (value.poison & view.mask).any():
        return None, value
    return view.mask & value.base, None


def execute(op: Op, view: View, index: int) -> None:
    """Run one operation. index: its instruction, for reasons."""
    guard, doubt = guard_mask(view, op.guard) if op.guard is not None else (None, None)
    if guard is not None and not guard.any():
        return
    if doubt is not None and op.name in ("store", "call", "clobber"):
        forget_local(view.registers)
        return
    seen = view.where(op.guard) if doubt is not None and view.supposed and not _looks_across(op) else view
    results = results_of(op, seen, index, guard)
    if results is None:
        return
    for reg, value in zip(op.dst, results):
        if reg is None:
            continue
        if doubt is None:
            view.write(reg, value, guard)
            if view.supposed and op.name == "mov":
                view.suppose_copy(reg, op)
        else:
            view.write_perhaps(reg, value, op.guard, doubt, index)


def _looks_across(op: Op) -> bool:
    """It reads what other lanes hold, in which the guard may not hold."""
    return op.name.partition(".")[0] in _ACROSS or op.name == "bar.red"


def results_of(op: Op, view: View, index: int, guard) -> tuple[Value, ...] | None:
    name = op.name
    row = view.env.facts.meanings.get(name) or operations.meaning_of(name)
    if row is not None:
        sources = tuple([view.read(s) for s in op.src])
        out = operations.apply(op, sources, index, row)
        if type(out) is tuple:
            return out
        if not view.full and _loses(out, view.mask):
            out = _among_the_active(op, sources, view.mask, out, index, row)
        return (out,)
    if name in ("load", "store", "atom"):
        return _memory(op, view, index, guard)
    stem, _, kind = name.partition(".")
    if stem in _ACROSS:
        return _ACROSS[stem](op, kind, view, index, guard)
    if name in ("cvta", "cvta.to", "isspacep"):
        return (_generic(op, view, view.read(op.src[0]), index),)
    if name == "barrier.test":
        asked = [squeeze(view.read(s)) for s in op.src]
        alike = all(v.uniform and v.poison is None and v.valid is None for v in asked)
        key = ("waited", index, view.env.serial())
        return tuple(
            opaque(32, Lost(Kind.NO_RESULT, index))
            if d is None
            else _told_apart(Uniform(f"waited@{index}", d.bits, key=key, data=True))
            if alike
            else opaque(d.bits, Lost(Kind.BARRIER_ANSWER, index))
            for d in op.dst
        )
    if name == "bar.red":  # one result for all threads of the block
        return tuple(
            opaque(32, Lost(Kind.NO_RESULT, index))
            if d is None
            else _told_apart(
                Uniform(
                    f"what the barrier answers all threads@{index}",
                    d.bits,
                    key=("bar.red", index, k, view.env.serial()),
                    data=True,
                )
            )
            for k, d in enumerate(op.dst)
        )
    if name == "call" or name == "clobber" and op.space in ("local", "generic"):
        forget_local(view.registers)
        return tuple(opaque(d.bits if d else 32, Lost(Kind.CALL_NOT_FOLLOWED, index)) for d in op.dst)
    if len(op.dst) == 1 and operations.of_its_sources(name):
        return (operations.apply(op, tuple(view.read(s) for s in op.src), index),)
    whys = Lost(Kind.NOT_UNDERSTOOD, index, op.attrs) if name == "opaque" else Lost(Kind.NO_MEANING, index, (name,))
    return tuple(opaque(d.bits if d else 32, whys) for d in op.dst)


def _told_apart(symbol: Uniform) -> Value:
    """An unknown number, or an unknown truth value."""
    if symbol.bits > 1:
        return unknown(symbol)
    return Value(np.zeros((1, 1), bool), ((symbol, np.ones((1, 1), bool)),))


def _among_the_active(op: Op, sources: tuple[Value, ...], mask: np.ndarray, out: Value, index: int, row: Row) -> Value:
    """The result when the lanes that are not active hold what the first active one does: they do not count,
    and a value that is one for all active lanes is seen to be so."""
    if any(_loses(v, mask) for v in sources):
        return out
    filled = tuple(fill(v, mask) for v in sources)
    if all(a is b for a, b in zip(filled, sources)):
        return out
    again = operations.apply(op, filled, index, row)
    return out if _loses(again, mask) else again


def _loses(value: Value, mask: np.ndarray) -> bool:
    """Something of the value is not known in active lanes."""
    if value.poison is None:
        return value.valid is not None
    return value.valid is not None or value.poison is EVERYWHERE or bool((value.poison & mask).any())


def fill(value: Value, mask: np.ndarray) -> Value:
    """The value with the first active lane's content in the lanes that are not active."""
    arrays = [value.base, *(c for _, c in value.terms), *(() if value.poison is None else (value.poison,))]
    if all(a.shape[1] == 1 for a in arrays):
        return value
    first = mask.argmax(axis=1)[:, None]

    def pick(array):
        wide = np.broadcast_to(array, mask.shape)
        return np.where(mask, wide, np.take_along_axis(wide, first, 1))

    poison = None if value.poison is None else pick(value.poison)
    terms = tuple((u, c) for u, c in ((u, pick(c)) for u, c in value.terms) if c.any())
    return squeeze(
        Value(pick(value.base), terms, value.valid, poison if poison is not None and poison.any() else None, value.why)
    )


# --- memory ---------------------------------------------------------------------------------


def _memory(op: Op, view: View, index: int, guard):
    address = view.read(op.src[0]) if op.src else constant(0, 64)
    if op.name == "atom":
        return tuple(opaque(d.bits if d else 32, Lost(Kind.LOADED_BY_ATOMIC, index)) for d in op.dst)
    if op.offset:
        address = affine.add(address, constant(op.offset, address.bits))
    if op.space == "local":
        return _local(op, view, address, index, guard)
    if op.name == "store":
        if op.space == "generic" and _may_be_local(op, view, address, index, guard):
            forget_local(view.registers)
        return None
    bits = op.attrs[0] if op.attrs else op.bits
    is_signed = bool(op.attrs[1]) if len(op.attrs) > 1 else False
    out = []
    private = op.space == "generic" and _may_be_local(
        op, view, address, index, guard
    )  # one place, another content in each lane
    for k, d in enumerate(op.dst):
        at = affine.add(address, constant(k * bits // 8, address.bits)) if k else address
        told = None
        if view.env.facts.memory is not None and op.space in ("global", "generic") and bits in DTYPES:
            told = view.env.facts.memory.load(at, bits, index)
        if told is None:
            lost = opaque(bits if bits in DTYPES else 64, Lost(Kind.MAY_BE_LOCAL, index))
            told = lost if private else _load(op.space, at, bits, is_signed, view.env, index)
        out.append(widen(told, d.bits if d else bits, is_signed))
    return tuple(out)


def forget_local(registers: Registers) -> None:
    """Nothing is known of local memory any more."""
    for key in [k for k in registers.values if type(k) is tuple]:
        del registers.values[key]


def _may_be_local(op: Op, view: View, address: Value, index: int, guard) -> bool:
    """A generic address that may be one of local memory in an active lane."""
    active = _active(view, guard)
    found = spaces_of(address, active.shape, view.env.spaces(index, op))
    return bool((active & ((found == OPEN) | (found == LOCAL))).any())


def widen(value: Value, bits: int, is_signed: bool) -> Value:
    if value.bits == bits or bits not in DTYPES:  # registers of 128 bits hold nothing that is followed
        return value
    if is_signed and value.bits < bits:
        return affine.sign_extend(value, bits)
    return affine.fit(value, bits)


def _load(space: str, address: Value, bits: int, is_signed: bool, env: Environment, index: int) -> Value:
    if bits not in DTYPES:
        return opaque(64, Lost(Kind.LOADED_WIDE, index, (bits,)))
    if space == "param":
        return _parameter(address, bits, env, index)
    if space.startswith("const"):
        value = env.constants.load(space, address, bits)
        if value is not None:
            return value
    flat = squeeze(address)
    if flat.uniform and flat.poison is None and flat.valid is None:
        key = "load", index, fingerprint(flat), bits, env.serial()
        return unknown(Uniform(f"loaded@{index}", bits, kind="loaded", key=key, data=True, address=bits == 64))
    return opaque(bits, Lost(Kind.LOADED, index))


def _parameter(address: Value, bits: int, env: Environment, index: int) -> Value:
    """Bits of the parameters, at an offset that may differ from warp to warp and from lane to lane."""
    offsets = sorted(set(address.base.flat)) if address.known else ()  # (np.unique loads numpy.ma)
    if 0 < len(offsets) <= MOST_PLACES:
        first, *others = map(int, offsets)
        value = env.parameter(first, bits)
        for offset in others:
            value = blend(value, env.parameter(offset, bits), address.base == offset)
        return value
    flat = squeeze(address)
    if flat.uniform and flat.poison is None and flat.valid is None:
        return unknown(
            Uniform(
                "a parameter at an index that is not known",
                bits,
                key=("parameter at", fingerprint(flat), bits),
                address=bits == 64,
            )
        )
    return opaque(bits, Lost(Kind.PARAMETER_INDEX, index))


def _places(address: Value, mask: np.ndarray) -> list[tuple] | None:
    """[(symbol, offset, lanes that go there or None for all)] of a local address; None where it is not known."""
    flat = squeeze(address)
    if (
        flat.poison is not None
        or flat.valid is not None
        or len(flat.terms) > 1
        or any((c != 1).any() for _, c in flat.terms)
    ):
        return None
    symbol = flat.terms[0][0] if flat.terms else None
    number = lambda n: n - (1 << 32) if n >= 1 << 31 else n
    if flat.base.size == 1:
        return [(symbol, number(int(flat.base.flat[0]) & 0xFFFFFFFF), None)]
    wide = np.broadcast_to(flat.base, mask.shape)
    distinct = np.unique(wide[mask])
    if len(distinct) > MOST_PLACES:
        return None
    return [(symbol, number(int(n) & 0xFFFFFFFF), mask & (wide == n)) for n in distinct]


def _local(op: Op, view: View, address: Value, index: int, guard):
    """Spills and local arrays: a cell a place, with a value for each lane; a store to places not known forgets all."""
    bits = op.attrs[0] if op.attrs else op.bits
    active = view.mask if guard is None else guard
    places = _places(address, active)
    if op.name == "store":
        if places is None:
            forget_local(view.registers)
        for place in places or ():
            _store_local(op, view, place, bits, index, guard)
        return None
    is_signed = bool(op.attrs[1]) if len(op.attrs) > 1 else False
    out = []
    for k, d in enumerate(op.dst):
        missing = opaque(bits if bits in DTYPES else 64, Lost(Kind.LOCAL_PLACE, index))
        value = missing
        for symbol, start, lanes in places or ():
            cell = view.registers.values.get(("local", symbol, start + k * bits // 8, bits))
            cell = missing if cell is None else cell if view.rows is None else take(cell, view.rows)
            value = cell if lanes is None else blend(value, cell, lanes)
        out.append(widen(value, d.bits if d else bits, is_signed))
    return tuple(out)


def _store_local(op: Op, view: View, place: tuple, bits: int, index: int, guard) -> None:
    cells = view.registers.values
    symbol, first, lanes = place
    for key in [
        k for k in cells if type(k) is tuple and k[1] != symbol and not (_is_variable(k[1]) and _is_variable(symbol))
    ]:
        del cells[key]  # counted from another place, which may be anywhere beside this one
    mask = lanes if lanes is not None else view.mask if guard is None else guard
    size = bits // 8
    for k, source in enumerate(op.src[1:]):
        start = first + k * size
        name = ("local", symbol, start, bits)
        for wide in CELLS:  # those that it overlaps: there may be thousands of others
            for at in range(start - wide // 8 + 1, start + size):
                if (key := ("local", symbol, at, wide)) in cells and key != name:
                    del cells[key]
        value = affine.fit(view.read(source), bits) if bits in DTYPES else opaque(64, Lost(Kind.WIDE_SPILL, index))
        view._store(name, value, mask, view.full and guard is None and lanes is None)


def _is_variable(symbol: Uniform | None) -> bool:
    """Where a variable begins: two of them do not overlap."""
    return symbol is not None and symbol.kind == "variable"


def _generic(op: Op, view: View, address: Value, index: int) -> Value:
    """Generic addresses: shared ones carry the window's base as an unknown of their own."""
    space = op.attrs[0] if op.attrs else "global"
    window = Uniform(f"{space} window", 64, WINDOW_ZEROS, 0, POINTER_LIMIT, "window", (space, "whole"))
    if op.name == "cvta":
        wide = affine.fit(address, op.bits)
        return affine.add(wide, unknown(window, op.bits)) if space in ("shared", "local") else wide
    if op.name == "cvta.to":
        if space in ("shared", "local"):
            if any(u.kind == "window" and u.key[0] == space for u, _ in address.terms):
                address = within(address)
            elif address.poison is None:
                return opaque(op.bits, Lost(Kind.NOT_IN_SPACE, index, (space,)))
        return affine.fit(address, op.bits)
    return _in_space(address, space, view, index)


_SPACES = {"shared": SHARED, "shared::cluster": SHARED, "local": LOCAL, "global": GLOBAL}


def _in_space(address: Value, space: str, view: View, index: int) -> Value:
    """isspacep: a lane's address lies in the space of the one base that it has; the lanes may differ."""
    from ptxaudit.engine.memory.clusters import remote

    shape = np.broadcast_shapes(
        address.base.shape, *(c.shape for _, c in address.terms), () if address.poison is None else address.poison.shape
    )
    found = spaces_of(address, shape)
    inside, lost = found == _SPACES.get(space, -1), found == OPEN
    if (
        any(u.kind == "variable" and u.address and u.key[0] != "global" for u, _ in address.terms)
        or space == "shared"
        and remote(within(address), found == SHARED, view) is not None
    ):
        lost = np.ones((1, 1), bool)  # a constant; perhaps another block's memory
    why = Lost(Kind.STATE_SPACE, index)
    return Value(inside, poison=lost, why=why) if lost.any() else Value(inside)


# --- across the lanes of a warp -------------------------------------------------------------


def _spread(value: Value, n: int) -> Value:
    def full(a):
        return np.broadcast_to(a, (n, LANES))

    return Value(
        full(value.base),
        tuple((u, full(c)) for u, c in value.terms),
        value.valid,
        None if value.poison is None else full(value.poison),
        value.why,
    )


def _active(view: View, guard) -> np.ndarray:
    return view.mask if guard is None else guard


def _shuffle(op: Op, kind: str, view: View, index: int, guard):
    """shfl: PTX ISA "shfl.sync". A lane outside its segment keeps its own value."""
    a, b, c = (view.read(s) for s in op.src[:3])
    if not (b.known and c.known):
        return opaque(op.bits, Lost(Kind.SHUFFLE_LANE, index)), opaque(1, Lost(Kind.SHUFFLE_LANE, index))
    lane = np.arange(LANES, dtype=np.int64)[None, :]
    b = b.base.astype(np.int64) & 31
    clamp, segment = c.base.astype(np.int64) & 31, (c.base.astype(np.int64) >> 8) & 31
    max_lane = (lane & segment) | (clamp & ~segment & 31)
    min_lane = lane & segment
    match kind:
        case "up":
            source = lane - b
            inside = source >= max_lane
        case "down":
            source = lane + b
            inside = source <= max_lane
        case "bfly":
            source = lane ^ b
            inside = source <= max_lane
        case _:
            source = min_lane | (b & ~segment & 31)
            inside = source <= max_lane
    n = view.mask.shape[0]
    source = np.broadcast_to(np.where(inside, source, lane), (n, LANES))
    wide = _spread(a, n)
    pick = lambda array: np.take_along_axis(array, source, 1)
    idle = ~pick(_active(view, guard))
    named = view.read(op.src[3]) if len(op.src) > 3 else None
    if named is not None and named.known and not named.uniform:  # a lane of another group takes no part
        idle = idle | (pick(np.broadcast_to(named.base, (n, LANES))) != named.base)
    poison = idle if wide.poison is None else idle | pick(wide.poison)
    why = wide.why if wide.poison is not None else None
    if not (poison & _active(view, guard)).any():
        poison = None
    elif why is None:
        why = Lost(Kind.SHUFFLE_INACTIVE, index)
    value = Value(pick(wide.base), tuple((u, pick(co)) for u, co in wide.terms), wide.valid, poison, why)
    return squeeze(value), known(np.broadcast_to(inside, (n, LANES)))


def pack(mask: np.ndarray) -> np.ndarray:
    """(n, LANES) bool -> (n, 1) uint32, lane 0 in bit 0."""
    bits = np.uint32(1) << np.arange(LANES, dtype=np.uint32)
    return np.where(mask, bits, np.uint32(0)).sum(axis=1, dtype=np.uint32)[:, None]


def unpack(word: np.ndarray) -> np.ndarray:
    """(n, 1) or (n, LANES) uint32 -> (n, LANES) bool of its bits, for (n, 1)."""
    return (word[:, :1] >> np.arange(LANES, dtype=np.uint32) & np.uint32(1)).astype(bool)


def _members(op: Op, at: int, view: View, guard) -> np.ndarray | None:
    """As `members`, of an operation whose source `at` is the member mask, if it has one."""
    return members(view.read(op.src[at]) if len(op.src) > at else None, _active(view, guard))


def _of_its_group(bits: int, index: int) -> Value:
    """A result that is not known, of which each group of lanes has its own."""
    return opaque(bits, Lost(Kind.OF_ITS_GROUP, index))


def _apart(op: Op, view: View, index: int, guard):
    """Whether a living lane of a mask is not active, or does not vote yes: one answer for all active lanes.

    Where it is not told which lanes live, the active ones do at least, and no more than exist.
    """
    own, mask = (as_unknown(view.read(s)) for s in op.src)
    active = _active(view, guard)
    words = np.broadcast_to(mask.base, active.shape)
    first = np.take_along_axis(words, active.argmax(axis=1)[:, None], 1)
    if mask.known and view.exact and not ((words != first) & active).any():
        named = unpack(first)
        open_lanes = (
            active
            if own.terms or own.valid is not None
            else active & own.poison
            if own.poison is not None
            else active & False
        )
        yes = active & own.base.astype(bool) & ~open_lanes
        exists = view.env.exists if view.rows is None else view.env.exists[view.rows]
        least, most = (active, exists) if view.alive is None else (view.alive, view.alive)
        missing = (named & least & ~yes & ~open_lanes).any(axis=1, keepdims=True)
        if (missing | ~(named & most & ~yes).any(axis=1, keepdims=True)).all():
            return (known(missing),)
    return _one_for_all(op, view.env.serial(), 1, index)


def _vote(op: Op, kind: str, view: View, index: int, guard):
    if kind == "apart":
        return _apart(op, view, index, guard)
    p = view.read(op.src[0])
    bits = 32 if kind == "ballot" else 1
    groups = _members(op, 1, view, guard)
    certain = p.known and p.base.shape[1] == 1 and kind != "ballot"  # whoever takes part says so
    if groups is None or several(groups) and not (view.exact or certain):
        return (_of_its_group(bits, index),)
    if p.terms or p.valid is not None or p.poison is not None and (p.poison & groups.any(axis=1)).any():
        return (_of_its_group(bits, index),) if several(groups) else _one_for_all(op, view.env.serial(), bits, index)
    if not view.exact and not certain:
        return (
            unknown(Uniform(f"vote@{index}", bits, key=("vote", index, view.env.serial())))
            if bits > 1
            else _unknown_bit(f"vote@{index}", (index, view.env.serial())),
        )
    yes = groups & p.base[:, None, :]
    match kind:
        case "ballot":
            return (known(words_of(yes)),)
        case "any":
            out = yes.any(axis=2)
        case "all":
            out = (yes == groups).all(axis=2)
        case _:
            out = (yes == groups).all(axis=2) | ~yes.any(axis=2)
    return (known(out),)


def _unknown_bit(name: str, key, data: bool = True) -> Value:
    return Value(
        np.zeros((1, 1), bool), ((Uniform(name, 1, 0, 0, 1, key=("vote", key), data=data), np.ones((1, 1), bool)),)
    )


def _one_for_all(op: Op, serial, bits: int, index: int):
    """A result that all lanes share though it is not known."""
    name = f"{op.name}@{index}"
    return (
        (_unknown_bit(name, (op.name, index, serial)),)
        if bits == 1
        else (unknown(Uniform(name, bits, kind="loaded", key=(op.name, index, serial), data=True)),)
    )


def _match(op: Op, kind: str, view: View, index: int, guard):
    a = view.read(op.src[0])
    groups = _members(op, 1, view, guard)
    if not a.known or not view.exact or groups is None:
        why = a.why or Lost(Kind.MATCH, index)
        return opaque(32, why), opaque(1, why)
    wide = np.broadcast_to(a.base, (len(groups), LANES))
    mask = words_of((wide[:, :, None] == wide[:, None, :]) & groups)
    if kind == "all":
        every = words_of(groups)
        agreed = mask == every
        if not several(groups):
            agreed = (agreed | ~groups[:, 0]).all(axis=1, keepdims=True)
        return known(np.where(agreed, every, np.uint32(0))), known(agreed)
    return known(mask), known(np.ones((1, 1), bool))


def _activemask(op: Op, kind: str, view: View, index: int, guard):
    if not view.exact:
        return (
            unknown(Uniform(f"activemask@{index}", 32, key=("activemask", index, view.env.serial()), data=view.data)),
        )
    return (known(pack(_active(view, guard))),)


def _elect(op: Op, kind: str, view: View, index: int, guard):
    groups = _members(op, 0, view, guard)
    if not view.exact or groups is None:
        lost = Lost(Kind.ELECT, index)
        return opaque(32, lost), opaque(1, lost)
    first = groups.argmax(axis=2)
    return known(first.astype(np.uint32)), known(np.arange(LANES)[None, :] == first)


_REDUCE = {
    "add": np.add,
    "min.s": np.minimum,
    "min.u": np.minimum,
    "max.s": np.maximum,
    "max.u": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _redux(op: Op, kind: str, view: View, index: int, guard):
    a = view.read(op.src[0])
    groups = _members(op, 1, view, guard)
    if groups is None or not (a.known and view.exact and kind in _REDUCE):
        return (
            (_of_its_group(32, index),)
            if groups is None or several(groups)
            else _one_for_all(op, view.env.serial(), 32, index)
        )
    wide = np.broadcast_to(a.base, (len(groups), LANES))
    if kind.endswith(".s"):
        wide = np.ascontiguousarray(wide).view(np.int32)
    neutral = {
        "add": 0,
        "or": 0,
        "xor": 0,
        "and": FULL_MASK,
        "min.u": FULL_MASK,
        "max.u": 0,
        "min.s": 2**31 - 1,
        "max.s": -(2**31),
    }[kind]
    out = _REDUCE[kind].reduce(np.where(groups, wide[:, None, :], wide.dtype.type(neutral)), axis=2)
    return (known(np.ascontiguousarray(out).astype(wide.dtype).view(np.uint32)),)


_ACROSS = {
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "activemask": _activemask,
    "elect": _elect,
    "redux": _redux,
}
