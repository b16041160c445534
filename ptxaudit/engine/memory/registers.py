"""The register file of many warps, and the part of it that one piece of code sees.

`Registers`: name -> Value over all rows. A `View` is some rows, with a mask of active lanes.

    view of rows 0–7, all lanes      r1 = add(r2, 4)         -> the register is replaced
    view of rows {2}, lanes 0–15     r1 = mov(0)             -> row 2, lanes 0–15 of r1 change
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain import affine, alternatives
from ptxaudit.engine.domain.lane_classes import classes_of
from ptxaudit.engine.domain.lanes import ROWS_AT_HAND, first_active
from ptxaudit.engine.domain.value import (
    BITS,
    DTYPES,
    EVERYWHERE,
    Uniform,
    Value,
    as_uniform,
    because,
    chosen,
    either,
    is_number,
    mapped,
    one_per_warp,
    opaque,
    squeeze,
    unknown,
)
from ptxaudit.engine.memory import same_truths
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.ops import operations
from ptxaudit.engine.ops.halves import as_plain, kept
from ptxaudit.engine.ops.row import Row
from ptxaudit.ir.nodes import Guard, Op, Operand, Reg
from ptxaudit.ir.placed import place_of
from ptxaudit.ir.reasons import Kind, Reason, sentence


def take(value: Value, rows: np.ndarray) -> Value:
    """The value in some rows. rows: their indices, for which `ndarray.take` is several times faster than `[]`."""
    if is_number(value):
        return value if len(value.base) == 1 else Value(value.base.take(rows, 0))
    pick: Callable[[np.ndarray], np.ndarray] = lambda array: array if len(array) == 1 else array.take(rows, 0)
    if value.alternatives is not None:
        return alternatives.mapped(value, pick)
    if type(value) is not Value:
        return kept(take(as_plain(value), rows), value, make=lambda part: take(part, rows))
    out = mapped(value, pick)
    if out.poison is not None and out.poison is not value.poison and not anywhere(out.poison):
        out.poison = None  # only other rows were poisoned
    if out.poison is None and out.valid is None:
        out.why = None
    return out


def blend(old: Value, new: Value, mask: np.ndarray) -> Value:
    """new where the mask is true, old elsewhere. mask: (rows, lanes) or broadcastable."""
    if is_number(old) and is_number(new) and old.base.dtype is new.base.dtype:
        return Value(np.where(mask, new.base, old.base))
    if type(old) is not Value or type(new) is not Value:
        return kept(blend(as_plain(old), as_plain(new), mask), old, new, make=lambda a, b: blend(a, b, mask))
    if old.base.dtype != new.base.dtype:
        old = affine.fit(old, new.bits)
    if old.valid is not None and new.valid is None and throughout(mask):
        return new  # no lane keeps the old value
    old, new = _both_beside(old, new)
    if old.alternatives is not None or new.alternatives is not None:
        both = alternatives.blended(old, new, mask)
        if both is not None:
            return both
    if old.poison is EVERYWHERE and new.poison is EVERYWHERE and old.sure is None and new.sure is None:
        return opaque(new.bits, because(new, old))
    return chosen(lambda x, y: np.where(mask, x, y), new, old)


MOST_SUPPOSED = 2  # truth values, besides the last, under which a register is tracked
LINE_BITS = 7  # low bits of an address: its place in a line of the banks


def _beside(one: Value, other: Value) -> Value:
    """A value with only low bits known, marked as such per lane, so that other lanes can keep all bits of theirs."""
    if one.valid is None or one.terms or one.bits == 1 or other.valid == one.valid:
        return one
    low = one.base.dtype.type((1 << one.valid) - 1)
    sure = np.full((1, 1), low)
    if one.poison is not None:
        sure = np.where(one.poison, np.zeros_like(sure) if one.sure is None else one.sure & low, sure)
    return Value(one.base & low, poison=EVERYWHERE, why=one.why, sure=sure)


def _both_beside(old: Value, new: Value) -> tuple[Value, Value]:
    """Two values in different lanes of one register, in compatible forms.

    The new one keeps what determines a figure: its place in a line.
    """
    if new.valid is None:
        return _beside(old, new), new
    return old, _beside(new, old) if new.valid < LINE_BITS else new


Name = str | tuple[Any, ...]  # a register; a cell of local memory


def called(name: Name) -> str:
    """The name of a register, or the place of a cell of local memory: `local memory [stack - 72]`."""
    if isinstance(name, str):
        return name
    symbol, start = name[1:3]
    if symbol is None:
        return f"local memory [{start}]"
    sign = "-" if start < 0 else "+"
    return f"local memory [{symbol.name.removeprefix('%')}{f' {sign} {abs(start)}' if start else ''}]"


Guarded = np.ndarray | None  # the lanes in which an instruction acts, None = all active ones

Results = tuple[Value, ...]


class Registers:
    """name -> Value over all rows. Local-memory cells are kept here too, under tuple names."""

    __slots__ = ("rows", "values")

    def __init__(self, rows: int, values: dict[Name, Value] | None = None):
        self.rows = rows
        self.values: dict[Name, Value] = {} if values is None else values

    def get(self, name: Name, bits: int) -> Value:
        value = self.values.get(name)
        if value is None:
            return opaque(bits, Reason(Kind.UNWRITTEN, given=(name,)))
        return value

    def expand(self, index: np.ndarray) -> None:
        """Replaces the rows by copies: new row i is old row index[i]."""
        self.values = {n: take(v, index) for n, v in self.values.items()}
        self.rows = len(index)


class View:
    """Rows and lanes that execute together. rows None = all of them; full: every living lane is active."""

    __slots__ = (
        *("registers", "rows", "mask", "full", "env", "exact", "data", "alive", "grouped", "path"),
        *("supposed", "truths"),
    )

    def __init__(
        self,
        registers: Registers,
        env: Environment,
        rows: np.ndarray | None,
        mask: np.ndarray,
        full: bool,
        exact: bool = True,
        data: bool = False,
        alive: np.ndarray | None = None,
        grouped: bool | None = None,
        path: bool = False,
    ):
        """exact: the mask is certain; data: if it is not, unspecified data is the cause.
        alive: the lanes that have not exited, active or not, if known.
        grouped: the active lanes are converged; None: if exact.
        path: the registers are those of one path; lanes on others have registers of their own.
        """
        self.registers, self.env = registers, env
        self.rows, self.mask, self.full, self.exact, self.data, self.alive = rows, mask, full, exact, data, alive
        self.grouped = exact if grouped is None else grouped
        self.path = path
        # register -> an unknown truth value -> the contents in lanes where it is true, and where it is false
        self.supposed: dict[str, dict[int, tuple[Value, Value]]] = {}
        self.truths: dict[str, same_truths.Bits] = {}  # register -> the truth values that its bits equal

    @property
    def whole(self) -> bool:
        """Its lanes are certainly all living lanes of their warps, together."""
        return self.exact and self.alive is not None and not anywhere(self.alive & ~self.mask)

    def some(self, data: bool) -> View:
        """The view of an unknown part of its lanes. data: unspecified data decides which."""
        part = copy(self)
        part.exact, part.data = False, self.data or data
        return part

    def where(self, guard: Guard, holds: bool = True) -> View:
        """The view of the lanes in which an unknown guard holds, or fails."""
        held = self.held_where(guard, holds)
        return _Supposed(self, held) if held else self

    def held_where(self, guard: Guard, holds: bool) -> dict[Name, Value]:
        """The registers whose contents are known in those lanes, as they were written under the guard's predicate."""
        if not self.supposed or guard.reg.name not in self.truths:
            return {}
        number, opposite = self._truth_of(guard.reg)
        side = 0 if holds ^ guard.negated ^ opposite else 1
        return {n: of[number][side] for n, of in self.supposed.items() if number in of}

    def _truth_of(self, predicate: Reg) -> tuple[int, bool]:
        """(the truth value that a predicate equals, whether it is negated)."""
        found = same_truths.of_bit(self.truths.get(predicate.name, same_truths.NOWHERE))
        if found is None:
            found = same_truths.new_number(), False
            self.truths[predicate.name] = {found[0]: (1, 0)}
        return found

    def truths_in(self, op: Op, seen: View) -> same_truths.Bits:
        """The truth values in the result of an operation without a guard, whose sources are read in `seen`."""
        taken_up = op.name in same_truths.TAKEN_UP
        if not taken_up and not self.truths:
            return same_truths.NOWHERE
        if taken_up and type(op.src[-1]) is Reg and not is_number(self.read(op.src[-1])):
            if same_truths.may_hold(*(self.read(s) for s in op.src[:-1])):
                self._truth_of(op.src[-1])
        bits = [self.truths.get(s.name, same_truths.NOWHERE) if type(s) is Reg else same_truths.NOWHERE for s in op.src]
        if not any(bits):
            return same_truths.NOWHERE
        return same_truths.carried(op, [seen.read(s) for s in op.src], bits, self.mask)

    def write_perhaps(
        self, reg: Reg, value: Value, guard: Guard, undecided: Value, index: int, truths: same_truths.Bits
    ) -> None:
        """Writes a register under an unknown guard: it then holds the old or the new value. truths: of the new one."""
        if value.bits != reg.bits and reg.bits in DTYPES:
            value = affine.fit(value, reg.bits)
        classes = None if reg.name in self.registers.values else classes_of(undecided)
        if classes is not None and classes.shape[1] == 1:  # where it fails, nothing in the warp may read the register
            self.write(reg, value, None)
            return self.note_truths(reg, truths)
        left = self.where(guard, holds=False).read(reg)  # anything, if nothing has written it
        before = self.truths.get(reg.name, same_truths.NOWHERE)
        select, sources = Op("select", bits=reg.bits), (value, left, undecided)
        chosen = operations.one_result(select, sources, index)
        if not self.full and unknown_among(chosen, self.mask):
            (chosen,) = among_the_active(select, sources, self.mask, (chosen,), index)
        mixed = reg.uniform and not guard.reg.uniform  # any lane in which the guard holds writes for all
        if mixed or guard.reg.name == reg.name or value.bits != left.bits:
            return self.write(reg, chosen, None)
        if reg.uniform:
            value, left = (self._per_warp(v, None)[0] for v in (value, left))
        number, opposite = self._truth_of(guard.reg)
        false = guard.negated ^ opposite
        both = same_truths.NOWHERE
        if truths or before or same_truths.may_hold(value, left):
            both = same_truths.chosen(number, false, (value, left), (truths, before), undecided, self.mask)
        others = self._under_others(reg, value, guard, number, index)
        self.write(reg, chosen, None)
        self.supposed[reg.name] = {number: (left, value) if false else (value, left)} | others
        self.note_truths(reg, both)

    def _under_others(
        self, reg: Reg, value: Value, guard: Guard, number: int, index: int
    ) -> dict[int, tuple[Value, Value]]:
        """The contents of a register after a guarded write, given the truth values under which it was written before.

        The guard may be known given these, or be uniform:

            @p mov r, a;  @p mov q, u;  @q mov r, b        where p holds, r is b or a by u
        """
        before = self.supposed.get(reg.name, {})
        of_guard = self.supposed.get(guard.reg.name, {})
        found: dict[int, tuple[Value, Value]] = {}
        for other, sides in before.items():
            if other == number or other not in of_guard:
                continue
            predicates = (affine.invert(p) if guard.negated else p for p in of_guard[other])
            if len(found) < MOST_SUPPOSED:
                true, false = (
                    operations.apply(Op("select", bits=reg.bits), (value, side, predicate), index)
                    for side, predicate in zip(sides, predicates)
                )
                assert isinstance(true, Value) and isinstance(false, Value)
                found[other] = true, false
        return found

    def note_truths(self, reg: Reg, truths: same_truths.Bits) -> None:
        """Records the truth values in a register that was written."""
        if truths and not reg.uniform:
            self.truths[reg.name] = truths

    def suppose_copy(self, reg: Reg, op: Op) -> None:
        """Gives the destination of a copy the conditional contents of its source."""
        source = op.src[0]
        entry = self.supposed.get(source.name) if op.guard is None and type(source) is Reg else None
        if entry and not reg.uniform and all(value.bits == reg.bits for sides in entry.values() for value in sides):
            self.supposed[reg.name] = entry

    def _outdate(self, name: str) -> None:
        """Drops the conditional contents and the truth values of a register that is written."""
        self.supposed.pop(name, None)
        self.truths.pop(name, None)

    def read(self, source: Operand, guard: Guarded = None) -> Value:
        """The contents of an operand. guard: the lanes that count, None = all active ones: what others have never
        written does not make theirs unknown.
        """
        ROWS_AT_HAND.grouping, ROWS_AT_HAND.rows = self.env.grouping, self.rows
        value: Value | None
        if type(source) is not Reg:
            value = self.env.operand(source)
        elif (value := self.registers.values.get(source.name)) is None:
            of_warp = source.uniform and self.path
            value = _never_written(source) if of_warp else self.registers.get(source.name, source.bits)
        if self.rows is not None:
            value = take(value, self.rows)
            self.env.note_work(value)
        if self.full and guard is None:
            return value
        lanes = self.mask if guard is None else guard
        if self.path and value.terms:
            value = _with_terms_of(value, lanes)
        return value if value.poison is None else written(value, lanes)

    def write(self, reg: Reg, value: Value, guard: np.ndarray | None) -> None:
        """Writes a register. guard: (n, lanes) bool where the instruction acts, None = all active lanes."""
        if self.truths:
            self._outdate(reg.name)
        if BITS[value.base.dtype] != reg.bits:
            value = (
                affine.fit(value, reg.bits)
                if reg.bits in DTYPES
                else opaque(64, Reason(Kind.WIDE_REGISTER, given=(reg.bits,)))
            )
        if reg.uniform:
            value, guard = self._per_warp(value, guard)
            if self.path:
                value = self._same_for_all(reg, value)
                if guard is not None:
                    self.registers.values.setdefault(reg.name, _never_written(reg))
            self._store(reg.name, value, guard, guard is None)
        elif guard is None and reg.name in self.env.temporaries:
            self._replace(reg.name, value)
        else:
            self._store(reg.name, value, self.mask if guard is None else guard, self.full and guard is None)

    def _per_warp(self, value: Value, guard: Guarded) -> tuple[Value, Guarded]:
        """The value and guard of a uniform register, which holds the value of its first active lane."""
        lanes = self.mask if guard is None else guard
        if not self.exact and not value.uniform and not fill(value, lanes).uniform:
            value = opaque(value.bits, Reason(Kind.FIRST_LANE))
        value = _of_one_lane(value, lambda a: first_active(a, lanes))
        if guard is not None:
            guard = np.logical_or.reduce(guard, axis=1, keepdims=True)
            if throughout(guard):
                guard = None
        return value, guard

    def _same_for_all(self, reg: Reg, value: Value) -> Value:
        """A uniform register of which nothing is known as one number for all lanes of a warp, if they are together."""
        partly = value.sure is not None or value.alternatives is not None
        if not self.grouped or value.poison is None or partly or type(value) is not Value or not value.uniform:
            return value
        why, key = value.why, ("of a warp", reg.name, self.env.serial())
        name = reg.name if why is None else f"{reg.name} ({sentence(why, self.env.function)})"
        return one_per_warp(value, Uniform(name, value.bits, key=key, data=why is not None and why.data))

    def _replace(self, name: Name, value: Value) -> None:
        """Replaces a temporary, which is never read in other rows and lanes."""
        if not self.full and type(value) is Value and value.poison is not None and value.alternatives is None:
            poison = value.poison & self.mask
            rest = (poison, value.why, value.sure) if anywhere(poison) else (None, value.why if value.valid else None)
            value = Value(value.base, value.terms, value.valid, *rest)
        if self.rows is not None:
            nothing = opaque(value.bits, Reason(Kind.UNWRITTEN_IN_SOME, given=(called(name),)))
            value = _scatter(nothing, value, self.rows, self.registers.rows)
        self.registers.values[name] = value
        self.env.note_work(value)

    def _first(self, name: Name, value: Value, mask: np.ndarray) -> Value:
        """What a register holds that only these lanes have written: in others that live, it may be anything."""
        living = self.mask if self.path else self.env.exists if self.alive is None else self.alive
        nothing = value.poison is EVERYWHERE and value.sure is None and value.alternatives is None
        if nothing or not anywhere(others := living & ~mask):
            return value
        why = Reason(Kind.UNWRITTEN, given=(name,))
        if type(value) is not Value or value.alternatives is not None:
            return blend(opaque(value.bits, why), value, mask)
        if value.poison is None:
            return Value(value.base, value.terms, value.valid, others, why if value.valid is None else value.why)
        sure = None if value.sure is None else np.where(others, value.sure.dtype.type(0), value.sure)
        return Value(value.base, value.terms, value.valid, either(value.poison, others), value.why, sure)

    def _store(self, name: Name, value: Value, mask: Guarded, whole: bool) -> None:
        values = self.registers.values
        if self.rows is None:
            if whole or mask is None:
                values[name] = value
            else:
                old = values.get(name)
                if old is None and isinstance(name, tuple):  # memory: other lanes may have been written
                    old = opaque(value.bits, Reason(Kind.LOCAL_PLACE))
                values[name] = self._first(name, value, mask) if old is None else blend(old, value, mask)
            self.env.note_work(values[name])
            return
        rows = self.registers.rows
        old = values.get(name)
        if old is None:
            old = opaque(value.bits, Reason(Kind.UNWRITTEN_IN_SOME, given=(called(name),)))
        part = value if mask is None else blend(take(old, self.rows), value, mask)
        self.env.note_work(part)
        values[name] = _scatter(old, part, self.rows, rows)
        self.env.note_work(values[name])


def _never_written(reg: Reg) -> Value:
    """A uniform register that nothing has written: any number, one for all lanes of the warp."""
    return unknown(Uniform(reg.name, reg.bits, key=("unwritten", reg.name)))


def unwritten(value: Value) -> bool:
    """Some lanes may never have written it (`View._first`)."""
    if value.poison is None or value.poison is EVERYWHERE:
        return False
    return value.valid is not None or value.why is not None and value.why.kind is Kind.UNWRITTEN


def _with_terms_of(value: Value, lanes: np.ndarray) -> Value:
    """The value without the unknowns that it has only in other warps."""
    if value.alternatives is not None:
        return value
    terms = tuple([(u, c) for u, c in value.terms if len(c) == 1 or anywhere(lanes & (c != 0))])
    if len(terms) == len(value.terms):
        return value
    if type(value) is not Value:
        return kept(_with_terms_of(as_plain(value), lanes), value, make=lambda part: _with_terms_of(part, lanes))
    return Value(value.base, terms, value.valid, value.poison, value.why, value.sure)


def written(value: Value, lanes: np.ndarray) -> Value:
    """The value without the unknowns of other lanes, if these are lanes that have never written it."""
    if not unwritten(value) or type(value) is not Value or value.alternatives is not None:
        return value
    why = None if value.valid is None else value.why
    return value if anywhere(value.poison & lanes) else Value(value.base, value.terms, value.valid, None, why)


def _of_one_lane(value: Value, pick: Callable[[np.ndarray], np.ndarray]) -> Value:
    """The value of the lane whose column `pick` takes from an array."""
    if type(value) is not Value:
        return kept(_of_one_lane(as_plain(value), pick), value, make=lambda part: _of_one_lane(part, pick))
    value = squeeze(value) if value.alternatives is None else alternatives.mapped(value, pick)
    return value if value.uniform else mapped(value, pick)


class _Supposed(View):
    """A read-only view of the lanes in which a guard holds."""

    __slots__ = ("held",)

    def __init__(self, view: View, held: dict[Name, Value]):
        shown = view.rows, view.mask, view.full, view.exact, view.data, view.alive, view.grouped, view.path
        super().__init__(view.registers, view.env, *shown)
        self.held = held

    def read(self, source: Operand, guard: Guarded = None) -> Value:
        value = self.held.get(source.name) if type(source) is Reg else None
        return super().read(source, guard) if value is None else value


def _scatter(old: Value, part: Value, index: np.ndarray, rows: int) -> Value:
    """old with some rows replaced."""
    if is_number(old) and is_number(part) and old.base.dtype is part.base.dtype:
        base = np.empty((rows, max(old.base.shape[1], part.base.shape[1])), part.base.dtype)
        base[:] = old.base
        base[index] = part.base
        return Value(base)
    if type(old) is not Value or type(part) is not Value or (old.alternatives or part.alternatives) is not None:
        inside = np.zeros((rows, 1), bool)
        inside[index] = True
        return blend(old, take(part, np.cumsum(inside) - 1), inside)

    def put(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        out = np.empty((rows, max(a.shape[1], b.shape[1])), a.dtype)
        out[:] = b
        out[index] = a
        return out

    old, part = _both_beside(old if old.bits == part.bits else affine.fit(old, part.bits), part)
    return chosen(put, part, old)


def guard_mask(view: View, guard: Guard | None) -> tuple[np.ndarray | None, Value | None]:
    """(lanes where a guard holds among the active ones or None for all, the guard if it is unknown there)."""
    if guard is None:
        return None, None
    value = view.read(guard.reg)
    if guard.negated:
        if view.path and value.terms:  # those of inactive lanes do not count
            value = fill(value, view.mask)
        value = affine.invert(value)
    if value.terms or value.valid is not None:
        return None, value
    if value.poison is not None and anywhere(value.poison & view.mask):
        return None, value
    return view.mask & value.base, None


def active_lanes(view: View, guard: Guarded) -> np.ndarray:
    return view.mask if guard is None else guard


def fill(value: Value, mask: np.ndarray) -> Value:
    """The value with inactive lanes replaced by the first active lane of their warp.

    A warp without active lanes takes the value of the first warp that has one.
    """
    arrays = [value.base, *(c for _, c in value.terms), *(() if value.poison is None else (value.poison,))]
    some = mask.any(axis=1)
    whole = throughout(some) or not anywhere(some)
    if all(a.shape[1] == 1 and (whole or a.shape[0] == 1) for a in arrays):
        return value
    first = mask.argmax(axis=1)[:, None]
    rows = np.arange(len(mask)) if whole else np.where(some, np.arange(len(mask)), some.argmax())

    def pick(array: np.ndarray) -> np.ndarray:
        wide = np.broadcast_to(array, mask.shape)
        return np.where(mask, wide, np.take_along_axis(wide, first, 1)[rows])

    poison = None if value.poison is None else pick(value.poison)
    terms = tuple([(u, d) for u, c in value.terms if anywhere(d := pick(c))])
    return squeeze(
        Value(
            pick(value.base), terms, value.valid, poison if poison is not None and anywhere(poison) else None, value.why
        )
    )


def among_the_active(
    op: Op, sources: Results, mask: np.ndarray, out: Results, index: int, row: Row | None = None
) -> Results:
    """The results if inactive lanes held what the first active one does: so they do not count, and a value that is
    uniform over the active lanes is recognised as such.
    """
    if any(unknown_among(v, mask) for v in sources):
        return out
    filled = tuple(fill(v, mask) for v in sources)
    if all(a is b for a, b in zip(filled, sources)):
        return out
    again = operations.apply(op, filled, index, row)
    results = again if isinstance(again, tuple) else (again,)
    alone = len(out) == 1  # of a sum, the carry and the upper half name their addends in all lanes, as later ones do
    known = [(alone or type(a) is Value) and not unknown_among(b, mask) for a, b in zip(out, results)]
    return tuple([b if better else a for better, a, b in zip(known, out, results)])


def unknown_among(value: Value, mask: np.ndarray) -> bool:
    """Part of the value is unknown in active lanes."""
    if value.poison is None:
        return value.valid is not None
    return value.valid is not None or value.poison is EVERYWHERE or anywhere(value.poison & mask)


def known_among(value: Value, lanes: np.ndarray) -> Value:
    """The value without the unknowns that it has only in other lanes."""
    if type(value) is not Value or value.alternatives is not None:
        return value
    if value.poison is not None and not anywhere(value.poison & lanes):
        return fill(value, lanes)
    return _with_terms_of(value, lanes) if len(value.terms) > 1 else value


def as_uniform_in(view: View, value: Value, guard: Guarded = None) -> Value | None:
    """As `as_uniform`, if the value is the same in all lanes of a warp that act."""
    same = as_uniform(value)
    if same is not None or view.full and guard is None:
        return same
    return as_uniform(fill(value, active_lanes(view, guard)))


def place_at(env: Environment, index: int) -> str:
    """The place of an instruction, as shown to the reader."""
    return place_of(env.function, index)
