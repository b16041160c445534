"""The memories that an access may refer to: by its state space, for a generic address by its value.

    ld.param r, [8]        the parameters
    ld.generic r, [p]      shared memory, a buffer of the launch, or local memory, as far as p determines it

Both execution and inference load and store here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ptxaudit.engine.domain.value import Uniform, Value, fingerprint, opaque, unknown
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.local import Local, forget
from ptxaudit.engine.memory.parameters import Parameters, ParametersByAddress
from ptxaudit.engine.memory.references import Memory, Otherwise, ReadOnly, Reference
from ptxaudit.engine.memory.registers import Guarded, Results, View, as_uniform_in, place_at
from ptxaudit.ir.nodes import MATRICES, Op
from ptxaudit.ir.operands import WRITES, promised, writes_local
from ptxaudit.ir.reasons import Kind, Reason


class _Constants(ReadOnly):
    """Constant memory, as the file and the launch initialise it."""

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        env = at.view.env
        return at.elements(lambda place: env.constants.load(at.op.space, place, at.bits, env.pointers), otherwise)


class _Given(ReadOnly):
    """Global memory whose contents the launch specifies; `written` determines which buffers a kernel may write."""

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        memory = at.view.env.facts.memory
        if memory is None:
            return otherwise()
        return at.elements(lambda address: memory.load(address, at.bits, at.index), otherwise)


class _Followed:
    """A memory that only some runs track."""

    def __init__(self, of: Callable[[Environment], Memory | None]):
        self.of = of

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        memory = self.of(at.view.env)
        return otherwise() if memory is None else memory.load(at, otherwise)

    def store(self, at: Reference) -> Results | None:
        memory = self.of(at.view.env)
        return None if memory is None else memory.store(at)


LOCAL, SHARED, COUNTERS = Local(), _Followed(lambda env: env.shared), _Followed(lambda env: env.counters)
CONSTANTS = (_Constants(),)
MEMORIES: dict[str, tuple[Memory, ...]] = {
    "param": (Parameters(),),
    "local": (LOCAL,),
    "global": (_Given(), COUNTERS),
    "shared": (SHARED,),
    "shared::cluster": (SHARED,),
    MATRICES: (SHARED,),
    "generic": (SHARED, ParametersByAddress(), _Given(), COUNTERS, LOCAL),
}
"""State space -> the memories that an access may refer to, in the order in which they are queried."""


def memories(space: str) -> tuple[Memory, ...]:
    return MEMORIES.get(space) or (CONSTANTS if space.startswith("const") else ())


def access(op: Op, view: View, index: int, guard: Guarded, certain: bool = True) -> Results | None:
    """Performs a load or an operation of `WRITES`: the contents of registers after it, None if it has no results.

    certain: the lanes that perform it are known; else any active one may.
    """
    at = Reference(op, view, index, guard, certain)
    if op.name == "load":
        return _loaded(at, memories(op.space))
    results = None
    for memory in memories(op.space):
        results = memory.store(at) or results
    if op.name == "atom":
        return results or tuple([opaque(d.bits if d else 32, Reason(Kind.LOADED_BY_ATOMIC, index)) for d in op.dst])
    return None


def perhaps(op: Op, view: View, index: int) -> None:
    """Performs an operation that may write memory, if the lanes that execute it are unknown."""
    if op.name in WRITES:
        access(op, view, index, None, certain=False)
    elif writes_local(op):
        forget(view.registers)


def perhaps_local(op: Op, view: View, index: int) -> None:
    """As `perhaps`, as far as the operation may write local memory."""
    if op.name == "store":
        LOCAL.store(Reference(op, view, index, None, certain=False))
    elif writes_local(op):
        forget(view.registers)


def _loaded(at: Reference, of: tuple[Memory, ...]) -> Results:
    return (
        of[0].load(at, partial(_loaded, at, of[1:])) if of else at.elements(partial(_outside, at), partial(_wide, at))
    )


def _outside(at: Reference, address: Value) -> Value:
    """A number from memory with unknown contents: the same for all lanes that read one place at once."""
    view, env = at.view, at.view.env
    together = view.grouped or promised(env.function.instructions[at.index])  # else lanes may read at different times
    flat = as_uniform_in(view, address, at.guard) if together and at.op.space != MATRICES else None
    if flat is not None:
        key = "load", at.index, fingerprint(flat), at.bits, env.serial()
        name, bits = f"value loaded at {place_at(env, at.index)}", at.register_bits
        low, high = (None, None) if bits == at.bits else at.range
        return unknown(Uniform(name, bits, 0, low, high, "loaded", key, data=True, address=at.bits == 64))
    return opaque(at.bits, Reason(Kind.LOADED, at.index))


def _wide(at: Reference) -> Results:
    """Elements wider than any width that is tracked."""
    value = opaque(64, Reason(Kind.LOADED_WIDE, at.index, (at.bits,)))
    return tuple([at.extended(value, k) for k in range(len(at.op.dst))])
