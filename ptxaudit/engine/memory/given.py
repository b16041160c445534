"""Memory whose content the launch tells: what a load from it yields, and when that can be trusted.

    params = [{file = "index.npy"}, …]      ld.global.u32 r, [index + 4·tid]   ->   r = the array's words

The bytes are what memory holds when the kernel starts. They are taken for a load that the code promises
to be of read-only memory (`ld.global.nc`, LDG.CONSTANT), and for any load from a buffer into which nothing
that the kernel writes can go. Where a store goes is specified by the pointers that its address is made of (`origins`):
a pointer to one buffer does not reach another (C++ [expr.add]: a pointer moves within its array), which the report
lists as assumed; a pointer that is not specified, and an address that no pointer is seen in, may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.engine.domain.value import DTYPES, Value, words_at
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.operands import promised
from ptxaudit.ir.reasons import Kind, Reason

if TYPE_CHECKING:
    from ptxaudit.engine.memory.origins import Origins
    from ptxaudit.ir.graph import Graph

SPACES = ("global", "generic")


class Given(Record):
    """buffers: (address, bytes as uint8), sorted. trusted: for each, whether nothing in the kernel may write it.
    writes: something in it is written through a pointer; taken: buffers, by position, of which a load took what the
    launch tells."""

    buffers: tuple[tuple[int, np.ndarray], ...]
    trusted: tuple[bool, ...]
    promised: frozenset[int]  # instructions whose loads are promised to be of read-only memory
    variables: dict[str, int]  # address of each variable of the module that is one of the buffers
    writes: bool = False
    taken: set[int] = field(default_factory=set)

    def sentences(self) -> tuple[str, ...]:
        """What the answers rest on, for the report."""
        return (ASSUMED,) if self.writes and self.taken else ()

    def load(self, address: Value, bits: int, index: int) -> Value | None:
        """What a load yields, lane by lane; None where it is of no specified buffer in any lane."""
        if address.terms or address.valid is not None:
            return None
        places = address.base.astype(np.int64)
        out = np.zeros(places.shape, DTYPES[bits])
        found = np.zeros(places.shape, bool)
        changed = False
        for at, ((start, data), trusted) in enumerate(zip(self.buffers, self.trusted)):
            inside = (places >= start) & (places + bits // 8 <= start + len(data))
            if not inside.any():
                continue
            if not trusted and index not in self.promised:
                changed = True
                continue
            self.taken.update([] if index in self.promised else [at])
            word = words_at(data, np.where(inside, places - start, 0), bits)
            out, found = np.where(inside, word, out), found | inside
        if not found.any():
            return (
                Value(out, poison=np.ones((1, 1), bool), why=Reason(Kind.LOADED_WHERE_WRITTEN, index))
                if changed
                else None
            )
        poison = ~found if address.poison is None else ~found | address.poison
        poison = poison if poison.any() else None
        return Value(out, poison=poison, why=None if poison is None else Reason(Kind.LOADED_OUTSIDE, index))


ASSUMED = "what is written through a specified pointer, or to a variable, stays within the buffer that it points to"


def given(
    graph: Graph,
    origins: Origins,
    pointed: Iterable[tuple[int, np.ndarray]],
    variables: Mapping[str, tuple[int, np.ndarray]],
) -> Given:
    """What the launch tells of memory, with what the kernel may change of it.

    origins: of the kernel's addresses under this launch. pointed: (address, bytes) of each buffer that a pointer points
    to; variables: name -> the same, of variables of the module.
    """
    instructions = graph.function.instructions
    buffers = tuple(sorted((*pointed, *variables.values()), key=lambda buffer: buffer[0]))
    places = {name: address for name, (address, _) in variables.items()}
    written, pointers = _written(graph, origins, buffers, places)
    read_only = frozenset(i.index for i in instructions if promised(i))
    return Given(buffers, tuple(at not in written for at in range(len(buffers))), read_only, places, pointers)


def _written(
    graph: Graph, origins: Origins, buffers: Sequence[tuple[int, np.ndarray]], variables: Mapping[str, int]
) -> tuple[set[int], bool]:
    """(positions of the buffers that something in the kernel may write, whether it writes through pointers at all)."""
    everything = set(range(len(buffers))), True
    out: set[int] = set()
    pointers = False
    for instruction in graph.function.instructions:
        if graph.block_of[instruction.index] not in graph.reachable:
            continue
        control = instruction.control
        if (
            control is not None and control.kind in ("call", "switch") and not control.targets
        ):  # to code that is not seen
            return everything
        for op in instruction.ops:
            if op.name == "clobber" and op.space in SPACES:
                return everything
            if op.name in ("store", "atom") and op.space in SPACES:
                reached = _reached(origins, instruction.index, op, buffers, variables)
                if reached is None:
                    return everything
                out |= reached
                pointers = True
    return out, pointers


def _reached(
    origins: Origins, index: int, op: Op, buffers: Sequence[tuple[int, np.ndarray]], variables: Mapping[str, int]
) -> set[int] | None:
    """The buffers that an address may point into; None where it is not known what it points to."""
    bases = origins.bases(index, op)
    if bases is None:
        return None
    reached: set[int] = set()
    for base in bases:
        if base.kind == "window":
            continue
        number = variables.get(base.key) if base.kind == "variable" else origins.specified(base)
        if number is None and base.kind == "parameter":
            return None
        reached |= {
            at
            for at, (begin, data) in enumerate(buffers)
            if number is not None and begin <= number <= begin + len(data)
        }
    return reached
