"""Writes operations, under one guard, into registers of their own.

Writer("%t").compute("add", (a, b), 32)         add %t1@, a, b
"""

from __future__ import annotations

from typing import Any

from ptxaudit.ir import nodes as ir


class Writer:
    """ops: the operations written so far. stem: a unique prefix for the names of its registers."""

    def __init__(self, stem: str, guard: ir.Guard | None = None, ops: list[ir.Op] | None = None):
        self.stem, self.guard = stem, guard
        self.ops: list[ir.Op] = [] if ops is None else ops
        self.temporaries = 0

    def emit(
        self,
        name: str,
        dst: tuple[ir.Reg | None, ...] = (),
        src: tuple[ir.Operand, ...] = (),
        bits: int = 32,
        attrs: tuple[Any, ...] = (),
        space: str = "",
        offset: int = 0,
        read_only: bool = False,
        ordered: bool = False,
    ) -> None:
        self.ops.append(ir.Op(name, dst, src, bits, attrs, self.guard, space, offset, read_only, ordered))

    def temporary(self, bits: int) -> ir.Reg:
        """A register that only this instruction uses."""
        self.temporaries += 1
        return ir.Reg(f"{self.stem}{self.temporaries}@", bits)

    def compute(
        self, name: str, src: tuple[ir.Operand, ...], bits: int, attrs: tuple[Any, ...] = (), result: int | None = None
    ) -> ir.Reg:
        """Writes an operation into a temporary register of `result` bits (default: bits)."""
        register = self.temporary(bits if result is None else result)
        self.emit(name, (register,), src, bits, attrs)
        return register
