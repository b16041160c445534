"""One protocol for every state space: the result of a load, and the effect of a store.

    ld.const.v2.u32 {a, b}, [r + 8]     two elements of 32 bits, at r + 8 and r + 12 in each lane

A `Memory` holds some locations; `otherwise` provides the others (`state_spaces` lists the memories that an access may
refer to, in the order in which they are queried). A memory that only the host writes ignores stores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import DTYPES, Value, constant
from ptxaudit.engine.memory.registers import Guarded, Results, View, active_lanes
from ptxaudit.ir.nodes import Op

Otherwise = Callable[[], Results]


class Reference:
    """An access of one instruction to memory, as its lanes see it.

    address: of the first element; bits: of an element in memory; signed: it is sign-extended into a register.
    guard: the lanes in which the operation acts, None: all active ones. certain: these are known; else any of them
        may act.
    """

    __slots__ = ("op", "view", "index", "guard", "certain", "bits", "signed", "_address")

    def __init__(self, op: Op, view: View, index: int, guard: Guarded, certain: bool = True):
        self.op, self.view, self.index, self.guard, self.certain = op, view, index, guard, certain
        self.bits, self.signed = op.element
        self._address: Value | None = None

    @property
    def address(self) -> Value:
        if self._address is None:
            base = self.view.read(self.op.src[0]) if self.op.src else constant(0, 64)
            self._address = affine.add(base, constant(self.op.offset, base.bits)) if self.op.offset else base
        return self._address

    @property
    def active(self) -> np.ndarray:
        """(rows, LANES) the lanes that perform the access, or may."""
        return active_lanes(self.view, self.guard)

    def place(self, k: int) -> Value:
        """The address of element k."""
        return affine.add(self.address, constant(k * self.bits // 8, self.address.bits)) if k else self.address

    @property
    def register_bits(self) -> int:
        """The width of the registers into which elements are loaded.

        It is the element's own width if there are none, or if they are wider than any width that is tracked.
        """
        bits = max((d.bits for d in self.op.dst if d is not None), default=self.bits)
        return bits if self.bits <= bits and bits in DTYPES else self.bits

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest element, as a register holds it."""
        return (-1 << self.bits - 1, (1 << self.bits - 1) - 1) if self.signed else (0, (1 << self.bits) - 1)

    def extended(self, value: Value, k: int) -> Value:
        """The content of the register into which element k is loaded."""
        register = self.op.dst[k]
        bits = self.bits if register is None else register.bits
        if value.bits == bits or bits not in DTYPES:  # the contents of 128-bit registers are not tracked
            return value
        return affine.sign_extend(value, bits) if self.signed else affine.fit(value, bits)

    def elements(self, element: Callable[[Value], Value | None], otherwise: Otherwise) -> Results:
        """The contents of registers after a load. element: the content at an address; None: not in this memory."""
        if self.bits not in DTYPES:
            return otherwise()
        found = [element(self.place(k)) for k in range(len(self.op.dst))]
        rest = otherwise() if any(value is None for value in found) else ()
        return tuple([rest[k] if value is None else self.extended(value, k) for k, value in enumerate(found)])

    def stored(self) -> list[Value] | None:
        """The elements that a store writes; None if they are wider than any width that is tracked."""
        if self.bits not in DTYPES:
            return None
        return [affine.fit(self.view.read(source), self.bits) for source in self.op.src[1:]]


class ReadOnly:
    """A memory that only the host writes."""

    def store(self, at: Reference) -> None:
        """Does nothing: a kernel cannot write it."""


class Memory(Protocol):
    """The contents of a state space, or of some of its locations."""

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        """The contents of registers after a load. otherwise: the same without this memory."""

    def store(self, at: Reference) -> Results | None:
        """Performs a store that is, or may be, executed; returns the results of an atomic operation, if known here."""
