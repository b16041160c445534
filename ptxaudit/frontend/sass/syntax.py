"""The operands of machine instructions, as written.

R4.H0_H0            Register("R", 4, suffixes=("H0_H0",))     ("reuse", a cache hint, is dropped)
-|R7|               Register("R", 7, negated=True, absolute=True)
!UP2                Register("UP", 2, negated=True)
0x3f, -INF, 1.5     Number("0x3f"), Number("INF", negated=True), Number("1.5")
c[0x0][R2+0x210]    Memory("c", brackets=((Number("0x0"),), (Register("R", 2), Number("0x210"))))
desc[UR4][R2.64]    Memory("desc", brackets=((Register("UR", 4),), (Register("R", 2, suffixes=("64",)),)))
SR_TID.X, SB0, PR   Word("SR_TID.X"), Word("SB0"), Word("PR")
{3,2,1}             Word("{3,2,1}")
R2 -0x170           Jump(Register("R", 2), -0x170)
"""

from __future__ import annotations

from typing import ClassVar

from ptxaudit.base.records import Record

ZERO = -1  # the number of RZ, URZ, PT and UPT


class Register(Record):
    """kind: "R" | "UR" | "P" | "UP"; number: ZERO for RZ/PT. negated: - or !; inverted: ~."""

    kind: str
    number: int
    suffixes: tuple[str, ...] = ()
    negated: bool = False
    absolute: bool = False
    inverted: bool = False

    @property
    def is_zero(self) -> bool:
        return self.number == ZERO

    @property
    def is_predicate(self) -> bool:
        return self.kind in ("P", "UP")

    @property
    def is_uniform(self) -> bool:
        return self.kind in ("UR", "UP")


class Number(Record):
    """A literal by its text without sign: hexadecimal, decimal, INF, QNAN, SNAN."""

    is_zero: ClassVar[bool] = False  # as for a register: RZ or PT
    is_predicate: ClassVar[bool] = False
    suffixes: ClassVar[tuple[str, ...]] = ()

    text: str
    negated: bool = False
    absolute: bool = False
    inverted: bool = False

    @property
    def is_integer(self) -> bool:
        return self.text.startswith("0x") or self.text.isdigit()

    @property
    def value(self) -> int:
        """The integer, with its sign. Raises ValueError for floats."""
        number = int(self.text, 0)
        return -number if self.negated else number


class Word(Record):
    """A name that is not a numbered register: SR_TID.X, SRZ, B0, SB0, PR, 2D."""

    is_zero: ClassVar[bool] = False
    is_predicate: ClassVar[bool] = False
    suffixes: ClassVar[tuple[str, ...]] = ()

    text: str
    negated: bool = False
    absolute: bool = False
    inverted: bool = False


Term = Register | Number | Word


class Memory(Record):
    """A bracketed operand. name: "" | "c" | "cx" | "desc" | "gdesc" | "tmem" | "a" …; one sum per bracket."""

    is_zero: ClassVar[bool] = False
    is_predicate: ClassVar[bool] = False

    name: str
    brackets: tuple[tuple[Term, ...], ...]
    suffixes: tuple[str, ...] = ()
    negated: bool = False
    absolute: bool = False
    inverted: bool = False

    @property
    def is_constant(self) -> bool:
        return self.name in ("c", "cx")


class Jump(Record):
    """A register plus a displacement in bytes, of indirect branches and returns."""

    is_zero: ClassVar[bool] = False
    is_predicate: ClassVar[bool] = False
    suffixes: ClassVar[tuple[str, ...]] = ()
    negated: ClassVar[bool] = False
    absolute: ClassVar[bool] = False
    inverted: ClassVar[bool] = False

    register: Register
    offset: int


Operand = Register | Number | Word | Memory | Jump
