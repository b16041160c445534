"""Shares answers among equal functions, so that code in several files, architectures or releases is examined once.

    with sharing():
        answer(question, account, examine)      calls examine() the first time, then returns its result

Two functions are equal if everything that the analysis sees is equal: operations, places, variables, the user's lines
(`placed` and `reasons` use no more of a source) and, of the architecture, the machine's rules. An answer that ran out
of its account's steps is not shared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ptxaudit.base.exact import exactly
from ptxaudit.base.places import line_of
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.nodes import Address, Function, Instruction, Operand, Variable

if TYPE_CHECKING:
    from ptxaudit.engine.answer.result import KernelResult

MOST_KEPT = 20_000  # instructions of the functions whose answers are kept: each takes about a kilobyte
MOST_BYTES = 1 << 20  # of the requests kept with an answer
_OF_MACHINE = ("name", "title", "archs", "sources", "notes")  # the fields that describe a machine and affect no figure


class _Key:
    """A value whose hash is computed once: a function has thousands of parts."""

    __slots__ = ("_hash", "_value")

    def __init__(self, value: Hashable) -> None:
        self._value, self._hash = value, hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, _Key) else NotImplemented


class Question(Record):
    """Everything that determines an answer. seen, keep: which requests of its sites are recorded, as in `Facts`."""

    function: Function
    machine: Machine
    launch: Launch | None
    aligned: Mapping[str, int]
    seen: bool = False
    keep: bool = False

    @property
    def opcodes(self) -> tuple[str, ...]:
        """The opcodes of all instructions: where they differ, the questions' keys need not be computed."""
        return tuple([i.opcode for i in self.function.instructions])

    @property
    def key(self) -> _Key:
        """Equal for questions with the same answer, if their machines are alike. Raises TypeError where it is not
        hashable."""
        instructions = self.function.instructions
        lines = {i.source: line_of(i.source) for i in instructions if i.source is not None}
        sources = tuple(None if i.source is None else lines[i.source] for i in instructions)
        plain = tuple(i if i.source is None else replace(i, source=None) for i in instructions)
        function = replace(self.function, arch="", instructions=plain, variables=self._variables)
        return _Key((function, sources, _plain(self.launch), _plain(self.aligned), self.seen, self.keep))

    @property
    def _variables(self) -> tuple[Variable, ...]:
        """The variables, without those in global memory that neither the code nor the launch names: a library's
        headers declare hundreds of them. Sorted by name, because files list them in any order; unchanged where there
        are tables of functions, which are assigned addresses in order."""
        variables = self.function.variables
        if any(variable.around is not None for variable in variables):
            return variables
        if self.launch is None or not self.launch.symbols:
            named = {o.name for i in self.function.instructions for o in _operands(i) if isinstance(o, Address)}
            variables = tuple(v for v in variables if v.space != "global" or v.address is not None or v.name in named)
        return tuple(sorted(variables, key=lambda variable: (variable.space, variable.name)))

    @property
    def refused(self) -> bool:
        """The answer names the machine, which has no rule for one of the accesses."""
        accesses = {i.site.access for i in self.function.instructions if i.site is not None}
        return any(access is not None and self.machine.refusal(access) for access in accesses)


class _Kept(Record, eq=False, dict=True):
    """question: also keeps alive the objects that its key identifies by `id`. began: the account at the start."""

    question: Question
    result: KernelResult
    began: Account

    @cached_property
    def key(self) -> _Key | None:
        """The question's key; None where it is not hashable."""
        try:
            return self.question.key
        except TypeError:  # something in it is not hashable
            return None


class Answers:
    """The answers to the most recent questions."""

    def __init__(self) -> None:
        self._kept: dict[_Kept, tuple[str, ...]] = {}  # with their opcodes, least recently used first
        self._with: dict[tuple[str, ...], list[_Kept]] = {}  # by their opcodes
        self._instructions = 0

    def answer(self, question: Question, account: Account, examine: Callable[[], KernelResult]) -> KernelResult:
        """The kept answer to an equal question, or else the result of `examine`. account: its state at the start."""
        opcodes = question.opcodes
        if (kept := self._equal(question, opcodes, account)) is not None:
            self._kept[kept] = self._kept.pop(kept)
            return kept.result
        before = Exhausted.count
        result = examine()
        if Exhausted.count == before:
            self._keep(opcodes, _Kept(question, result, account))
        return result

    def _equal(self, question: Question, opcodes: tuple[str, ...], account: Account) -> _Kept | None:
        """The kept answer to an equal question."""
        if opcodes not in self._with:
            return None
        try:
            key = question.key
        except TypeError:
            return None
        for kept in self._with[opcodes]:
            if kept.key == key and _alike(kept.question, question) and _pays(account, kept.began):
                return kept
        return None

    def _keep(self, opcodes: tuple[str, ...], kept: _Kept) -> None:
        if len(opcodes) > MOST_KEPT or _bytes(kept.result) > MOST_BYTES:
            return
        self._kept[kept] = opcodes
        self._with.setdefault(opcodes, []).append(kept)
        self._instructions += len(opcodes)
        while self._instructions > MOST_KEPT:
            oldest = next(iter(self._kept))
            forgotten = self._kept.pop(oldest)
            self._with[forgotten].remove(oldest)
            if not self._with[forgotten]:
                del self._with[forgotten]
            self._instructions -= len(forgotten)


_current: ContextVar[Answers | None] = ContextVar("answers", default=None)


@contextmanager
def sharing() -> Iterator[Answers]:
    """All audits inside share their answers."""
    answers = _current.get() or Answers()
    token = _current.set(answers)
    try:
        yield answers
    finally:
        _current.reset(token)


def current() -> Answers:
    """The answers of the current audit, or new ones."""
    return _current.get() or Answers()


def _operands(instruction: Instruction) -> Iterator[Operand | None]:
    for op in instruction.ops:
        yield from op.src
    if (site := instruction.site) is not None:
        yield from (site.address, site.source, site.source_size)


def _bytes(result: KernelResult) -> int:
    """The size of the arrays of all requests of an answer."""
    requests = (one for site in result.sites if site.kept is not None for one in site.kept.requests)
    return sum(getattr(getattr(one, name), "nbytes", 0) for one in requests for name in one.__struct_fields__)


def _pays(account: Account, other: Account) -> bool:
    """An account has at least as much left as the other had, under the same limits."""
    return (
        (account.limit, account.most) == (other.limit, other.most)
        and account.spent <= other.spent
        and account.held <= other.held
    )


def _alike(one: Question, other: Question) -> bool:
    """The two machines serve every request of the function alike."""
    if one.machine is other.machine:
        return True
    decide = (name for name in Machine.__struct_fields__ if name not in _OF_MACHINE)
    return (
        all(getattr(one.machine, name) == getattr(other.machine, name) for name in decide)
        and not one.refused
        and not other.refused
    )


def _plain(value: Any) -> Hashable:
    """A hashable form of what the launch specifies. Contents of memory are equal only if they are the same array."""
    if isinstance(value, Launch):
        return tuple((one.name, _plain(getattr(value, one.name))) for one in fields(value) if one.compare)
    if isinstance(value, Buffer):
        return id(value.data), value.type, value.shape, value.origin, value.address
    if isinstance(value, (tuple, list)):
        return tuple(map(_plain, value))
    if isinstance(value, Mapping):
        return tuple((name, _plain(one)) for name, one in value.items())
    return exactly(value)
