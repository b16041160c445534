"""The contents of constant memory: the initial values in the file, and values that the launch specifies.

    __constant__ int table[8] = {…};      ld.const.u32 r, [table + 4·i]   ->   r = the table's words

The host may write a `__constant__` variable before the launch (cudaMemcpyToSymbol). A load that takes the file's
value is therefore recorded, so that the report can list it as an assumption; a value that the launch specifies takes
precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from ptxaudit.base.demangle import demangle
from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import DTYPES, Uniform, Value, unknown, words_at
from ptxaudit.engine.memory.pointers import NO_POINTERS, Pointers, pointer
from ptxaudit.ir.nodes import Variable
from ptxaudit.ir.reasons import Kind, Reason

if TYPE_CHECKING:
    from ptxaudit.ir.nodes import Function


class _Table(Record):
    """The bytes of a variable. known: specified by the file or the launch; specified: by the launch."""

    variable: Variable
    content: np.ndarray  # uint8
    known: np.ndarray  # bool
    specified: np.ndarray


class Constants(Struct, eq=False):
    """The contents of the variables of one kernel in constant memory.

    assumed: names of the variables of which a load took the file's value.
    """

    variables: tuple[Variable, ...]
    tables: dict[tuple[str, str], _Table]  # (space, name) -> its known contents
    assumed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, function: Function, symbols: Mapping[str, tuple[bytes, bytes] | None]) -> Constants:
        """The constants of a function.

        symbols: name of a variable -> what the launch specifies: its first bytes, and for each a byte that is 1 if it
        is known; None: the variable is unknown.
        """
        variables = tuple(v for v in function.variables if v.space.startswith("const"))
        return cls(
            variables, {(v.space, v.name): table for v in variables if (table := _table(v, symbols)) is not None}
        )

    def load(self, space: str, address: Value, bits: int, pointers: Pointers = NO_POINTERS) -> Value | None:
        """The result of a load, lane by lane; None if it is unknown in every lane.

        pointers: to specified buffers, among these constants.
        """
        variables = self._named_by(space, address)
        if not variables:
            return None
        loaded = self._loaded([t for v in variables if (t := self.tables.get((v.space, v.name)))], address.base, bits)
        return self._identity(variables, address.base, bits, pointers) if loaded is None else loaded

    def _named_by(self, space: str, address: Value) -> list[Variable]:
        """The variables that an address may refer to; its base is then the offset from the variable or in the bank."""
        if address.poison is not None or address.valid is not None or len(address.terms) > 1:
            return []
        if not address.terms:
            return [v for v in self.variables if v.space == space and v.address is not None]
        symbol, factor = address.terms[0]
        if not (factor == 1).all() or symbol.kind != "variable":
            return []
        return [v for v in self.variables if symbol.key == ("const", v.name)]

    def _identity(self, variables: list[Variable], base: np.ndarray, bits: int, pointers: Pointers) -> Value | None:
        """A number that the host has written: an unknown that a launch can specify, the same in all blocks."""
        if base.size > 1 and (base != base.flat[0]).any():
            return None
        for v in variables:
            start = int(base.flat[0]) - (v.address or 0)
            if v.rewritable and 0 <= start <= v.size - bits // 8:
                key = "symbol", v.name, start, bits
                if pointers and (found := pointer(pointers, partial(_name, v), key[:2], start, bits)) is not None:
                    return found
                name = _name(v, start, bits // 8)
                return unknown(Uniform(name, bits, kind="symbol", key=key, launch_wide=True))
        return None

    def _loaded(self, tables: list[_Table], base: np.ndarray, bits: int) -> Value | None:
        places, size = base.astype(np.int64), bits // 8
        out = np.zeros(places.shape, DTYPES[bits])
        found = np.zeros(places.shape, bool)
        for table in tables:
            index = places - (table.variable.address or 0)
            inside = (index >= 0) & (index + size <= len(table.content))
            at = np.where(inside, index, 0)
            inside &= _whole(table.known, at, size)
            if not inside.any():
                continue
            out, found = np.where(inside, words_at(table.content, at, bits), out), found | inside
            if table.variable.rewritable and not _whole(table.specified, at, size)[inside].all():
                self.assumed.add(table.variable.name)
        if not found.any():
            return None
        poison = None if found.all() else ~found
        return Value(out, poison=poison, why=None if poison is None else Reason(Kind.CONSTANT_MEMORY))

    def sentences(self) -> tuple[str, ...]:
        """The assumptions of the answers, for the report."""
        names = sorted(demangle(name) for name in self.assumed)
        if not names:
            return ()
        hold = "holds what the file gives it" if len(names) == 1 else "hold what the file gives them"
        return (f"constant memory: {', '.join(names)} {hold}, the host writes nothing else there before the launch",)


def _name(variable: Variable, start: int, size: int) -> str:
    """The name of some bytes of a variable."""
    return demangle(variable.name) + ("" if size == variable.size else f"[{start}:{start + size}]")


def _whole(marks: np.ndarray, at: np.ndarray, size: int) -> np.ndarray:
    """Whether all of the `size` bytes at each offset are marked."""
    result: np.ndarray = np.logical_and.reduce([marks[np.minimum(at + k, len(marks) - 1)] for k in range(size)])
    return result


def _table(variable: Variable, symbols: Mapping[str, tuple[bytes, bytes] | None]) -> _Table | None:
    stated = symbols.get(variable.name, (b"", b""))
    initial = variable.data or b""
    if stated is None or not (initial or stated[0]):
        return None
    specified = np.zeros(max(len(initial), len(stated[0])), bool)
    specified[: len(stated[1])] = np.frombuffer(stated[1], bool)
    known = specified.copy()
    known[len(stated[0]) :] = True  # by the file
    return _Table(variable, np.frombuffer(stated[0] + initial[len(stated[0]) :], np.uint8), known, specified)
