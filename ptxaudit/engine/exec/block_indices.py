"""Operations on block indices that represent ranges: keep them affine, split the rows, or require numbers.

setp.lt p, %ctaid.x, 3        rows of blocks 0 to 9 become rows of 0 to 2, p true, and of 3 to 9, p false
xor r, %ctaid.x, 5            has no affine form: `NeedBlocks`, a run with every index known
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Value, is_number, opaque
from ptxaudit.engine.exec.block_ranges import Decided, block_terms, decide, decide_half, dimensions, made_of
from ptxaudit.engine.exec.cohorts import Cohort
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.effects import execute
from ptxaudit.engine.exec.running import NeedBlocks, Run
from ptxaudit.engine.memory.registers import View, fill, guard_mask
from ptxaudit.engine.ops.halves import PAIR, WORD, UpperHalf
from ptxaudit.ir.nodes import Op, Reg
from ptxaudit.ir.operands import opaque_load
from ptxaudit.ir.reasons import Kind, Reason

MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
MOST_SPLITS = 200  # splits of the rows at one comparison


class BlockIndices:
    """split: splits a cohort's rows, so that each has one side of its cuts."""

    def __init__(self, run: Run, warps: Warps, split: Callable[[Cohort, dict[int, tuple[int, list[int]]]], Cohort]):
        self.run, self.warps, self.split = run, warps, split

    def depends(self, op: Op) -> bool:
        if opaque_load(op) and not self.run.specified(op):
            return False
        values = self.run.registers.values
        for s in op.src:
            if isinstance(s, Reg):
                v = values.get(s.name)
                if isinstance(v, UpperHalf) and op.name.startswith("setp."):
                    v = v.whole
                if v is not None and v.terms and any(u.kind == "block" for u, _ in v.terms):
                    return True
        return False

    def execute(self, op: Op, cohort: Cohort, view: View, index: int) -> Cohort:
        """Executes an operation on a value with %ctaid: keeps it affine, splits the rows, or raises NeedBlocks."""
        if op.name.startswith("setp."):
            return self._compare(op, cohort, index)
        before = {u for s in op.src for u in block_terms(view.read(s))}
        execute(op, view, index)
        if op.name == "add3.carry":
            return cohort
        for d in op.dst:
            if d is None:
                continue
            after = view.read(d)
            if isinstance(after, UpperHalf) and not self.run.specified(op):
                continue
            derived = any(made_of(u, before) for u, _ in after.terms) or bool(after.terms) and self.run.specified(op)
            unknown = after.poison is not None or after.valid is not None and after.valid < min(after.bits, 32)
            if (derived or unknown) and self.run.allow_blocks:
                raise NeedBlocks(dimensions(before))
        return cohort

    def _compare(self, op: Op, cohort: Cohort, index: int) -> Cohort:
        """Executes a comparison with %ctaid in it: splits rows until every row's range decides it."""
        for _ in range(MOST_SPLITS):
            view = self.warps.view(cohort)
            a, b = (_of_the_active(_compared(view.read(s), op.bits), view.mask) for s in op.src)
            decided = self._decided(op, a, b, cohort)
            if decided is None:
                only = all(u.kind == "block" for v in (a, b) for u, _ in v.terms)
                if only and self.run.allow_blocks and a.poison is None and b.poison is None:
                    raise NeedBlocks(dimensions(block_terms(a) | block_terms(b)))
                break
            result, cuts = decided
            if result is not None:
                guard, undecided = guard_mask(view, op.guard)
                if undecided is not None:
                    result = opaque(1, Reason(Kind.GUARDED_COMPARISON, index))
                if op.dst[0] is not None:
                    view.write(op.dst[0], result, guard)
                return cohort
            cohort = self.split(cohort, {int(cohort.rows[at]): cut for at, cut in cuts.items()})
        execute(op, self.warps.view(cohort), index)
        return cohort

    def _decided(self, op: Op, a: Value, b: Value, cohort: Cohort) -> Decided:
        """`decide`, or `decide_half` of an upper half, which is its whole here, and a number."""
        relation, low, high = op.name.removeprefix("setp."), self.run.low[cohort.rows], self.run.high[cohort.rows]
        if a.bits == b.bits == op.bits:
            return decide(relation, a, b, low, high)
        if a.bits != PAIR:
            kind, _, sign = relation.partition(".")
            a, b, relation = b, a, f"{MIRRORED.get(kind, kind)}.{sign}"
        if a.bits != PAIR or a.poison is not None or not is_number(b) or b.base.size > 1:
            return None
        return decide_half(relation, a, int(b.base.flat[0]), low, high)


def _compared(value: Value, bits: int) -> Value:
    """The operand of a comparison; of the upper half of a value with block indices, the whole."""
    if bits == WORD and isinstance(value, UpperHalf) and block_terms(value.whole):
        return value.whole
    return affine.fit(value, bits)


def _of_the_active(value: Value, mask: np.ndarray) -> Value:
    """The value without unknown parts in inactive lanes."""
    lost = value.poison
    return value if lost is None or value.alternatives is not None or anywhere(lost & mask) else fill(value, mask)


def cut(
    first: np.ndarray, last: np.ndarray, cuts: dict[int, tuple[int, list[int]]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the row of which each new one is a copy, its first and its last block index).

    first, last: (rows, 3) as before; cuts: row -> a dimension, and the indices that begin a new side.
    """
    copied_from, low, high = [], [], []
    for row in range(len(first)):
        if row not in cuts:
            copied_from.append(row)
            low.append(first[row])
            high.append(last[row])
            continue
        d, points = cuts[row]
        edges = [int(first[row, d])] + points + [int(last[row, d]) + 1]
        for a, b in zip(edges, edges[1:]):
            l, h = first[row].copy(), last[row].copy()
            l[d], h[d] = a, b - 1
            copied_from.append(row)
            low.append(l)
            high.append(h)
    return np.array(copied_from), np.array(low), np.array(high)
