"""Variables of a module or function: their sizes, alignments and initial bytes.

    .const .align 4 .b8 tab[4] = {1, 2};     Variable("tab", "const", 4, 4, data=b"\\1\\2\\0\\0")
    .extern .shared .align 16 .b8 s[];       Variable("s", "shared", 0, 16)
    .global .u64 p = generic(tab);           data None: an address is unknown

Without an initialiser data is None too: the host may have written the variable.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import INITIAL
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import float_constant
from ptxaudit.frontend.ptx.folding import folded
from ptxaudit.frontend.ptx.scope import dimensions, shape_of
from ptxaudit.frontend.ptx.types import BYTE, TYPES
from ptxaudit.ir import nodes as ir

LOWEST_BYTE = 0xFF
ADDRESS_BYTES = 8
SHORT_ROW = (
    "the initial value of {} is skipped: a row before its last has too few elements, which the manual fills with zeros,"
    " and ptxas with the next row"
)


def variables(
    declaration: s.Variable, suffix: str = "", account: Account | None = None, refused: list[str] | None = None
) -> list[ir.Variable]:
    """The variables of a declaration in a state space.

    account: the budget of bytes for initial values; a value that exceeds it is left out, and a sentence about it is
    added to `refused`. Raises InputError for an invalid size.
    """
    shape = shape_of(declaration)
    space = declaration.space.lstrip(".").partition("[")[0].partition("::")[0]
    kind = TYPES[shape.type] if shape.type else TYPES["b32"]
    element = max(shape.bits // BYTE, 1)
    out = []
    for d in declaration.declarators:
        items = d.initial.items if isinstance(d.initial, s.Vector) else ()
        data: bytes | None = None
        names: tuple[tuple[int, str], ...] = ()
        around: bytes | None = None
        try:
            size = element * dimensions(d, len(items))
            if d.initial is not None and _short(d.initial, _extents(d, len(items))):
                names = tuple([(-1, name) for _, name in _names(d.initial, element)])
                if refused is not None:
                    refused.append(SHORT_ROW.format(d.name))
            elif d.initial is not None and kind.kind in "subf":
                if account is not None:
                    account.hold(size, f"the initial value of {d.name}")
                data = initial_bytes(d.initial, kind.kind, kind.bits, _extents(d, len(items)), size)
                if data is None and kind.kind in "sub":
                    names = tuple(_names(d.initial, element))
                    around = initial_bytes(
                        _without_names(d.initial), kind.kind, kind.bits, _extents(d, len(items)), size
                    )
        except Exhausted as spent:
            if refused is not None:
                refused.append(
                    f"{spent.what} is skipped: it has {size:,} bytes, but all of a file may have {spent.limit:,}"
                    f" (the limit `{INITIAL.name}`)"
                )
        except InputError as error:
            error.line = declaration.line
            raise
        out.append(
            ir.Variable(
                d.name + suffix, space, size, shape.align or element, None, data, functions=names, around=around
            )
        )
    return out


def _names(initial: s.Operand, element: int, offset: int = 0) -> Iterator[tuple[int, str]]:
    """(byte offset, name) of the symbols whose addresses occur in an initialiser with elements of `element` bytes.

    The offset is -1 if only a part of the address occurs.
    """
    if isinstance(initial, s.Name):
        yield offset if element == ADDRESS_BYTES else -1, initial.text
    elif isinstance(initial, s.Apply):
        yield from _names(initial.argument, element, offset)
    elif isinstance(initial, s.Mask | s.Binary):
        yield from ((-1, name) for part in _parts(initial) for _, name in _names(part, element, offset))
    elif isinstance(initial, s.Vector):
        items = initial.items
        for at, item in enumerate(items):
            whole = items[at : at + ADDRESS_BYTES]
            if (
                element == 1
                and isinstance(item, s.Mask)
                and isinstance(item.value, s.Name)
                and whole == _bytes_of(item.value)
            ):
                yield offset + at, item.value.text
            elif not (isinstance(item, s.Mask) and item.mask != LOWEST_BYTE and _follows(items, at)):
                yield from _names(item, element, offset + at * element)


def _parts(operand: s.Mask | s.Binary) -> tuple[s.Operand, ...]:
    return (operand.value,) if isinstance(operand, s.Mask) else (operand.left, operand.right)


def _bytes_of(name: s.Name) -> tuple[s.Mask, ...]:
    """`0xFF(f), 0xFF00(f), …`: all bytes of an address."""
    return tuple(s.Mask(LOWEST_BYTE << BYTE * k, name) for k in range(ADDRESS_BYTES))


def _follows(items: tuple[s.Operand, ...], at: int) -> bool:
    """Whether the item is a byte of an address whose bytes all occur here, in order."""
    item = items[at]
    assert isinstance(item, s.Mask)
    first = at - (item.mask.bit_length() - 1) // BYTE
    return (
        first >= 0 and isinstance(item.value, s.Name) and items[first : first + ADDRESS_BYTES] == _bytes_of(item.value)
    )


def _without_names(initial: s.Operand) -> s.Operand:
    """An initialiser with zeros for addresses."""
    if isinstance(initial, s.Vector):
        return s.Vector(tuple(_without_names(item) for item in initial.items))
    return s.Int(0) if isinstance(initial, s.Name | s.Apply | s.Mask) else initial


def with_functions(variable: ir.Variable, functions: dict[str, str]) -> ir.Variable:
    """A variable with only the functions among its symbols; the others are variables.

    functions: symbol -> the function that it refers to.
    """
    if not variable.functions:
        return replace(variable, around=None) if variable.around is not None else variable
    found = tuple((at, functions[name]) for at, name in variable.functions if name in functions)
    whole = len(found) == len(variable.functions) and all(at >= 0 for at, _ in found)
    points = len(found) < len(variable.functions)
    return replace(variable, functions=found, around=variable.around if whole else None, points=points)


def _extents(d: s.Declarator, items: int) -> list[int]:
    return [items if extent is None else folded(extent) or 0 for extent in d.dimensions]


def _short(initial: s.Operand, extents: list[int]) -> bool:
    """Whether a row before the last of its array has too few elements."""
    if not isinstance(initial, s.Vector) or len(extents) < 2 or not initial.items:
        return False
    *before, last = initial.items
    return not all(_full(item, extents[1:]) for item in before) or _short(last, extents[1:])


def _full(initial: s.Operand, extents: list[int]) -> bool:
    if not extents:
        return True
    return (
        isinstance(initial, s.Vector)
        and len(initial.items) == extents[0]
        and (len(extents) == 1 or all(_full(item, extents[1:]) for item in initial.items))
    )


def initial_bytes(initial: s.Operand, kind: str, bits: int, extents: list[int], size: int) -> bytes | None:
    """The bytes of an initialiser, padded with zeros; None if it contains addresses."""
    if isinstance(initial, s.Vector):
        inner = extents[1:]
        stride = bits // BYTE
        for extent in inner:
            stride *= extent
        if inner and stride * len(initial.items) > size:
            raise InputError(
                "an initial value has more elements than its variable", "is the PTX file complete and unmodified?"
            )
        if all(type(item) is s.Int for item in initial.items) and not inner:
            mask = (1 << bits) - 1
            data = b"".join(
                (item.value & mask).to_bytes(stride, "little") for item in initial.items if type(item) is s.Int
            )
            return data.ljust(size, b"\0")
        parts = []
        for item in initial.items:
            part = initial_bytes(item, kind, bits, inner, stride)
            if part is None:
                return None
            parts.append(part)
        return b"".join(parts).ljust(size, b"\0")
    if isinstance(initial, s.Float) and kind == "f":
        constant = float_constant(initial, bits)
        return (
            constant.value.to_bytes(bits // BYTE, "little").ljust(size, b"\0")
            if isinstance(constant, ir.Const)
            else None
        )
    number = folded(initial)
    if number is None:
        return None
    if kind == "f":
        code = {32: "<f", 64: "<d"}.get(bits)
        return struct.pack(code, number).ljust(size, b"\0") if code else None
    return (number & (1 << bits) - 1).to_bytes(bits // BYTE, "little").ljust(size, b"\0")
