"""How far an unknown address can be from its variable: the range of its offset, from the operations that compute it.

    atom.shared.add [hist + 4 * (x & 255)]      ->   0 to 1020 bytes from `hist`, whatever x is

Ranges of unsigned integers are computed over definitions, regardless of order; a loop counter, or anything that may
wrap, has none. Machine code has no variables: its ranges are those of the address itself.
"""

from __future__ import annotations

from ptxaudit.engine.domain.value import Value
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.parameters import parameter
from ptxaudit.engine.memory.read_from import definitions
from ptxaudit.engine.ops import ranges
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.engine.ops.table import OPS
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Address, Const, Op, Operand, Reg, Special

DEEPEST = 80  # longest chain of operations that is followed


class Reach:
    """The ranges of the addresses of one kernel under one launch."""

    def __init__(self, graph: Graph, env: Environment):
        self.graph, self.env = graph, env
        self._known: dict[tuple[int, int, str], Range | None] = {}
        self._depth = 0

    def of(self, index: int, op: Op) -> Range | None:
        """The range of the first byte of an access; None: anywhere."""
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
            return Range(int(value.base.min()), int(value.base.max())) if value.known else _of_uniform(value)
        if not isinstance(source, Reg):
            return None
        out: Range | None = None
        for place in definitions(self.graph, source.name, index, position):
            found = self._result(*place, source)
            if found is None:
                return None
            out = found if out is None else out.united(found)
            if out is None:
                return None
        return out

    def _result(self, index: int, position: int, reg: Reg) -> Range | None:
        key = (index, position, reg.name)
        if key not in self._known:
            self._known[key] = None  # a definition that is being computed may be anything
            self._depth += 1
            if self._depth < DEEPEST:
                self._known[key] = self._made(index, position, reg)
            self._depth -= 1
        return self._known[key]

    def _made(self, index: int, position: int, reg: Reg) -> Range | None:
        op = self.graph.function.instructions[index].ops[position]
        if op.name == "load":
            return self._loaded(op, reg)
        if op.name == "cvta.to" and op.attrs == ("global",):
            return self._source(op.src[0], index, position)
        row = OPS.get(op.name)
        if row is None or row.range is None:
            return None
        sources = [self._source(s, index, position) for s in op.src]
        sources = [Range(0, (1 << s.bits) - 1) if r is None and s.bits <= 32 else r for r, s in zip(sources, op.src)]
        bounded = [r for r in sources if r is not None]
        if len(bounded) < len(sources):
            return None
        at = op.dst.index(reg)
        if at:
            return ranges.carries(op, at, *bounded) if op.name == "add3.carry" else None
        found: Range | None = row.range(op, *bounded)
        if found is None or found.name == "" and (found.low < 0 or found.high >= 1 << reg.bits):
            return None
        return found

    def _loaded(self, op: Op, reg: Reg) -> Range | None:
        bits, is_signed = op.element
        if op.space == "param" and (start := op.fixed) is not None:
            value = parameter(self.env, start + op.dst.index(reg) * bits // 8, bits)
            if value.known:
                return Range(int(value.base.flat[0]), int(value.base.flat[0]))
        return Range(0, (1 << bits) - 1) if bits < 32 and bits < reg.bits and not is_signed else None


def _of_uniform(value: Value) -> Range | None:
    """The range of an unknown with nothing added, such as %ctaid.x."""
    if value.poison is not None or value.valid is not None or value.base.any() or len(value.terms) != 1:
        return None
    ((uniform, factor),) = value.terms
    if uniform.low is None or uniform.low < 0 or uniform.high is None or (factor != 1).any():
        return None
    return Range(uniform.low, uniform.high)
