"""Whether a kernel uses the number of a pointer for anything but the address of an access: a taint analysis.

    ld.global [p + 4 * i]               p stays a pointer
    {lo, hi} = p; lo += x, carry        its halves, and the carry into the upper one
    and r, p, 15                        no number: p is a multiple of 256, so its low byte is known
    shr r, p, 8; setp p, end; q - p     the number of p: what follows may depend on where the buffer lies

A specified buffer has an invented address (`frontend.launch.buffers`). If nothing but accesses depends on it, the
results hold wherever the buffer lies; else `answer.placements` examines the kernel with several addresses.
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
from ptxaudit.ir.dataflow.solve import solve
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import COPY_ASYNC, Address, Const, Instruction, Op, Operand, Reg, Site
from ptxaudit.ir.operands import WRITES, control_reads, guard_reads

FOLLOWING = "following pointers to specified buffers"
KNOWN_BITS = 8  # low bits of a pointer: it is a multiple of `buffers.ALIGNMENT`
_CONVERSIONS = ("cvta", "cvta.to")
_ACCESSES = ("load", *WRITES)
_STORED = ("local", "shared", "shared::cluster", "generic")  # what is stored there may be loaded again


class Part(Enum):
    """What of a pointer a value is: all of it, a half, or the carry into its upper half; also with numbers added."""

    WHOLE, LOW, HIGH, CARRY = range(4)


Parts = frozenset[Part]
NONE: Parts = frozenset()
_WHOLE, _HALVES = frozenset((Part.WHOLE,)), frozenset((Part.LOW, Part.HIGH))
Node = tuple[int, int]  # instruction, position of its operation


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


class _Number(Exception):
    """Something other than the address of an access depends on the number of a pointer."""


def uses_numbers(graph: Graph, origins: Origins, pointers: Pointers, account: Account | None = None) -> bool:
    """Whether anything but the places of accesses to global memory may depend on the numbers of these pointers.

    account: pays for it. Raises Exhausted.
    """
    if not pointers:
        return False
    try:
        _Flow(graph, origins, pointers, account).follow()
    except _Number:
        return True
    return False


class _Flow:
    """The parts of pointers in the results of operations, as the least fixed point."""

    def __init__(self, graph: Graph, origins: Origins, pointers: Pointers, account: Account | None) -> None:
        self.graph, self.origins, self.pointers, self.account = graph, origins, pointers, account
        self.instructions = [i for i in graph.function.instructions if graph.block_of[i.index] in graph.reachable]
        self.by_address = bool(pointers.parameters) and makes_addresses_of(graph.function, "param")
        self.stores = False  # a part of a pointer may be stored where it may be loaded again
        self.names = self._names()
        self.results: dict[Node, tuple[Parts, ...]] = {}
        self.stored: Parts = NONE  # in memory from which it may be loaded again
        self._read: dict[tuple[Node, str], tuple[Node, ...]] = {}

    def follow(self) -> None:
        """Raises _Number if a pointer is used as a number."""
        order = [(i.index, k) for i in self.instructions for k, op in enumerate(i.ops) if self._concerns(op)]
        self.results = {node: (NONE,) * len(self._op(node).dst) for node in order}
        readers: dict[Node, list[Node]] = defaultdict(list)
        for node in order:
            for register in self._registers(self._op(node)):
                for definition in self._definitions(node, register):
                    readers[definition].append(node)
        before: Parts | None = None
        while before != self.stored:
            before = self.stored
            solve(self.results, self._transfer, readers, order)
        for instruction in self.instructions:
            self._check(instruction)

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
            if op.name == "store" and op.space in _STORED and not self.stores:
                self.stores = True
                work += [other for other in ops if other.name == "load" and other.space in _STORED]
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
        found = NONE
        for definition in self._definitions(node, source.name):
            op, results = self._op(definition), self.results.get(definition, ())
            found = found.union(*(of for d, of in zip(op.dst, results) if d is not None and d.name == source.name))
        return found

    # --- transfer functions ---

    def _transfer(self, node: Node) -> tuple[Parts, ...]:
        self._spend()
        op = self._op(node)
        sources = [self._parts(source, node) for source in op.src]
        if op.guard is not None and self._parts(op.guard.reg, node):
            raise _Number
        if op.name in _ACCESSES:
            return self._accessed(op, node, sources)
        if not any(sources):
            return (NONE,) * len(op.dst)
        return _computed(op, sources)

    def _accessed(self, op: Op, node: Node, sources: list[Parts]) -> tuple[Parts, ...]:
        """Of an access to memory."""
        place = sources[0] if sources else NONE
        if place and (place != _WHOLE or not self._is_global(op.space, op.src[0], node)):
            raise _Number
        data = NONE.union(*sources[1:])
        if op.name == COPY_ASYNC:
            if not data <= _WHOLE:
                raise _Number
        elif data and (op.space in _STORED and op.name != "store" or Part.CARRY in data):
            raise _Number
        elif op.name == "store" and op.space in _STORED:
            self.stored |= data
        if op.name not in ("load", "atom"):
            return (NONE,) * len(op.dst)
        return tuple(self._of_memory(op, node, at) for at in range(len(op.dst)))

    def _is_global(self, space: str, address: Operand, node: Node) -> bool:
        """Whether an address is computed from pointers to global memory alone."""
        if space != "generic":
            return space == "global"
        bases = self.origins.of(address, *node)
        return bases is not None and all(base.kind in ("parameter", "variable") for base in bases)

    def _of_memory(self, op: Op, node: Node, at: int) -> Parts:
        """What an element loaded from memory may be of a pointer."""
        bits = op.element[0]
        anything = _WHOLE if bits == PAIR else _HALVES
        found = self.stored if op.space in _STORED and self.stored else NONE
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
        found = {(0, PAIR): Part.WHOLE, (0, WORD): Part.LOW, (4, WORD): Part.HIGH}.get((offset - near[0], bits))
        if len(near) > 1 or found is None:
            raise _Number
        return frozenset((found,))

    # --- uses that are no operations ---

    def _check(self, instruction: Instruction) -> None:
        """Raises _Number if a pointer decides where control goes, or the place of an access to shared memory."""
        ops = instruction.ops
        after = instruction.index, len(ops)
        at = instruction.index, next((k for k, op in enumerate(ops) if op.name in _ACCESSES), len(ops))
        site = instruction.site
        if any(self._parts(register, after) for register in control_reads(instruction)):
            raise _Number
        if any(self._parts(register, at) for register in guard_reads(instruction)):
            raise _Number
        if site is not None and any(self._parts(part, at) for part in _decisive(site)):
            raise _Number
        if site is not None and self._parts(site.address, at) and not self._is_global(site.space, site.address, at):
            raise _Number


def _decisive(site: Site) -> Iterable[Operand | None]:
    """The operands of an access that decide its figure by their numbers."""
    yield site.source_size
    yield site.ignore.reg if site.ignore is not None else None


def _computed(op: Op, sources: list[Parts]) -> tuple[Parts, ...]:
    """The results of an operation on registers, one of which contains a part of a pointer. Raises _Number."""
    rest = (NONE,) * (len(op.dst) - 1)
    row, kind = OPS.get(op.name), op.name.partition(".")[0]
    if (
        op.name == "isspacep" or row is None and kind in ("opaque", "clobber", "call")
    ):  # of no number, or unknown anyway
        return (NONE, *rest)[: len(op.dst)]
    if op.name in _CONVERSIONS or kind == "shfl" or op.name == "select":
        values, others = (sources[:2], sources[2:]) if op.name == "select" else (sources[:1], sources[1:])
        if any(others):
            raise _Number
        return (NONE.union(*values), *rest)
    if row is None:
        raise _Number
    if op.name == "add3.carry":
        whole = _sum(sources)
        return (whole, *(frozenset((Part.CARRY,)) if whole & {Part.LOW, Part.CARRY} else NONE for _ in rest))
    return (_result(op, row.origin, sources), *rest)


def _result(op: Op, origin: Origin, sources: list[Parts]) -> Parts:
    """The first result of an operation of the table."""
    factor = (
        next((1 - k for k in (0, 1) if type(one := op.src[k]) is Const and one.value == 1), None)
        if op.name
        in (
            "mul",
            "mad",
        )
        else None
    )
    if op.name == "and" and any(type(one) is Const and one.value >> KNOWN_BITS == 0 for one in op.src):
        if NONE.union(*sources) <= {Part.WHOLE, Part.LOW}:
            return NONE
    if op.name == "mov":
        return sources[0]
    if op.name == "zext" and sources[0] == {Part.CARRY}:
        return sources[0]
    if op.name in ("trunc", "extract"):
        return _piece(op, sources[0])
    if op.name == "cat" and len(sources) == 2 and sources[0] == {Part.LOW} and sources[1] == {Part.HIGH}:
        return _WHOLE
    if op.name == "add":
        return _sum(sources)
    if op.name == "sub" and not sources[1]:
        return sources[0]
    if factor is not None:
        return _sum([sources[factor], *sources[2:]])
    if origin is Origin.ADDEND and not sources[0] and not sources[1]:
        return sources[2]
    raise _Number


def _piece(op: Op, source: Parts) -> Parts:
    """Some bits of a value."""
    bits = op.dst[0].bits if op.dst[0] is not None else WORD
    offset = op.attrs[0] if op.name == "extract" else 0
    if offset + bits <= KNOWN_BITS and source <= {Part.WHOLE, Part.LOW}:
        return NONE
    if source != _WHOLE or bits != WORD or offset not in (0, WORD):
        raise _Number
    return frozenset((Part.HIGH if offset else Part.LOW,))


def _sum(sources: list[Parts]) -> Parts:
    """A pointer, or a half of one, and numbers; an upper half and a carry."""
    carry = frozenset((Part.CARRY,))
    pointers = [parts for parts in sources if parts and parts != carry]
    carries = any(parts == carry for parts in sources)
    if not pointers:
        return carry if carries else NONE
    if len(pointers) > 1 or carries and pointers[0] != {Part.HIGH}:
        raise _Number
    return pointers[0]
