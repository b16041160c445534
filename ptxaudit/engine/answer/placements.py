"""Answers for a kernel that calls through pointers: those that hold wherever its functions are placed.

The addresses of functions, and of tables of them, are invented (`code_addresses`), twice. An answer that differs
between the two depends on the invented numbers and is discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.demangle import demangle
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.engine.answer.kept import Kept, Places, Requests
from ptxaudit.engine.answer.result import KernelResult, Pattern, SiteResult
from ptxaudit.engine.memory.given import SPACES, Given
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.engine.memory.read_from import definitions
from ptxaudit.ir.code_addresses import PLACEMENTS, CodeAddresses, placed, tables_named
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Address, Function, Op, Operand, Reg, Variable
from ptxaudit.ir.reasons import Kind, Reason

LOOKING = "looking at what writes tables of functions"
_SPACES_STORED = (*SPACES, "shared", "shared::cluster", "local")  # loads from these yield what the kernel has stored
FIRST_SHARE = 0.5  # of the steps left, for the first of the two placements
_BESIDE = frozenset(
    ("index", "reason", "formula", "patterns", "distinct", "common", "kept")
)  # those that are no figures
FIGURES = tuple(name for name in SiteResult.__struct_fields__ if name not in _BESIDE)


class Tables(Record):
    """functions: name -> address. memory: variable in global memory -> (address, bytes); constants: variable in
    constant memory -> bytes; named: the variables that the code refers to.
    """

    functions: dict[str, int] = field(default_factory=dict)
    memory: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    constants: dict[str, bytes] = field(default_factory=dict)
    named: tuple[str, ...] = ()

    @classmethod
    def of(cls, code: CodeAddresses, named: frozenset[str], changed: frozenset[str]) -> Tables:
        """changed: the tables that the kernel writes, whose contents are unknown."""
        memory = {name: place for name, place in code.tables.items() if name in named and name not in changed}
        constants = {name: content for name, content in code.constants.items() if name in named}
        return cls(code.functions, memory, constants, (*sorted(memory), *sorted(constants)))

    def initialised(self, function: Function) -> Function:
        """The function with the contents of its tables in constant memory."""
        if not self.constants:
            return function
        known: Callable[[Variable], bool] = lambda v: v.name in self.constants and v.space.startswith("const")
        return replace(
            function,
            variables=tuple(replace(v, data=self.constants[v.name]) if known(v) else v for v in function.variables),
        )

    def beside(self, specified: Given | None) -> Given | None:
        """The known contents of global memory, including the tables."""
        if not self.memory:
            return specified
        specified = specified or Given((), (), frozenset(), {})
        more = {name: place for name, place in self.memory.items() if name not in specified.variables}
        tables = [((address, np.frombuffer(content, np.uint8)), True) for address, content in more.values()]
        rows = sorted([*zip(specified.buffers, specified.trusted), *tables], key=lambda row: row[0][0])
        return replace(
            specified,
            buffers=tuple(buffer for buffer, _ in rows),
            trusted=tuple(trusted for _, trusted in rows),
            variables=specified.variables | {name: address for name, (address, _) in more.items()},
        )

    def sentences(self) -> tuple[str, ...]:
        """The assumptions behind the answers, for the report."""
        if not self.memory:
            return ()
        names = ", ".join(demangle(name) for name in sorted(self.memory))
        hold = "holds" if len(self.memory) == 1 else "hold"
        return (f"tables of functions: {names} {hold} what the file says, nothing else is written there",)


NO_TABLES = Tables()


def with_placements(
    function: Function, graph: Graph, run: Callable[..., KernelResult], account: Account
) -> KernelResult:
    """The answers on which all placements agree. run: (account, tables) -> the answers with these. Raises Exhausted."""
    changed = written(graph, account)
    named = frozenset(v.name for v in tables_named(function))
    with account.part(FIRST_SHARE) as some:
        first = run(some, Tables.of(placed(function, PLACEMENTS[0]), named, changed))
    second = run(account, Tables.of(placed(function, PLACEMENTS[1]), named, changed))
    others = {site.index: site for site in second.sites}
    return replace(
        first,
        sites=tuple(_agreed(site, others.get(site.index)) for site in first.sites),
        assumed=tuple(dict.fromkeys(first.assumed + second.assumed)),
        notes=tuple(dict.fromkeys(first.notes + second.notes)),
        endless=first.endless or second.endless,
    )


def written(graph: Graph, account: Account) -> frozenset[str]:
    """The variables whose memory a store or an atomic operation may change.

    They are reached by their own addresses, or by addresses that the kernel has stored and loads again. All variables,
    if something writes to an unknown location.
    """
    instructions = graph.function.instructions
    every = frozenset(v.name for v in graph.function.variables)
    reached = (i for i in instructions if graph.block_of[i.index] in graph.reachable)
    ops = [(i.index, position, op) for i in reached for position, op in enumerate(i.ops)]
    if any(op.name == "clobber" and op.space in SPACES for _, _, op in ops):
        return every
    writes = [(index, position, op) for index, position, op in ops if op.name in ("store", "atom")]
    origins = Origins(graph, account=account)
    out: set[str] = set()
    seen: set[tuple[int, int]] = set()
    work: list[tuple[int, int]] = []
    looked_into: set[str] = set()  # spaces

    def take(sources: Iterable[Operand], index: int, position: int) -> None:
        for source in sources:
            if type(source) is Address:
                out.add(source.name)
            elif type(source) is Reg:
                work.extend(definitions(graph, source.name, index, position))

    for index, position, op in writes:
        if op.space in SPACES:
            bases = origins.bases(index, op)
            out.update(base.key for base in bases or () if base.kind == "variable")
            take(op.src[:1] if bases is None else (), index, position)
    while work:
        definition = work.pop()
        account.spend(INSTRUCTION, LOOKING)
        op = instructions[definition[0]].ops[definition[1]]
        if definition in seen:
            continue
        seen.add(definition)
        if op.name not in ("load", "atom"):
            take(op.src, *definition)
        elif op.space in SPACES and any(v.points for v in graph.function.variables) or _of_constants(op, graph):
            return every
        elif op.space in _SPACES_STORED and op.space not in looked_into:
            looked_into.add(op.space)
            for index, position, store in writes:
                if _may_meet(store.space, op.space):
                    take(store.src[1:], index, position)
    return frozenset(out)


def _of_constants(op: Op, graph: Graph) -> bool:
    """It loads from constant memory in which the addresses of variables may be to begin with."""
    return op.space.startswith("const") and any(v.points and v.space == op.space for v in graph.function.variables)


def _may_meet(one: str, other: str) -> bool:
    """Addresses of two state spaces may be of one place."""
    return "generic" in (one, other) or one.partition("::")[0] == other.partition("::")[0]


def _agreed(site: SiteResult, other: SiteResult | None) -> SiteResult:
    """The answer for a site, without the addresses that the two placements do not have in common."""
    if other is None or any(getattr(site, name) != getattr(other, name) for name in FIGURES):
        return SiteResult(site.index, Status.UNKNOWN, Reason(Kind.PLACE_OF_CODE, site.index), evidence="by rule")
    if site.formula != other.formula:
        site = replace(site, formula="")
    if site.distinct != other.distinct or not _same(site.patterns, other.patterns):
        site = replace(site, patterns=(), distinct=0)
    if site.common != other.common:
        site = replace(site, common=None)
    if site.kept is None or other.kept is None:
        return replace(site, kept=None)
    return replace(site, kept=Kept(site.kept.access, partial(_common_places, site.index, site.kept, other.kept)))


def _common_places(index: int, one: Kept, other: Kept) -> Places:
    """The requests of a site, if they are the same under both placements."""
    same = _same(one.requests, other.requests) and (one.missing is None) == (other.missing is None)
    return one.places if same else Places(missing=Reason(Kind.PLACE_OF_CODE, index))


def _same(one: Any, other: Any) -> bool:
    """Whether two results are equal, arrays by their elements."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, (Pattern, Requests)):
        return type(one) is type(other) and all(
            _same(getattr(one, name), getattr(other, name)) for name in one.__struct_fields__
        )
    return bool(one == other)
