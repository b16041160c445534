"""The accesses that depend on the numbers of pointers to specified buffers: a taint analysis.

    ld.global [p + 4 * i]               p stays a pointer
    {lo, hi} = p; lo += x, carry        its halves, and the carry into the upper one
    and r, p, 15                        no number: p is a multiple of 256, so its low byte is known
    setp.ne q, p, 0                     no number: no pointer to a buffer is null
    shr r, p, 8; setp p, end; q - p     the number of p: results, branches, stored data and accesses are tainted

A specified buffer has an invented address (`frontend.launch.buffers`). What an access without taint costs does not
depend on it; for the others, `answer.placements` gives the answer that holds without the buffers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.engine.memory.read_from import definitions
from ptxaudit.engine.memory.windows import makes_addresses_of
from ptxaudit.engine.ops.halves import PAIR, WORD
from ptxaudit.engine.ops.row import Origin
from ptxaudit.engine.ops.table import OPS
from ptxaudit.ir.dataflow.solve import reached, solve
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import COPY_ASYNC, Address, Const, Instruction, Op, Operand, Reg, Site
from ptxaudit.ir.operands import WRITES, control_reads, guard_reads

FOLLOWING = "following pointers to specified buffers"
KNOWN_BITS = 8  # low bits of a pointer: it is a multiple of `buffers.ALIGNMENT`
_CONVERSIONS = ("cvta", "cvta.to")
_ACCESSES = ("load", *WRITES)
_MEMORIES = frozenset(("local", "shared", "global"))  # "global": what atomic operations return
_STORED = ("local", "shared", "shared::cluster", "generic")  # what is stored there may be loaded again
_GOES_ON = ("branch", "switch", "exit", "barrier")  # control whose guard decides no more than where lanes go


class Part(Enum):
    """What of a pointer a value is: all of it, a half, or the carry into its upper half; also with numbers added.

    NUMBER: it depends on the number of a pointer in another way. FALSE, TRUE: a pointer compared with 0. OTHER: or it
    is a value that does not depend on any pointer.
    """

    WHOLE, LOW, HIGH, CARRY, NUMBER, FALSE, TRUE, OTHER = range(8)


Parts = frozenset[Part]
NONE: Parts = frozenset()
_WHOLE, _LOW, _HIGH, _CARRY, _NUMBER, _FALSE, _TRUE, _OTHER = (frozenset((part,)) for part in Part)
_HALVES = _LOW | _HIGH
_UNTAINTED = _FALSE | _TRUE | _OTHER
Node = tuple[int, int]  # instruction, position of its operation
# An element in a memory: its state space, its bits, and which half of 8 aligned bytes it is (None: any).
Word = tuple[str, int, int | None]


class Pointers(Record):
    """Where a kernel reads pointers whose numbers are invented.

    parameters: their byte offsets; constants: whether any is in constant memory; variables: those of the module whose
    own addresses are invented.
    """

    parameters: frozenset[int] = frozenset()
    constants: bool = False
    variables: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.parameters or self.constants or self.variables)


def tainted(graph: Graph, origins: Origins, pointers: Pointers, account: Account | None = None) -> frozenset[int]:
    """The accesses (instructions) that may depend on the numbers of these pointers.

    account: pays for it. Raises Exhausted.
    """
    return _Flow(graph, origins, pointers, account).accesses() if pointers else frozenset()


class _Flow:
    """The parts of pointers in the results of operations, as the least fixed point."""

    def __init__(self, graph: Graph, origins: Origins, pointers: Pointers, account: Account | None) -> None:
        self.graph, self.origins, self.pointers, self.account = graph, origins, pointers, account
        self.instructions = [i for i in graph.function.instructions if graph.block_of[i.index] in graph.reachable]
        self.by_address = bool(pointers.parameters) and makes_addresses_of(graph.function, "param")
        self.stores = False  # a part of a pointer may be stored where it may be loaded again
        self.names = self._names()
        self.results: dict[Node, tuple[Parts, ...]] = {}
        self.stored: dict[Word, Parts] = {}  # in memory from which it may be loaded again
        self.controlled: set[int] = set()  # blocks whose execution depends on a number
        self._read: dict[tuple[Node, str], tuple[Node, ...]] = {}

    def accesses(self) -> frozenset[int]:
        every = frozenset(self.graph.sites())
        order = [(i.index, k) for i in self.instructions for k, op in enumerate(i.ops) if self._concerns(op)]
        before: object = None
        while before != (before := (len(self.controlled), dict(self.stored))):
            if not self._follow(order):
                return every
        return frozenset(i.index for i in self.instructions if i.site is not None and self._is_tainted(i, i.site))

    def _follow(self, order: list[Node]) -> bool:
        """Computes the fixed point for the blocks that are controlled so far, and the blocks that are then.

        False: lanes may be diverged anywhere, as a number decides how they reconverge.
        """
        if self.controlled:  # whatever is computed there is tainted, and what follows from it
            self.names.update(d.name for i in self.instructions for op in i.ops for d in op.dst if d is not None)
            order = [(i.index, k) for i in self.instructions for k in range(len(i.ops))]
        self.results = {node: self.results.get(node, (NONE,) * len(self._op(node).dst)) for node in order}
        readers: dict[Node, list[Node]] = defaultdict(list)
        for node in order:
            for register in self._registers(self._op(node)):
                for definition in self._definitions(node, register):
                    readers[definition].append(node)
        solve(self.results, self._transfer, readers, order)
        return self._control()

    def _control(self) -> bool:
        parting = self.graph.divergence.parting if self.graph.divergence is not None else frozenset[int]()
        deciding = set[int]()
        for i in self.instructions:
            after = i.index, len(i.ops)
            if i.control is None or not any(self._parts(r, after) - _UNTAINTED for r in control_reads(i)):
                continue
            if i.control.kind not in _GOES_ON or i.control.kind == "barrier" or i.index in parting:
                return False
            deciding.add(self.graph.block_of[i.index])
        follow: dict[int, list[int]] = defaultdict(list)
        for block, controllers in self.graph.controllers.items():
            for one in controllers:
                follow[one].append(block)
        self.controlled |= reached(
            [block for one in deciding for block in follow[one]], lambda block: follow.get(block, ())
        )
        return True

    def _is_tainted(self, instruction: Instruction, site: Site) -> bool:
        ops = instruction.ops
        at = instruction.index, next((k for k, op in enumerate(ops) if op.name in _ACCESSES), len(ops))
        if self.graph.block_of[instruction.index] in self.controlled:
            return True
        if any(self._parts(part, at) - _UNTAINTED for part in (*guard_reads(instruction), site.source_size)):
            return True
        places = [(site.space, site.address), ("global", site.source)]
        return any(
            (parts := self._parts(place, at)) and not self._is_pointer(space, place, parts, at)
            for space, place in places
            if place is not None
        )

    # --- what may contain a part of a pointer ---

    def _names(self) -> set[str]:
        """Registers to which a part of a pointer may flow, whatever the order of the operations."""
        ops = [op for i in self.instructions for op in i.ops]
        readers: dict[str, list[Op]] = defaultdict(list)
        for op in ops:
            self._spend()
            for register in self._registers(op):
                readers[register].append(op)
        names, work = set[str](), [op for op in ops if self._begins(op)]
        while work:
            op = work.pop()
            if op.name in WRITES and op.space in _STORED and not self.stores:
                self.stores = True
                work += [other for other in ops if other.name in ("load", "atom") and other.space in _STORED]
            for d in op.dst:
                if d is not None and d.name not in names:
                    names.add(d.name)
                    work += readers.pop(d.name, ())
        return names

    def _spend(self) -> None:
        if self.account is not None:
            self.account.spend(INSTRUCTION, FOLLOWING)

    def _begins(self, op: Op) -> bool:
        """Whether an operation may yield a pointer from no register."""
        if any(type(source) is Address and source.name in self.pointers.variables for source in op.src):
            return True
        return op.name in ("load", "atom") and (
            op.space in ("param", "generic")
            and bool(self.pointers.parameters)
            or self.pointers.constants
            and op.space.startswith("const")
            or self.stores
            and op.space in _STORED
        )

    def _registers(self, op: Op) -> Iterator[str]:
        yield from (source.name for source in op.src if type(source) is Reg)
        if op.guard is not None:
            yield op.guard.reg.name

    def _concerns(self, op: Op) -> bool:
        return self._begins(op) or any(r in self.names for r in self._registers(op))

    def _op(self, node: Node) -> Op:
        return self.graph.function.instructions[node[0]].ops[node[1]]

    def _definitions(self, node: Node, register: str) -> tuple[Node, ...]:
        if register not in self.names:
            return ()
        if (node, register) not in self._read:
            self._read[node, register] = tuple(definitions(self.graph, register, *node))
        return self._read[node, register]

    def _parts(self, source: Operand | None, node: Node) -> Parts:
        """The parts of pointers that an operand may be, as the operation reads it."""
        if type(source) is Address and source.name in self.pointers.variables:
            return _WHOLE if source.bits == PAIR else _HALVES
        if type(source) is not Reg:
            return NONE
        found = []
        for definition in self._definitions(node, source.name):
            op, results = self._op(definition), self.results.get(definition, ())
            found.append(NONE.union(*(of for d, of in zip(op.dst, results) if d and d.name == source.name)))
        return _either(found)

    # --- transfer functions ---

    def _transfer(self, node: Node) -> tuple[Parts, ...]:
        self._spend()
        op = self._op(node)
        sources = [self._parts(source, node) for source in op.src]
        decided = op.guard is not None and bool(self._parts(op.guard.reg, node) - _UNTAINTED)
        decided = decided or self.graph.block_of[node[0]] in self.controlled
        if op.name in _ACCESSES:
            results = self._accessed(op, node, sources, decided)
        elif any(sources):
            results = _computed(op, sources)[: len(op.dst)]
        else:
            results = (NONE,) * len(op.dst)
        return tuple(parts | _NUMBER for parts in results) if decided else results

    def _accessed(self, op: Op, node: Node, sources: list[Parts], decided: bool) -> tuple[Parts, ...]:
        """Of an access to memory. decided: whether it is made depends on a number."""
        astray = bool(sources and sources[0]) and not self._is_pointer(op.space, op.src[0], sources[0], node)
        memories = self._memories(op, node)
        if op.name in WRITES and memories:
            data = sources[1:]
            if op.name == COPY_ASYNC:  # bytes that a pointer points to
                data = [_NUMBER if s and not self._is_pointer("global", op.src[1], s, node) else NONE for s in data]
            for k, parts in enumerate(data):
                whole = parts | (_NUMBER if astray or decided or parts and op.name != "store" else NONE)
                for memory in memories if whole else ():
                    word = memory, *_word(op, len(op.src) - 1, k)
                    self.stored[word] = self.stored.get(word, NONE) | whole
        if op.name not in ("load", "atom"):
            return (NONE,) * len(op.dst)
        loaded = tuple(self._of_memory(op, node, at) for at in range(len(op.dst)))
        return tuple(parts | _NUMBER for parts in loaded) if astray else loaded

    def _memories(self, op: Op, node: Node) -> frozenset[str]:
        """The memories that an access may refer to, of those in which parts of pointers are traced."""
        if op.space == "global":
            return frozenset(("global",)) if op.name == "atom" else frozenset()
        if op.space != "generic":
            return frozenset((op.space.partition("::")[0],)) & _MEMORIES
        spaces = self.origins.spaces(op.src[0], *node)
        return (_MEMORIES if spaces is None else spaces) & (_MEMORIES if op.name == "atom" else _MEMORIES - {"global"})

    def _is_pointer(self, space: str, address: Operand, parts: Parts, node: Node) -> bool:
        """Whether an address is one in global memory, computed from pointers to it alone."""
        if parts - _OTHER != _WHOLE or space != "generic":
            return parts - _OTHER == _WHOLE and space == "global"
        return self.origins.spaces(address, *node) == frozenset(("global",))

    def _of_memory(self, op: Op, node: Node, at: int) -> Parts:
        """What an element loaded from memory may be of a pointer."""
        bits = op.element[0]
        anything = _WHOLE if bits == PAIR else _HALVES if bits == WORD else _NUMBER
        found = NONE
        for memory in self._memories(op, node):
            kept = {word[1:]: parts for word, parts in self.stored.items() if word[0] == memory}
            own, half = (word := _word(op, len(op.dst), at))[0], word[1]
            beside = {word, (own, 1 - half)} if half is not None else {word}
            if kept:
                found |= kept.get(word, NONE) | _OTHER | (NONE if kept.keys() <= beside else _NUMBER)
        if self.pointers.constants and op.space.startswith("const"):
            found |= anything
        if op.space == "generic" and self.by_address:
            found |= anything
        if op.space == "param" and self.pointers.parameters:
            start = self.origins.place_of_parameter(op, *node)
            found |= anything if start is None else self._of_parameters(start + at * bits // 8, bits)
        return found

    def _of_parameters(self, offset: int, bits: int) -> Parts:
        """What the bits at an offset among the parameters are of a pointer."""
        size = bits // 8
        near = [start for start in self.pointers.parameters if start - size < offset < start + PAIR // 8]
        if not near or any(offset == start and bits <= KNOWN_BITS for start in near):
            return NONE
        found = {(0, PAIR): _WHOLE, (0, WORD): _LOW, (4, WORD): _HIGH}.get((offset - near[0], bits), _NUMBER)
        return found if len(near) == 1 else _NUMBER


def _word(op: Op, count: int, at: int) -> tuple[int, int | None]:
    """What the element `at` of `count` is in memory: accesses of several elements are aligned."""
    bits = op.element[0]
    return bits, 0 if bits == PAIR else at % 2 if bits == WORD and count % 2 == 0 else None


def _either(alternatives: Iterable[Parts]) -> Parts:
    """One of several values."""
    found = list(alternatives)
    every = NONE.union(*found)
    return every | _OTHER if every and not all(found) else every


def _computed(op: Op, sources: list[Parts]) -> tuple[Parts, ...]:
    """The results of an operation on registers, one of which contains a part of a pointer."""
    row, kind = OPS.get(op.name), op.name.partition(".")[0]
    if op.name == "isspacep" or row is None and kind in ("opaque", "clobber", "call"):  # of no number, or unknown
        return (NONE,) * len(op.dst)
    if op.name in _CONVERSIONS or kind == "shfl" or op.name == "select":
        values, others = (sources[:2], sources[2:]) if op.name == "select" else (sources[:1], sources[1:])
        chosen = _either(values) | (_NUMBER if any(other - _UNTAINTED for other in others) else NONE)
        return (chosen, *(NONE,) * (len(op.dst) - 1))
    if row is None or any(Part.NUMBER in parts for parts in sources) and _known_truth(op, sources) is None:
        return (_NUMBER,) * len(op.dst)
    if op.name == "add3.carry":
        whole = _sum(sources)
        carry = _NUMBER if Part.NUMBER in whole else _CARRY if whole & (_LOW | _CARRY) else NONE
        return (whole, *(carry,) * (len(op.dst) - 1))
    truth = _known_truth(op, sources)
    whole = _result(op, row.origin, sources) if truth is None else truth
    return (whole, *(_NUMBER if Part.NUMBER in whole else NONE,) * (len(op.dst) - 1))


def _known_truth(op: Op, sources: list[Parts]) -> Parts | None:
    """The result of comparing a pointer, or its upper half, with 0, and what follows from it; None: of anything else.

    Addresses of device memory are above 2**32 (`origins.LOWEST_POINTER`).
    """
    if op.name in ("setp.eq", "setp.ne") and any(type(one) is Const and one.value == 0 for one in op.src):
        pointer = NONE.union(*sources)
        if pointer in (_WHOLE, _HIGH):
            return _TRUE if op.name == "setp.ne" else _FALSE
        return NONE if pointer - _OTHER in (_WHOLE, _HIGH) else None
    if op.name == "and" and _FALSE in sources:
        return _FALSE
    if op.name == "or" and _TRUE in sources:
        return _TRUE
    if op.name in ("not", "mov") and sources[0] in (_TRUE, _FALSE):
        return sources[0] if op.name == "mov" else _TRUE if sources[0] == _FALSE else _FALSE
    return NONE if all(parts <= _UNTAINTED for parts in sources) else None


def _result(op: Op, origin: Origin, sources: list[Parts]) -> Parts:
    """The first result of an operation of the table, on parts of pointers that are no mere numbers."""
    parts, other = [one - _OTHER for one in sources], NONE.union(*sources) & _OTHER
    factor = None
    if op.name in ("mul", "mad"):
        factor = next((1 - k for k in (0, 1) if type(one := op.src[k]) is Const and one.value == 1), None)
    found = _NUMBER
    if op.name == "and" and any(type(one) is Const and one.value >> KNOWN_BITS == 0 for one in op.src):
        found = NONE if NONE.union(*parts) <= _WHOLE | _LOW else _NUMBER
    elif op.name == "mov" or op.name == "zext" and parts[0] == _CARRY:
        found = parts[0]
    elif op.name in ("trunc", "extract"):
        found = _piece(op, parts[0])
    elif op.name == "cat" and parts == [_LOW, _HIGH]:
        found = _WHOLE
    elif op.name == "add":
        found = _sum(parts)
    elif op.name == "sub" and not parts[1]:
        found = parts[0]
    elif factor is not None:
        found = _sum([parts[factor], *parts[2:]])
    elif origin is Origin.ADDEND and not parts[0] and not parts[1]:
        found = parts[2]
    return found | other if found else NONE


def _piece(op: Op, source: Parts) -> Parts:
    """Some bits of a value."""
    bits = op.dst[0].bits if op.dst[0] is not None else WORD
    offset = op.attrs[0] if op.name == "extract" else 0
    if offset + bits <= KNOWN_BITS and source <= _WHOLE | _LOW:
        return NONE
    if source != _WHOLE or bits != WORD or offset not in (0, WORD):
        return _NUMBER
    return _HIGH if offset else _LOW


def _sum(sources: list[Parts]) -> Parts:
    """A pointer, or a half of one, and numbers; an upper half and a carry."""
    parts = [one - _OTHER for one in sources]
    pointers = [one for one in parts if one and one != _CARRY]
    carries = _CARRY in parts
    other = NONE.union(*sources) & _OTHER
    if not pointers:
        return _CARRY | other if carries else NONE
    if len(pointers) > 1 or len(pointers[0]) > 1 or carries and pointers[0] != _HIGH:
        return _NUMBER
    return pointers[0] | other
