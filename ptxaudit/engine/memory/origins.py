"""The origins of an address: the pointers from which the operations that compute it start.

    q = param[8] + 4 * loaded             whole {parameter at 8}
    q = cvta.shared(s) + 4 * tid          whole {window of shared memory}
    q = p ? param[0] : param[8]           whole {parameter at 0}, or whole {parameter at 8}
    q = {load.32, load.32}                anything: two halves loaded from memory may belong to any pointer

Definitions are followed regardless of order, to a fixed point. An offset added to a pointer is assumed to leave it
within the object that it points to (C++ [expr.add]; the report lists this as an assumption if an answer relies on
it). A number alone is no origin. A value that is computed otherwise, loaded in pieces or returned by a call may point
anywhere, and so may a value from local memory, except from places at constant offsets from one register
(`stack_places`). But none points to shared memory, local memory or the parameters if the kernel computes no address of
them: a pointer to these is valid only while its block runs, so that no other code can have stored it.
"""

from __future__ import annotations

from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property, partial
from typing import Any

from ptxaudit.base.records import Record
from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.engine.domain.value import POINTER_BYTES, POINTER_LIMIT
from ptxaudit.engine.memory.read_from import definitions, guard_of, written_here
from ptxaudit.engine.memory.stack_places import StackPlaces, is_place, stored
from ptxaudit.engine.memory.windows import WINDOWS, makes_addresses_of
from ptxaudit.engine.ops.halves import PAIR, WORD
from ptxaudit.engine.ops.row import Origin
from ptxaudit.engine.ops.table import OPS
from ptxaudit.ir.dataflow.definitions import Definition, Joined
from ptxaudit.ir.dataflow.solve import postorder, reached, solve
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Address, Const, Op, Operand, Parameter, Reg, Special
from ptxaudit.ir.warp_operations import WARP

FOLLOWING = "following where addresses come from"
LOWEST_POINTER = 1 << 32  # device addresses are above it: a lower number is none
MOST_MOVES = 8  # of a constant from register to register
MOST_ATOMS = 16  # alternatives of one value; with more it may be anything


Place = tuple[int, int, str]  # a definition: instruction, operation, register
Node = Place | Joined


class Base(Record):
    """Something that a pointer points to.

    kind: "parameter" (key: its byte offset among the parameters), "variable" (its name), "window" (the state space
    whose generic addresses begin there), "parameters" (an unknown one of the parameters). certain: it is an address,
    and not possibly a 64-bit number.
    """

    kind: str
    key: Any
    certain: bool


class Part(Enum):
    """Which part of an address a value is.

    NUMBER: none; DATA: 32 bits or fewer from memory, possibly a half of one; ANY: unknown.
    """

    NUMBER, DATA, ANY, WHOLE, LOW, HIGH = range(6)


class Atom(Record):
    """One alternative for a value. bases: for WHOLE, LOW and HIGH, the objects into one of which it points."""

    part: Part
    bases: frozenset[Base] = frozenset()


Atoms = frozenset[Atom]
NUMBER, DATA, ANY = (frozenset((Atom(part),)) for part in (Part.NUMBER, Part.DATA, Part.ANY))
OF_PARAMETERS = frozenset((Atom(Part.WHOLE, frozenset((Base("window", "param", True),))),))
_PIECES = (Part.WHOLE, Part.LOW, Part.HIGH)


_PRODUCTS = ("mul", "mad")
_CONVERSIONS = ("cvta", "cvta.to", "mapa")
# Operations that lanes perform together have no row: their results are numbers, or another lane's value.
_WITHOUT_ROW = dict.fromkeys((*WARP, "isspacep", "barrier", "mufu"), Origin.NUMBER) | dict.fromkeys(
    ("shfl", "readfirstlane"), Origin.SOURCE
)


class Origins:
    """The origins of the addresses of one kernel. param_bytes, param_known: of the launch, as in `env.Environment`."""

    def __init__(
        self, graph: Graph, param_bytes: bytes = b"", param_known: bytes = b"", account: Account | None = None
    ):
        """account: pays for following definitions; raises Exhausted if it cannot."""
        self.graph, self.account = graph, account
        self.instructions = graph.function.instructions
        self.param_bytes, self.param_known = param_bytes, param_known
        self._known: dict[Node, Atoms] = {}
        self._meeting: dict[Joined, Definition] = {}
        self._written: set[Node] = set()  # the nodes of `_known` that some definition reaches

    @cached_property
    def _stack(self) -> StackPlaces:
        return StackPlaces(self.graph)

    def bases(self, index: int, op: Op) -> frozenset[Base] | None:
        """The objects into which the address of a load, store or atomic may point; None: anything."""
        position = self.instructions[index].ops.index(op)
        return self.of(op.src[0], index, position) if op.src else None

    def of(self, source: Operand, index: int, position: int) -> frozenset[Base] | None:
        """As `bases`, for an operand as the operation at `position` reads it (one past the last: the site)."""
        atoms = self._operand(source, index, position)
        if not atoms or any(atom.part is not Part.WHOLE for atom in atoms):
            return None
        return frozenset().union(*(atom.bases for atom in atoms))

    def spaces(self, source: Operand, index: int, position: int) -> frozenset[str] | None:
        """State spaces in which a generic address may lie: "shared", "local", "global" for all others. None: any."""
        bases = self.of(source, index, position)
        if bases is None:
            return self._possible
        return frozenset(base.key if base.kind == "window" else "global" for base in bases)

    @cached_property
    def _possible(self) -> frozenset[str] | None:
        """The state spaces in which any address of the kernel may lie; None: any, as it may call other code."""
        function = self.graph.function
        if not function.entry or self.graph.loose_call is not None or self.graph.loose_jump is not None:
            return None
        return frozenset(("global", *(s for s in ("shared", "local", "param") if makes_addresses_of(function, s))))

    def spaces_of_site(self, index: int) -> frozenset[str] | None:
        """As `spaces`, for the address of an instruction's access."""
        return self.spaces(*self._address(index))

    def excludes_shared(self, index: int) -> bool:
        """An access is known to be elsewhere only because the kernel computes no address of shared memory."""
        return self._possible is not None and "shared" not in self._possible and self.of(*self._address(index)) is None

    def _address(self, index: int) -> tuple[Operand, int, int]:
        """The address of an instruction's access, as an operation at an index and a position reads it."""
        site, ops = self.graph.function.site(index), self.instructions[index].ops
        position = next((at for at, op in enumerate(ops) if op.name in ("load", "atom", "store")), len(ops))
        return site.address, index, position

    def specified(self, base: Base) -> int | None:
        """The value of a pointer parameter; None if it is not specified."""
        if base.kind == "parameters":
            return None
        known = self.param_known[base.key : base.key + POINTER_BYTES]
        if len(known) < POINTER_BYTES or not all(known):
            return None
        return int.from_bytes(self.param_bytes[base.key : base.key + POINTER_BYTES], "little")

    def of_copy(self, graph: Graph) -> Origins:
        """The origins for a graph of the same kernel with other instructions."""
        return Origins(graph, self.param_bytes, self.param_known, self.account)

    # --- following definitions ---

    def _operand(self, source: Operand, index: int, position: int) -> Atoms:
        if not isinstance(source, Reg):
            return _plain(source)
        read = self._read(source.name, index, position)
        self._settle(read)
        return self._together(read, self._known)

    def _read(self, name: str, index: int, position: int) -> list[Node]:
        """The possible sources of a register that the operation at `position` reads: definitions, or joins of these."""
        own, ends = written_here(self.graph, name, index, position)
        if not ends and guard_of(self.instructions[index]) is None:
            node = self.graph.read.read(name, index)
            return [*((index, k, name) for k in own), *(() if node is None else self._places(node, name))]
        return [(*at, name) for at in definitions(self.graph, name, index, position)]

    def _places(self, node: Definition, name: str) -> list[Node]:
        passed = []
        while isinstance(node, Joined) and node not in self._meeting:
            self._meeting[node] = node
            sources = self._joined(node)
            if len(sources) != 1:  # else it is the entry of a block with one predecessor
                break
            passed.append(node)
            node = sources[0]
        node = self._meeting[node] if isinstance(node, Joined) else node
        self._meeting |= dict.fromkeys(passed, node)
        if isinstance(node, Joined):
            return [node]
        writes = partial(stored, name=name) if is_place(name) else lambda op: op.writes(name)
        return [(node, k, name) for k, op in enumerate(self.instructions[node].ops) if writes(op)]

    def _joined(self, node: Joined) -> list[Definition]:
        """The definitions that a join merges, of a register or of a place on the stack."""
        return self._stack.sources(node) if is_place(node.register) else self.graph.read.sources(node)

    def _settle(self, wanted: Iterable[Node]) -> None:
        """Computes the fixed point for these definitions and all that they depend on."""
        sources: dict[Node, list[list[Node] | Atoms]] = {}
        met: dict[Node, list[Node]] = {}  # the nodes of all its sources
        readers: dict[Node, list[Node]] = defaultdict(list)

        def following(node: Node) -> Iterator[Node]:
            if self.account is not None:
                self.account.spend(INSTRUCTION, FOLLOWING)
            sources[node] = self._sources(node)
            met[node] = [at for made in sources[node] if not isinstance(made, frozenset) for at in made]
            for at in met[node]:
                readers[at].append(node)
                if at not in self._known:
                    yield at

        order = postorder((node for node in wanted if node not in self._known), following)
        self._written |= {node for node in sources if not isinstance(node, Joined)}
        self._written |= reached(
            [node for node in sources if isinstance(node, Joined) and not self._written.isdisjoint(met[node])],
            lambda node: [at for at in readers[node] if isinstance(at, Joined)],
        )
        found: dict[Node, Atoms] = dict.fromkeys(sources, frozenset())
        facts = ChainMap(found, self._known)

        def transfer(node: Node) -> Atoms:
            if isinstance(node, Joined):
                return found[node].union(*(facts[at] for at in met[node]))
            read = [made if isinstance(made, frozenset) else self._together(made, facts) for made in sources[node]]
            now = found[node] | self._made(node, read)
            return now if len(now) <= MOST_ATOMS else ANY

        solve(found, transfer, readers, order)
        self._known |= found

    def _sources(self, node: Node) -> list[list[Node] | Atoms]:
        """The definitions that each source of an operation reads, or that a join merges."""
        if isinstance(node, Joined):
            return [[at for one in self._joined(node) for at in self._places(one, node.register)]]
        index, position, name = node
        op = self.instructions[index].ops[position]
        if op.space == "local" and op.name == "load":
            element = next(k for k, d in enumerate(op.dst) if d is not None and d.name == name)
            loaded = self._stack.loaded(op, index, element)
            return [_unknown(op.element[0]) if loaded is None else self._places(*loaded)]
        written = (stored(op, name),) if is_place(name) else op.src
        return [self._source(source, index, position) for source in written if source is not None]

    def _source(self, source: Operand, index: int, position: int) -> list[Node] | Atoms:
        """The definitions that a source of an operation reads."""
        return self._read(source.name, index, position) if isinstance(source, Reg) else _plain(source)

    def _together(self, nodes: list[Node], facts: Mapping[Node, Atoms]) -> Atoms:
        """The union over these nodes; anything if no definition reaches them: a register read before it is written."""
        return _union(facts[node] for node in nodes) if not self._written.isdisjoint(nodes) else ANY

    def _made(self, place: tuple[int, int, str], sources: list[Atoms]) -> Atoms:
        """The result of an operation on its sources, or nothing while a source is still to be computed."""
        index, position, name = place
        op = self.instructions[index].ops[position]
        if is_place(name):
            own = stored(op, name)
            return (
                sources[0] if own is not None and own.bits == op.element[0] else _unless_numbers(sources, op.element[0])
            )
        at, written = next((k, d) for k, d in enumerate(op.dst) if d is not None and d.name == name)
        bits = written.bits
        row = OPS.get(op.name)
        origin = row.origin if row is not None else _WITHOUT_ROW.get(op.name.partition(".")[0], Origin.OPAQUE)
        factor = _other_than_one(op) if op.name in _PRODUCTS else None
        if bits == 1 or origin is Origin.NUMBER and factor is None:
            return NUMBER
        if op.name == "load" and op.space == "local":
            return sources[0] if op.element[0] == bits else _unless_numbers(sources, bits)
        if op.name == "load":
            return self._loaded(op, at, sources, place)
        if any(not atoms for atoms in sources):
            return frozenset()
        if factor is not None:  # machine code also adds in this way, if the unit for products is free
            return _sums([sources[factor], *sources[2:]])
        return NUMBER if at and origin is not Origin.OPAQUE else _of_origin(origin, op, sources, bits)

    def _loaded(self, op: Op, at: int, sources: list[Atoms], place: Place) -> Atoms:
        each, _ = op.element
        if op.space == "generic" and sources and sources[0] <= OF_PARAMETERS:
            return _among_parameters(op, at, each) if sources[0] else frozenset()
        if op.space != "param" or (start := self._place_of_parameter(op, *place[:2])) is None:
            return _unknown(each)
        offset = start + at * each // 8
        parameter = next((p for p in self.graph.function.parameters if p.offset <= offset < p.offset + p.size), None)
        if parameter is None:
            return _unknown(each)
        return self._parameter(parameter, offset, each)

    def _place_of_parameter(self, op: Op, index: int, position: int) -> int | None:
        """The byte offset of a load from the parameters, also if a register is its index (ptxas -O0 moves a constant
        there); None if it is unknown."""
        source: Operand = op.src[0]
        for _ in range(MOST_MOVES):
            if not isinstance(source, Reg):
                break
            read = self._read(source.name, index, position)
            if len(read) != 1 or isinstance(read[0], Joined):
                return None
            index, position, _ = read[0]
            moved = self.instructions[index].ops[position]
            if moved.name != "mov":
                return None
            source = moved.src[0]
        return op.offset + source.value if isinstance(source, Const) else op.fixed

    def _parameter(self, parameter: Parameter, offset: int, bits: int) -> Atoms:
        """A pointer among the parameters, a half of one, or a number."""
        inside = (offset - parameter.offset) % POINTER_BYTES
        start = offset - inside
        part = {(0, PAIR): Part.WHOLE, (0, WORD): Part.LOW, (4, WORD): Part.HIGH}.get((inside, bits))
        if start + POINTER_BYTES > parameter.offset + parameter.size or part is None:
            return NUMBER if bits <= WORD else ANY
        base = Base("parameter", start, bool(parameter.pointer) and parameter.size == POINTER_BYTES)
        number = self.specified(base)
        if number is not None and not LOWEST_POINTER <= number < POINTER_LIMIT:
            return NUMBER
        return frozenset((Atom(part, frozenset((base,))),))


def _other_than_one(op: Op) -> int | None:
    """The index of a product's factor if the other one is the constant 1; None if neither is."""
    return next((1 - k for k in (0, 1) if isinstance(source := op.src[k], Const) and source.value == 1), None)


def _of_origin(origin: Origin, op: Op, sources: list[Atoms], bits: int) -> Atoms:
    """The first result of an operation with known sources."""
    match origin:
        case Origin.SOURCE:
            return sources[0]
        case Origin.EITHER:
            return sources[0] | sources[1]
        case Origin.SUM:
            return _sums(sources)
        case Origin.ADDEND:
            return sources[2]
        case Origin.PIECE:
            return _piece(sources[0], op.src[0].bits, bits, op.attrs[0] if op.name == "extract" else 0)
        case Origin.PAIR if len(sources) == 2 and bits == PAIR:
            return _joined(sources)
        case Origin.PAIR | Origin.MIXED:
            return _unless_numbers(sources, bits)
    return _converted(op, sources[0], bits) if op.name in _CONVERSIONS else _unknown(bits)


# --- operands -------------------------------------------------------------------------------


def _plain(source: Operand) -> Atoms:
    """The origins of any operand except a register."""
    if isinstance(source, Const):
        return NUMBER
    if isinstance(source, Address):
        if source.space == "global" or source.space.startswith("const"):
            return (
                frozenset((Atom(Part.WHOLE, frozenset((Base("variable", source.name, True),))),))
                if source.bits == PAIR
                else DATA
            )
        return NUMBER  # in a window, or among the parameters
    if isinstance(source, Special):
        window = WINDOWS.get(source.name)
        if window is None:
            return NUMBER
        space, part = window
        return frozenset((Atom(Part.HIGH if part == "high" else Part.LOW, frozenset((Base("window", space, True),))),))
    return _unknown(source.bits)


def _unknown(bits: int) -> Atoms:
    return ANY if bits > WORD else DATA


def _union(every: Iterable[Atoms]) -> Atoms:
    return frozenset().union(*every)


def _unless_numbers(sources: list[Atoms], bits: int) -> Atoms:
    return NUMBER if all(atoms == NUMBER for atoms in sources) else _unknown(bits)


def _among_parameters(op: Op, at: int, bits: int) -> Atoms:
    """An element loaded from an unknown place among the parameters.

    A pair of words holds the halves of a possible pointer, because such a load is aligned.
    """
    part = Part.WHOLE if bits == PAIR else (Part.LOW, Part.HIGH)[at % 2] if bits == WORD else None
    if part is None or bits == WORD and len(op.dst) % 2:
        return _unknown(bits)
    return frozenset((Atom(part, frozenset((Base("parameters", "", False),))),))


# --- sums, halves, windows ------------------------------------------------------------------


def _sums(sources: list[Atoms]) -> Atoms:
    out = sources[0]
    for more in sources[1:]:
        out = frozenset(_sum(a, b) for a in out for b in more)
        if len(out) > MOST_ATOMS:
            return ANY
    return out


def _sum(a: Atom, b: Atom) -> Atom:
    """The sum of two values: an address and an offset."""
    if a.part.value > b.part.value:
        a, b = b, a
    if a.part is Part.NUMBER:
        return b
    wide = Part.WHOLE in (a.part, b.part) or Part.ANY in (a.part, b.part)
    unknown = Atom(Part.ANY if wide else Part.DATA)
    if a.part in (Part.DATA, Part.ANY):
        if b.part in (Part.DATA, Part.ANY):
            return unknown
        sure = all(base.certain for base in b.bases)
        return b if sure or a.part is Part.DATA and b.part is not Part.HIGH else unknown
    if a.part is not b.part:
        return unknown
    bases = a.bases | b.bases
    certain = frozenset(base for base in bases if base.certain)
    if len(certain) > 1:
        return unknown
    return Atom(a.part, certain or bases)


def _piece(atoms: Atoms, whole: int, bits: int, offset: int) -> Atoms:
    """Some bits of a value."""
    if bits == whole and not offset:
        return atoms

    def piece(atom: Atom) -> Atom:
        if atom.part is Part.WHOLE and bits == WORD and offset in (0, WORD):
            return Atom(Part.LOW if not offset else Part.HIGH, atom.bases)
        return Atom(Part.DATA) if atom.part in (Part.ANY, Part.DATA) else Atom(Part.NUMBER)

    return frozenset(map(piece, atoms))


def _joined(sources: list[Atoms]) -> Atoms:
    """Two words as one address."""

    def joined(low: Atom, high: Atom) -> Atom:
        if low.part is Part.LOW and high.part is Part.HIGH:
            return Atom(Part.WHOLE, low.bases | high.bases)
        if (
            high.part is Part.HIGH
            and all(base.kind == "window" and base.key != "param" for base in high.bases)
            and low.part in (Part.NUMBER, Part.DATA)
        ):
            return Atom(Part.WHOLE, high.bases)  # the window's lower word is zero
        return (
            Atom(Part.NUMBER)
            if high.part is Part.NUMBER and low.part in (Part.NUMBER, Part.DATA, Part.LOW)
            else Atom(Part.ANY)
        )

    return frozenset(joined(low, high) for low in sources[0] for high in sources[1])


def _converted(op: Op, source: Atoms, bits: int) -> Atoms:
    """cvta, cvta.to, mapa."""
    space = op.attrs[0] if op.attrs else "global"
    if op.name == "cvta.to":
        return NUMBER if space in ("shared", "local") else source
    window = space if op.name == "cvta" else "shared"
    if window not in ("shared", "local", "param") or op.name == "mapa" and space == "shared":
        return source if op.name == "cvta" else NUMBER
    return frozenset((Atom(Part.WHOLE, frozenset((Base("window", window, True),))),))
