"""Lowers PTX control flow, barriers, calls and warp-wide instructions.

    @%p1 bra $L1;                          Control("branch", …, guard=@%p1)
    brx.idx %r1, ts;                       Control("switch", selector=%r1, the labels of ts)
    call.uni (retval0), f, (param0);       Op("call", dst=pieces of retval0, src=pieces of param0),
                                           Control("call", callee="f")

At a call, the sources of the Op "call" are, in order, the values of the callee's `arguments`; its destinations
receive the callee's `results` at its return. An engine that does not follow the call leaves the results opaque.
Sections "Control Flow Instructions", "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from collections.abc import Callable

from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import Emitter
from ptxaudit.frontend.ptx.memory import nothing
from ptxaudit.frontend.ptx.opcodes import Lower, Opcode, Row
from ptxaudit.frontend.ptx.scope import Callee, Pieces, Registers
from ptxaudit.frontend.ptx.types import Type
from ptxaudit.ir import nodes as ir

DISCARDED = s.Name("_")


def branch(o: Opcode) -> Lower | None:
    uniform = "uni" in o.plain

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        if not isinstance(operands[0], s.Name):
            raise e.error("the target of bra is not a label")
        e.control = ir.Control("branch", e.targets_at((operands[0].text,)), e.guard, uniform=uniform)

    return lower


def indexed_branch(o: Opcode) -> Lower | None:
    """brx.idx index, table."""
    if "idx" not in o.plain:
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        table = e.scope.table(operands[1].text) if isinstance(operands[1], s.Name) else None
        selector = e.value(operands[0], 32)
        targets = e.targets_at(table.targets) if isinstance(table, s.Table) else ()
        guard = e.guard
        if guard is not None and targets:  # the other lanes go on behind it
            chosen, behind = e.temporary(32), ir.Const(len(targets))
            ways = (behind, selector) if guard.negated else (selector, behind)
            e.ops.append(ir.Op("select", (chosen,), (*ways, guard.reg), 32))
            selector, targets, guard = chosen, (*targets, e.following), None
        e.control = ir.Control("switch", targets, guard, selector=selector, uniform="uni" in o.plain)

    return lower


def leave(kind: ir.ControlKind, aborts: bool = False) -> Callable[[Opcode], Lower]:
    """exit, trap, ret."""

    def resolve(o: Opcode) -> Lower:
        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            e.control = ir.Control(kind, (), e.guard, aborts=aborts)

        return lower

    return resolve


def call(o: Opcode) -> Lower:
    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        rest = list(operands)
        results = rest[0].items if isinstance(rest[0], s.Group) else None
        if results is not None:
            rest.pop(0)
        target = rest.pop(0)
        arguments = rest[0].items if rest and isinstance(rest[0], s.Group) else ()
        symbol = e.scope[target.text] if isinstance(target, s.Name) else None
        name = symbol.name if isinstance(symbol, Callee) else None
        if isinstance(symbol, Callee) and name in ir.ABORTING and not symbol.defined:
            e.control = ir.Control("exit", (), e.guard, aborts=True)
            return
        dst = tuple(r for item in results or () for r in ((None,) if item == DISCARDED else _pieces(e, item)))
        src = tuple(r for item in arguments for r in _pieces(e, item))
        e.emit(
            "call", tuple(d if isinstance(d, ir.Reg) else None for d in dst), src, 64, (name or "a function pointer",)
        )
        selector = symbol if isinstance(symbol, ir.Reg) else None
        e.control = ir.Control("call", (), e.guard, selector=selector, callee=name, uniform="uni" in o.plain)

    return lower


def _pieces(e: Emitter, operand: s.Operand) -> tuple[ir.Operand, ...]:
    """The registers that hold an argument or a result."""
    symbol = e.scope[operand.text] if isinstance(operand, s.Name) else None
    if isinstance(symbol, Pieces | Registers):
        return symbol.regs
    return (e.value(operand, 64),)


# --- barriers -----------------------------------------------------------------------------------


def barrier(o: Opcode) -> Lower | None:
    """bar, barrier: of the block, of the cluster, or with .warp of a warp."""
    if "warp" in o.plain:

        def warp(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            e.control = ir.Control("warpsync", (), e.guard, selector=e.value(operands[0], 32))

        return warp

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        taking = operands[1:-1] if "red" in o.plain else operands
        meeting = None if "cluster" in o.plain else _meeting(e, taking, "arrive" not in o.plain)
        aligned = o.base == "bar" or "aligned" in o.plain
        e.control = ir.Control("barrier", (), e.guard, meeting=meeting, aligned=aligned)
        if "red" in o.plain:
            kind = next(word for word in ("popc", "and", "or") if word in o.plain)
            sources = tuple(v for x in operands[1:] for v in e.everything(x))
            e.emit("bar.red", e.targets(operands[0]), sources, attrs=(kind,))

    return lower


def _meeting(e: Emitter, operands: tuple[s.Operand, ...], waits: bool) -> ir.Meeting:
    """The barrier's number and the number of participating threads, from `a{, b}`."""
    if not operands:
        return ir.Meeting(None, None, waits)
    held = [e.value(x, 32) for x in operands[:2]]
    number, threads = ([v.value if isinstance(v, ir.Const) else None for v in held] + [0])[:2]
    return ir.Meeting(number, threads, waits, held[0], held[1] if len(held) > 1 else None)


# --- across the lanes of a warp --------------------------------------------------------------------


def nap(o: Opcode) -> Lower | None:
    """nanosleep: lanes that wait for sleeping lanes may proceed without them."""

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        e.control = ir.Control("yield", guard=e.guard)

    return lower


def shuffle(o: Opcode) -> Lower | None:
    """shfl[.sync].mode.b32 d[|p], a, b, c[, mask]."""
    mode = next((m for m in ("idx", "up", "down", "bfly") if m in o.plain), None)
    if mode is None or o.plain - {mode, "sync"}:
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        targets = e.targets(operands[0])
        e.emit(f"shfl.{mode}", (*targets, None)[:2], tuple(e.value(x, 32) for x in operands[1:]), 32)

    return lower


def vote(o: Opcode) -> Lower | None:
    mode = next((m for m in ("all", "any", "uni", "ballot") if m in o.plain), None)
    if mode is None:
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, p, *mask = operands
        sources = (e.value(p, 1), *(e.value(m, 32) for m in mask))
        e.emit(f"vote.{mode}", (e.target(d),), sources, 32 if mode == "ballot" else 1)

    return lower


def match(o: Opcode) -> Lower | None:
    mode = next((m for m in ("any", "all") if m in o.plain), None)
    if mode is None or not o.types:
        return None
    bits = o.types[0].bits

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, *mask = operands
        e.emit(f"match.{mode}", (*e.targets(d), None)[:2], (e.value(a, bits), *(e.value(m, 32) for m in mask)), bits)

    return lower


def reduce(o: Opcode) -> Lower | None:
    """redux.sync.op.type d, a, mask."""
    operation = next((m for m in ("add", "min", "max", "and", "or", "xor") if m in o.plain), None)
    if operation is None or len(o.types) != 1 or o.types[0].kind not in "sub":
        return None
    kind: Type = o.types[0]
    name = f"redux.{operation}" + (f".{'s' if kind.kind == 's' else 'u'}" if operation in ("min", "max") else "")

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, *mask = operands
        e.emit(name, (e.target(d),), (e.value(a, 32), *(e.value(m, 32) for m in mask)), 32)

    return lower


def elect(o: Opcode) -> Lower:
    """elect.sync d|p, mask."""

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, *mask = operands
        e.emit("elect", (None, *e.targets(d))[-2:], tuple(e.value(m, 32) for m in mask), 32)

    return lower


def active_mask(o: Opcode) -> Lower:
    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        e.emit("activemask", (e.target(operands[0]),), (), 32)

    return lower


def map_address(o: Opcode) -> Lower | None:
    """mapa[.shared::cluster].type d, a, rank: the same place in another block of the cluster."""
    if len(o.types) != 1:
        return None
    bits, space = o.types[0].bits, "shared" if "shared::cluster" in o.plain else "generic"

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        d, a, rank = operands
        e.emit("mapa", (e.target(d),), (e.value(a, bits), e.value(rank, 32)), bits, (space,))

    return lower


FLOW, SYNCHRONIZATION = "Control Flow Instructions", "Parallel Synchronization and Communication Instructions"
ROWS: dict[str, Row] = {
    "bra": Row(branch, FLOW, "uni"),
    "brx": Row(indexed_branch, FLOW, "idx uni"),
    "call": Row(call, FLOW, "uni"),
    "ret": Row(leave("ret"), FLOW, "uni"),
    "exit": Row(leave("exit"), FLOW),
    "trap": Row(leave("exit", aborts=True), "Miscellaneous Instructions"),
    "bar": Row(barrier, SYNCHRONIZATION, "sync arrive red warp cta aligned and or popc"),
    "barrier": Row(
        barrier, SYNCHRONIZATION, "sync arrive red wait cta cluster aligned and or popc release relaxed acquire"
    ),
    "shfl": Row(shuffle, "Data Movement and Conversion Instructions", "sync idx up down bfly"),
    "vote": Row(vote, SYNCHRONIZATION, "sync all any uni ballot"),
    "match": Row(match, SYNCHRONIZATION, "sync all any"),
    "redux": Row(reduce, SYNCHRONIZATION, "sync add min max and or xor"),
    "elect": Row(elect, SYNCHRONIZATION, "sync"),
    "activemask": Row(active_mask, SYNCHRONIZATION),
    "mapa": Row(map_address, "Data Movement and Conversion Instructions", "shared::cluster"),
    "membar": Row(nothing, SYNCHRONIZATION, "cta gl sys cluster proxy alias"),
    "fence": Row(nothing, SYNCHRONIZATION, "*"),
    "griddepcontrol": Row(nothing, SYNCHRONIZATION, "launch_dependents wait"),
    "nanosleep": Row(nap, "Miscellaneous Instructions"),
    "brkpt": Row(nothing, "Miscellaneous Instructions"),
    "pmevent": Row(nothing, "Miscellaneous Instructions", "mask"),
    "setmaxnreg": Row(nothing, "Miscellaneous Instructions", "inc dec sync aligned"),
}
TRANSFERS = ("bra", "brx", "call", "ret", "exit", "trap")  # an unsupported form is never ignored


def not_understood(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
    """An unsupported form of a control transfer or barrier, or an unknown opcode."""
    base = e.opcode.partition(".")[0]
    if base in ("bar", "barrier"):
        e.control = ir.Control("barrier", (), e.guard)  # unknown participants
    else:
        e.emit("clobber", space="generic")
        e.control = ir.Control("switch", (), e.guard)
