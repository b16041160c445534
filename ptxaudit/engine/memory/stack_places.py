"""The contents of a place in a stack frame: what was last stored there, as if it were a register.

    STL [R1+0x230], R34;  …  LDL R2, [R1+0x230]       R2 is R34, as it was at the store

They are known if every access to local memory is at a constant offset from one register that is written only at the
beginning, nothing else may write local memory, and overlapping accesses are of the same place: registers that a
compiler spills.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxaudit.engine.memory.windows import makes_addresses_of
from ptxaudit.ir.dataflow.definitions import Definition, Definitions
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Op, Operand, Reg
from ptxaudit.ir.transfers import is_unresolved

Cell = tuple[int, int]  # byte offset in the frame, bits

BYTE = 8  # bits


class StackPlaces:
    """The places of a function's stack frame.

    sources: the definitions that a `Joined` store merges. Places have names like registers, `[560].32`.
    """

    def __init__(self, graph: Graph):
        stores: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        self._over: dict[int, set[Cell]] = defaultdict(set)  # byte -> the places that contain it
        known = _only_loads_and_stores(graph) and _one_base(graph)
        for instruction in graph.function.instructions if known else ():
            for op in instruction.ops:
                if op.space == "local" and op.name == "store":
                    for cell in _cells(op, len(op.src) - 1):
                        stores[_named(cell)].append((instruction.index, op.guard is None))
                        for byte in _bytes(cell):
                            self._over[byte].add(cell)
        self._definitions = Definitions(stores, graph.block_of, graph.ends, graph.before)
        self.sources = self._definitions.sources

    def loaded(self, op: Op, index: int, element: int) -> tuple[Definition, str] | None:
        """The store that an element of a load reads, and the name of its place; None: anything."""
        *_, cell = _cells(op, element + 1)
        if any(self._over.get(byte) != {cell} for byte in _bytes(cell)):
            return None
        node = self._definitions.read(_named(cell), index)
        return None if node is None else (node, _named(cell))


def is_place(name: str) -> bool:
    """Whether the name is that of a place on the stack, not a register."""
    return name.startswith("[")


def stored(op: Op, name: str) -> Operand | None:
    """The operand that an operation stores to a place; None: it stores nothing there."""
    if op.space != "local" or op.name != "store":
        return None
    return next((s for s, cell in zip(op.src[1:], _cells(op, len(op.src) - 1)) if _named(cell) == name), None)


def _named(cell: Cell) -> str:
    start, bits = cell
    return f"[{start}].{bits}"


def _cells(op: Op, count: int) -> Iterator[Cell]:
    """The first elements of an access."""
    bits, _ = op.element
    for element in range(count):
        yield op.offset + element * bits // BYTE, bits


def _bytes(cell: Cell) -> range:
    start, bits = cell
    return range(start, start + bits // BYTE)


def _only_loads_and_stores(graph: Graph) -> bool:
    """Whether only loads and stores access local memory: no pointer leads there, and no call is unresolved."""
    function = graph.function
    if makes_addresses_of(function, "local"):
        return False
    for instruction in function.instructions:
        if instruction.control is not None and is_unresolved(instruction.control):
            return False
        for op in instruction.ops:
            if op.name == "call" or op.name == "clobber" and op.space in ("local", "generic"):
                return False
            if op.space == "local" and op.name not in ("load", "store"):
                return False
    return True


def _one_base(graph: Graph) -> bool:
    """Whether the addresses of all accesses use one register, written only before the first access.

    All its writes are in the first block, which no branch enters again.
    """
    base, first = "", len(graph.function.instructions)
    for instruction in graph.function.instructions:
        for op in instruction.ops:
            if op.space != "local":
                continue
            pointer = op.src[0]
            if type(pointer) is not Reg or base not in ("", pointer.name):
                return False
            if graph.block_of[instruction.index] == 0 and not base:
                first = instruction.index
            base = pointer.name
    writes = graph.read.writes.get(base, ())
    if not writes or list(graph.cfg.predecessors(0)):
        return False
    last, always = writes[-1]
    return always and all(graph.block_of[at] == 0 for at, _ in writes) and last < first
