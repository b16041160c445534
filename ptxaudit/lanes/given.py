"""Memory whose content the launch tells: what a load from it yields, and when that can be trusted.

    params = [{file = "index.npy"}, …]      ld.global.u32 r, [index + 4·tid]   ->   r = the array's words

The bytes are what memory holds when the kernel starts. They are taken for a load that the code promises
to be of read-only memory (`ld.global.nc`, LDG.CONSTANT), and for any load from a buffer into which nothing
that the kernel writes can go. Where a store goes is told by the parameters that its address is made of:
a pointer to one buffer does not reach another (C++ [expr.add]: a pointer moves within its array), and a
pointer that is not told may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ir import Address, Const, Op, Reg, Unknown
from ..reasons import Kind
from ..work import INSTRUCTION, Account
from .value import DTYPES, Lost, Value, words_at

if TYPE_CHECKING:
    from ..graph import Graph
    from .env import Environment

POINTER_BYTES = 8
SPACES = ("global", "generic")
READ_ONLY = (".nc", ".CONSTANT")

# What may write global memory by other means than an address in a register that is followed.
_WRITERS = ("cp.async.bulk", "cp.reduce.async.bulk", "cp.tensor", "UTMASTG", "UTMAREDG", "UBLKRED", "UBLKCP", "SUST", "SURED", "sust", "sured",
            "multimem", "red.", "REDUX.")


@dataclass(frozen=True)
class Given:
    """buffers: (address, bytes as uint8), sorted. trusted: for each, whether nothing in the kernel may write it."""

    buffers: tuple[tuple[int, np.ndarray], ...]
    trusted: tuple[bool, ...]
    promised: frozenset[int]          # instructions whose loads are promised to be of read-only memory
    variables: dict[str, int]         # address of each variable of the module that is one of the buffers

    def load(self, address: Value, bits: int, index: int) -> Value | None:
        """What a load yields, lane by lane; None where it is of no told buffer in any lane."""
        if address.terms or address.valid is not None:
            return None
        places = address.base.astype(np.int64)
        out = np.zeros(places.shape, DTYPES[bits])
        found = np.zeros(places.shape, bool)
        changed = False
        for (start, data), trusted in zip(self.buffers, self.trusted):
            inside = (places >= start) & (places + bits // 8 <= start + len(data))
            if not inside.any():
                continue
            if not trusted and index not in self.promised:
                changed = True
                continue
            word = words_at(data, np.where(inside, places - start, 0), bits)
            out, found = np.where(inside, word, out), found | inside
        if not found.any():
            return Value(out, poison=np.ones((1, 1), bool), why=Lost(Kind.LOADED_WHERE_WRITTEN, index)) if changed else None
        poison = ~found if address.poison is None else ~found | address.poison
        poison = poison if poison.any() else None
        return Value(out, poison=poison, why=None if poison is None else Lost(Kind.LOADED_OUTSIDE, index))


def given(graph: Graph, env: Environment, pointed, variables, account: Account) -> Given:
    """What the launch tells of memory, with what the kernel may change of it. Raises Exhausted where the account does not pay for it.

    pointed: (address, bytes) of each buffer that a pointer points to; variables: name -> the same, of variables of the module.
    """
    instructions = graph.function.instructions
    buffers = tuple(sorted((*pointed, *variables.values()), key=lambda buffer: buffer[0]))
    places = {name: address for name, (address, _) in variables.items()}
    written = _written(graph, env, buffers, places, account)
    promised = frozenset(i.index for i in instructions if any(mark in i.opcode for mark in READ_ONLY))
    return Given(buffers, tuple(at not in written for at in range(len(buffers))), promised, places)


def _written(graph: Graph, env: Environment, buffers, variables, account: Account) -> set[int]:
    """Positions of the buffers that something in the kernel may write."""
    everything = set(range(len(buffers)))
    out: set[int] = set()
    for instruction in graph.function.instructions:
        if graph.block_of[instruction.index] not in graph.reachable:
            continue
        control = instruction.control
        if control is not None and control.kind == "call" and not control.targets:
            return everything
        if instruction.opcode.startswith(_WRITERS) and not instruction.opcode.startswith("cp.async.bulk.commit"):
            return everything
        for op in instruction.ops:
            if op.name in ("store", "atom") and op.space in SPACES:
                reached = _reached(graph, env, instruction.index, op, buffers, variables, account)
                if reached is None:
                    return everything
                out |= reached
    return out


def _reached(graph: Graph, env: Environment, index: int, op: Op, buffers, variables, account: Account) -> set[int] | None:
    """The buffers whose pointers an address is made of; None where it is made of a pointer that is not told."""
    named = lambda a: {at for at, (begin, _) in enumerate(buffers) if begin == variables.get(a.name)}
    if op.src and isinstance(op.src[0], Address):
        return named(op.src[0])
    if not op.src or not isinstance(op.src[0], Reg):
        return None
    instructions = graph.function.instructions
    reached: set[int] = set()
    asked: set[tuple[int, int]] = set()
    work = list(definitions(graph, op.src[0].name, index, instructions[index].ops.index(op)))
    while work:
        definition, position = work.pop()
        if (definition, position) in asked:
            continue
        asked.add((definition, position))
        account.spend(INSTRUCTION, "looking at what writes the told buffers")
        source = instructions[definition].ops[position]
        if source.name == "load":
            found = _pointer(env, source, buffers)
            if found is None:
                return None
            reached |= found
        elif source.name in ("atom", "call") or any(isinstance(s, Unknown) for s in source.src):
            return None
        else:
            for s in source.src:
                if isinstance(s, Address):
                    reached |= named(s)
                elif isinstance(s, Reg):
                    work += definitions(graph, s.name, definition, position)
    return reached


def definitions(graph: Graph, name: str, index: int, position: int) -> Iterator[tuple[int, int]]:
    """(instruction, operation) of what may have written a register that the operation at `position` reads."""
    instructions = graph.function.instructions
    writes = lambda op: any(d is not None and d.name == name for d in op.dst)
    own = [k for k, op in enumerate(instructions[index].ops[:position]) if writes(op)]
    yield from ((index, k) for k in own)
    if any(instructions[index].ops[k].guard is None for k in own):
        return                                          # a temporary of the instruction
    for definition in graph.reaching(name, index):
        yield from ((definition, k) for k, op in enumerate(instructions[definition].ops) if writes(op))


def _pointer(env: Environment, load: Op, buffers) -> set[int] | None:
    """The buffers that a loaded value may point into: {} for a number, None for a pointer that is not told."""
    if load.space != "param":
        wide = (load.attrs[0] if load.attrs else load.bits) * len(load.dst)
        return None if load.space == "local" or wide >= 8 * POINTER_BYTES else set()
    address = load.src[0]
    if not isinstance(address, (Const, Address)):
        return None
    offset = (address.value if isinstance(address, Const) else address.offset) + load.offset
    parameter = next((p for p in env.function.parameters if p.offset <= offset < p.offset + p.size), None)
    if parameter is None or parameter.size < POINTER_BYTES:
        return set()
    start = parameter.offset + (offset - parameter.offset) // POINTER_BYTES * POINTER_BYTES
    told = env.param_known[start:start + POINTER_BYTES]
    if len(told) < POINTER_BYTES or not all(told):
        return None
    number = int.from_bytes(env.param_bytes[start:start + POINTER_BYTES], "little")
    return {at for at, (begin, data) in enumerate(buffers) if begin <= number <= begin + len(data)}
