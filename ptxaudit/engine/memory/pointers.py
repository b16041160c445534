"""Pointers to specified buffers, whose addresses are unknown unless a recording gives them.

ld.param.u64 p, [0]          p = the unknown ("param", 0, 64), a multiple of 256 that is not null
ld.global.u32 r, [p + 4·i]   the word at 4·i of the buffer that belongs to this unknown (`given.Given.located`)
shr.u64 r, p, 8              another unknown: what depends on the number of a pointer has no figure
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import POINTER_BYTES, POINTER_LIMIT, Uniform, Value, low_zeros, unknown
from ptxaudit.engine.memory.origins import LOWEST_POINTER
from ptxaudit.engine.ops.halves import PAIR, WORD, UpperHalf
from ptxaudit.frontend.launch.buffers import ALIGNMENT
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.symbols import NOTHING_SPECIFIED, Symbols, symbols_of
from ptxaudit.ir.nodes import Function

Key = tuple[Hashable, ...]
Pointers = Mapping[Key, int]  # the key of the unknown that a pointer is -> the invented address of its buffer
NO_POINTERS: Pointers = {}
Name = Callable[[int, int], str]  # offset, bytes -> the name of these bytes


class Seen(Record):
    """A launch as its code sees it: without the numbers of pointers to buffers at invented addresses.

    symbols: the contents that it specifies for variables, in constant memory without these numbers.
    """

    launch: Launch | None
    symbols: Symbols
    pointers: Pointers = field(default_factory=dict)


def seen(launch: Launch | None, function: Function) -> Seen:
    """The launch as the kernel sees it. Raises InputError for symbols that it does not have."""
    if launch is None:
        return Seen(None, NOTHING_SPECIFIED)
    symbols = symbols_of(launch, function)
    if not (launch.invents_addresses or symbols.variables):
        return Seen(launch, symbols)
    moved, without = launch.elsewhere(), launch.without_buffers()
    elsewhere = symbols_of(moved, function).constants
    found = dict(_between(("param",), launch.buffer(function)[0], moved.buffer(function)[0]))
    for name, content in symbols.constants.items():
        if content is not None and (other := elsewhere[name]) is not None:
            found |= _between(("symbol", name), content[0], other[0])
    real = {one.address for one in launch.specified_buffers if not one.invented}
    found |= {("global", name): address for name, (address, _) in symbols.variables.items() if address not in real}
    return Seen(without, Symbols(symbols_of(without, function).constants, symbols.variables), found)


def _between(where: Key, values: bytes, moved: bytes) -> Iterator[tuple[Key, int]]:
    """The pointers among bytes, from these bytes under two placements of the buffers."""
    at = 0
    while at < len(values):
        if values[at] != moved[at]:  # the lowest byte is the same
            start = at - 1
            yield (*where, start, PAIR), int.from_bytes(values[start : start + POINTER_BYTES], "little")
            at = start + POINTER_BYTES
        else:
            at += 1


def pointer(pointers: Pointers, name: Name, where: Key, offset: int, bits: int) -> Value | None:
    """The pointer at a byte offset, or one of its halves; None if there is none, or another part of one.

    where: what the keys of unknowns there begin with. name: gives the name of some bytes there.
    """
    start = offset if (*where, offset, PAIR) in pointers else offset - WORD // 8
    key = (*where, start, PAIR)
    if bits not in (WORD, PAIR) or key not in pointers or bits == PAIR and start != offset:
        return None
    zeros = low_zeros(ALIGNMENT)
    ends, named = (LOWEST_POINTER, POINTER_LIMIT), name(start, POINTER_BYTES)
    whole = Uniform(named, PAIR, zeros, *ends, "pointer", key, address=True, launch_wide=True)
    if bits == PAIR:
        return unknown(whole)
    half = Uniform(name(offset, WORD // 8), WORD, zeros, kind="parameter", key=(*where, offset, WORD), launch_wide=True)
    if start == offset:
        return unknown(half)
    upper = replace(half, zeros=0, low=LOWEST_POINTER >> WORD, high=POINTER_LIMIT >> WORD)
    return UpperHalf(unknown(whole), unknown(upper))
