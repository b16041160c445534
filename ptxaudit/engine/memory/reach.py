"""How far an address that is not known can be from its variable: the range of its offset, from the operations it is
made of.

    atom.shared.add [hist + 4 * (x & 255)]      ->   0 to 1020 bytes from `hist`, whatever x is

Ranges of unsigned integers over definitions, without order; a loop's counter, or anything that may wrap, has none.
Machine code has no variables: its ranges are of the address itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptxaudit.engine.memory import origins
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Address, Const, Op, Operand, Reg, Special

DEEPEST = 80  # operations behind one another that are looked at


@dataclass(frozen=True)
class Range:
    """low to high, inclusive, from the beginning of a variable; name "": of the number itself."""

    low: int
    high: int
    name: str = ""

    def united(self, other: Range | None) -> Range | None:
        if other is None or other.name != self.name:
            return None
        return Range(min(self.low, other.low), max(self.high, other.high), self.name)


class Reach:
    """Of the addresses of one kernel under one launch."""

    def __init__(self, graph: Graph, env: Environment):
        self.graph, self.env = graph, env
        self._known: dict[tuple[int, int, str], Range | None] = {}
        self._depth = 0

    def of(self, index: int, op: Op) -> Range | None:
        """Where the first byte of an access may be; None: anywhere."""
        position = self.graph.function.instructions[index].ops.index(op)
        found = self._source(op.src[0], index, position)
        return None if found is None else Range(found.low + op.offset, found.high + op.offset, found.name)

    def _source(self, source: Operand, index: int, position: int) -> Range | None:
        if isinstance(source, Const):
            return Range(source.value, source.value)
        if isinstance(source, Address):
            value = self.env.address(source)
            if value.known:
                return Range(int(value.base.flat[0]), int(value.base.flat[0]))
            return Range(source.offset, source.offset, source.name) if source.space.startswith("shared") else None
        if isinstance(source, Special):
            value = self.env.special(source.name, source.bits)
            return Range(int(value.base.min()), int(value.base.max())) if value.known else None
        if not isinstance(source, Reg):
            return None
        out, first = None, True
        for place in origins.definitions(self.graph, source.name, index, position):
            found = self._result(*place, source)
            if found is None:
                return None
            out, first = found if first else out.united(found), False
            if out is None:
                return None
        return out

    def _result(self, index: int, position: int, reg: Reg) -> Range | None:
        key = (index, position, reg.name)
        if key not in self._known:
            self._known[key] = None  # what is still being looked at may be anything
            self._depth += 1
            if self._depth < DEEPEST:
                self._known[key] = self._made(index, position, reg)
            self._depth -= 1
        return self._known[key]

    def _made(self, index: int, position: int, reg: Reg) -> Range | None:
        op = self.graph.function.instructions[index].ops[position]
        if op.name == "load":
            return self._loaded(op, reg)
        if op.name not in _ROWS or op.dst[:1] != (reg,):
            return None
        sources = [self._source(s, index, position) for s in op.src]
        sources = [Range(0, (1 << s.bits) - 1) if r is None and s.bits <= 32 else r for r, s in zip(sources, op.src)]
        if any(r is None for r in sources):
            return None
        found = _ROWS[op.name](op, *sources)
        if found is None or found.name == "" and (found.low < 0 or found.high >= 1 << reg.bits):
            return None
        return found

    def _loaded(self, op: Op, reg: Reg) -> Range | None:
        bits, is_signed = (*op.attrs, False)[:2] if op.attrs else (op.bits, False)
        if op.space == "param" and isinstance(op.src[0], Const) and len(op.dst) == 1:
            value = self.env.parameter(op.src[0].value + op.offset, bits)
            if value.known:
                return Range(int(value.base.flat[0]), int(value.base.flat[0]))
        return Range(0, (1 << bits) - 1) if bits < 32 and bits < reg.bits and not is_signed else None


# --- operations -----------------------------------------------------------------------------


def _plus(a: Range, b: Range, bits: int) -> Range | None:
    if a.name and b.name:
        return None
    for r in (a, b):
        if not r.name and r.low == r.high and r.high >> (bits - 1):  # a negative constant
            other = b if r is a else a
            moved = Range(other.low + r.low - (1 << bits), other.high + r.high - (1 << bits), other.name)
            return moved if moved.name or moved.low >= 0 else None
    return Range(a.low + b.low, a.high + b.high, a.name or b.name)


def _times(a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(a.low * b.low, a.high * b.high)


def _below(*ranges: Range) -> Range | None:
    """As many bits as the largest has."""
    return None if any(r.name for r in ranges) else Range(0, (1 << max(r.high for r in ranges).bit_length()) - 1)


def _and(op: Op, a: Range, b: Range) -> Range | None:
    return None if a.name or b.name else Range(0, min(a.high, b.high))


def _lop3(op: Op, a: Range, b: Range, c: Range) -> Range | None:
    """Bounded by an operand without whose bit there is none in the result, else by all of them."""
    table = op.attrs[0]
    masks = [r.high for r, zero in zip((a, b, c), (0x0F, 0x33, 0x55)) if not table & zero]
    if any(r.name for r in (a, b, c)) or table & 1 and not masks:
        return None
    return Range(0, min(masks)) if masks else _below(a, b, c)


def _shift_left(op: Op, a: Range, n: Range) -> Range | None:
    return Range(a.low << n.low, a.high << n.low) if n.low == n.high < op.bits and not a.name else None


def _shift_right(op: Op, a: Range, n: Range) -> Range | None:
    return Range(a.low >> n.low, a.high >> n.low) if n.low == n.high < op.bits and not a.name else None


def _minus(op: Op, a: Range, b: Range) -> Range | None:
    return None if b.name else Range(a.low - b.high, a.high - b.low, a.name)


def _same(op: Op, a: Range) -> Range | None:
    return a


def _mad(op: Op, a: Range, b: Range, c: Range) -> Range | None:
    product = _times(a, b)
    return None if product is None or product.high >> op.bits else _plus(product, c, op.bits)


def _field(op: Op, a: Range, place: Range, length: Range) -> Range | None:
    return Range(0, (1 << length.high) - 1) if length.high < 32 else None


def _remainder(op: Op, a: Range, b: Range) -> Range | None:
    return Range(0, b.high - 1) if b.low > 0 and not b.name else None


_ROWS = {
    "mov": _same,
    "zext": _same,
    "trunc": _same,
    "add": lambda op, a, b: _plus(a, b, op.bits),
    "sub": _minus,
    "add3.carry": lambda op, a, b, c, *carries: (
        None if any(x.high for x in carries) or (ab := _plus(a, b, op.bits)) is None else _plus(ab, c, op.bits)
    ),
    "mul": lambda op, a, b: _times(a, b),
    "mulwide.u": lambda op, a, b: _times(a, b),
    "mad": _mad,
    "madwide.u": _mad,
    "and": _and,
    "or": lambda op, a, b: _below(a, b),
    "xor": lambda op, a, b: _below(a, b),
    "lop3": _lop3,
    "shl": _shift_left,
    "shr.u": _shift_right,
    "bfe.u": _field,
    "rem.u": _remainder,
    "min.u": lambda op, a, b: None if a.name or b.name else Range(min(a.low, b.low), min(a.high, b.high)),
    "popc": lambda op, a: Range(0, op.src[0].bits),
    "select": lambda op, a, b, p: a.united(b),
}
