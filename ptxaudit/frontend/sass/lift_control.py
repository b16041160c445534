"""Lowers transfers of control: branches, jump tables, calls, convergence barriers.

    @P0 BRA !P1, 0x770         branch to 0x770 where P0 and not P1
    BRX R2 -0x170              switch over the targets that `.nv.info` lists for this place
    BSSY B0, 0x1a0             open B0 (the lanes that BSYNC B0 waits for)
    CALL.REL.NOINC 0xd70       call; the callee returns to the next instruction

Byte offsets become instruction indices. If the target of a call is unknown, or its return address is not the next
instruction, every register becomes unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES
from ptxaudit.frontend.sass.builder import NEVER, PAIR_BITS, WORD_BITS, Builder, NoMeaning, machine_register
from ptxaudit.frontend.sass.clobber import BARRIER_ANSWER, LAST_REGISTER, clobber
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import Jump, Number, Operand, Register, Word
from ptxaudit.ir import nodes as ir


def _target(b: Builder) -> int:
    """The instruction index of the last operand."""
    last = b.operand(-1)
    index = b.context.index_at(last.value) if isinstance(last, Number) else None
    if index is None:
        raise NoMeaning("a target outside the code")
    return index


def _guarded(b: Builder, operands: Sequence[Operand]) -> ir.Guard | None:
    """The guard narrowed by predicate operands."""
    guard = b.guard
    for operand in operands:
        if not isinstance(operand, Register) or not operand.is_predicate:
            raise NoMeaning
        guard = b.condition(operand)
    return guard


def branch(b: Builder) -> None:
    """BRA; .U has a uniform predicate; with .U.ANY all lanes branch if the predicate holds in any.

    .DIV and .CONV test whether the lanes of a mask have converged.
    """
    if b.has("DIV", "CONV"):
        return _branch_on_convergence(b)
    guard = _guarded(b, b.operands[:-1])
    if b.has("ANY", "ALL") and guard is not None and guard is not NEVER:
        own = b.compute("not", guard.reg, bits=1) if guard.negated else guard.reg
        guard = ir.Guard(b.compute("vote.any" if b.has("ANY") else "vote.all", own, bits=1))
    if guard is not NEVER:
        b.control = ir.Control("branch", (_target(b),), guard, uniform=b.has("U"))


def _branch_on_convergence(b: Builder) -> None:
    """BRA.DIV and BRA.CONV: whether the active lanes branch, all together.

    .DIV branches if a lane of the mask that has not exited is inactive or its guard is false; .CONV branches if there
    is no such lane. (Measured for BRA.DIV: docs/convergence.md.)
    """
    mask: ir.Operand = ir.Const((1 << WORD_BITS) - 1)
    if len(b.operands) == 2 and not (isinstance(b.operand(0), Register) and b.operand(0).is_zero):
        mask = b.integer(b.operand(0))
    own: ir.Operand = ir.Const(1)
    if b.guard is NEVER:
        own = ir.Const(0)
    elif b.guard is not None:
        own = b.compute("not", b.guard.reg, bits=1) if b.guard.negated else b.guard.reg
    diverged = b.compute("vote.diverged", own, mask, bits=1)
    b.control = ir.Control("branch", (_target(b),), ir.Guard(diverged, negated=b.has("CONV")))


def switch(b: Builder) -> None:
    """BRX and BRXU: a jump to register + displacement."""
    jump = b.operand(-1)
    guard = _guarded(b, b.operands[:-1])
    targets = tuple(dict.fromkeys(b.context.function.info.branches.get(b.place, ())))
    indices = tuple(index for target in targets if (index := b.context.index_at(target)) is not None)
    if not isinstance(jump, Jump) or not indices or len(indices) < len(targets) or guard is not None:
        b.control = ir.Control("switch", (), guard)
        return
    place = b.compute("add", b.word(jump.register), ir.Const((b.place + INSTRUCTION_BYTES + jump.offset) & 0xFFFFFFFF))
    chosen: ir.Operand = ir.Const(len(targets))
    for position, target in enumerate(targets):
        here = b.compute("setp.eq", place, ir.Const(target), result=1)
        chosen = b.compute("select", ir.Const(position), chosen, here)
    b.control = ir.Control("switch", indices, selector=chosen)


def unknown_jump(b: Builder) -> None:
    b.control = ir.Control("switch", (), b.guard)


def leave(b: Builder) -> None:
    """EXIT, KILL."""
    guard = _guarded(b, [o for o in b.operands if isinstance(o, Register)])
    if guard is not NEVER:
        b.control = ir.Control("exit", guard=guard)


def trap(b: Builder) -> None:
    """BPT.TRAP ends the launch; other forms are for debuggers."""
    if b.has("TRAP"):
        b.control = ir.Control("exit", guard=b.guard, aborts=True)


NOWHERE = 0xFFFFFFFF  # the number of no target
_ALL_REGISTERS = tuple(machine_register(kind, k) for kind, last in LAST_REGISTER.items() for k in range(last + 1))
# Registers that a function of the runtime may write: 128 bits from R4 on, which is more than any result. Code that
# reads other registers after such a call without having written them there expects their earlier values, as no code
# reads arbitrary leftovers.
RUNTIME_RESULTS = tuple(machine_register("R", k) for k in range(4, 8))


# --- calls ----------------------------------------------------------------------------------


def call(b: Builder) -> None:
    """CALL: the machine keeps no return addresses, so a call that sets none up is a branch."""
    known = b.context.calls.get(b.place)
    if known is None:
        if b.place in b.context.computed:
            return _computed_call(b)
        callee = b.context.missing.get(b.place)
        if callee in ir.ABORTING:
            b.control = ir.Control("exit", guard=b.guard, aborts=True)
            return
        written = RUNTIME_RESULTS if callee in ir.RUNTIME else _ALL_REGISTERS  # other functions may write all registers
        b.emit("call", written, (), attrs=(callee or "a function",))
        b.control = ir.Control("call", (), b.guard, callee=callee)
        return
    kind, index = known
    if kind == "jump":
        forget_everything(b)
        return unknown_jump(b)
    b.control = ir.Control("call" if kind == "call" else "branch", (index,), b.guard)


def _computed_call(b: Builder) -> None:
    """A call through registers: selects the possible target whose address they hold."""
    known = b.context.computed[b.place]
    last = b.operand(-1)
    selector: ir.Operand | None = None
    if known.targets and isinstance(last, Jump | Register):
        if isinstance(last, Jump):
            pointer: ir.Operand = b.compute("cat", *b.both(last.register), bits=PAIR_BITS)
            shift = last.offset
        else:
            pointer, shift = b.pair(last), 0
        if shift:
            pointer = b.compute("add", pointer, ir.Const(shift & (1 << PAIR_BITS) - 1, PAIR_BITS), bits=PAIR_BITS)
        chosen: ir.Operand = ir.Const(len(known.targets) if known.open else NOWHERE)
        for number, (operand, _) in enumerate(known.targets):
            here = b.compute("setp.eq", pointer, operand, bits=PAIR_BITS, result=1)
            chosen = b.compute("select", ir.Const(number), chosen, here)
        selector = chosen
    b.emit("call", _ALL_REGISTERS, (), attrs=("a function",))
    choices = tuple(index for _, index in known.targets) if selector is not None else ()
    b.control = ir.Control("call", (), b.guard, selector=selector, choices=choices, open=known.open)


def forget_everything(b: Builder) -> None:
    """Writes every register and all memory, for an instruction that cannot be read."""
    b.ops.clear()
    b.emit("opaque", _ALL_REGISTERS, (), attrs=(b.opcode, ""))
    b.emit("clobber", (), (), space="generic")


def not_understood(b: Builder) -> None:
    """An unsupported control transfer: it may lead anywhere."""
    if b.root in ("BAR", "UCGABAR_ARV", "UCGABAR_WAIT"):
        b.control = ir.Control("barrier", guard=b.guard)  # unknown participants
        return clobber(b)
    forget_everything(b)
    unknown_jump(b)


def give_back(b: Builder) -> None:
    b.control = ir.Control("ret", guard=b.guard)


# --- convergence ----------------------------------------------------------------------------


def _barrier(operand: Operand) -> ir.Reg:
    if not isinstance(operand, Word) or not operand.text.startswith("B"):
        raise NoMeaning
    return ir.Reg(operand.text, WORD_BITS)


def open_barrier(b: Builder) -> None:
    b.control = ir.Control("open", (_target(b),), b.guard, _barrier(b.operand(0)))


def synchronise(b: Builder) -> None:
    b.control = ir.Control("sync", (), b.guard, _barrier(b.operand(-1)))


def leave_barrier(b: Builder) -> None:
    guard = _guarded(b, b.operands[:-1])
    if guard is not NEVER:
        b.control = ir.Control("leave", (), guard, _barrier(b.operand(-1)))


def move_barrier(b: Builder) -> None:
    """BMOV: saves a convergence barrier around a call, restores it, or clears it."""
    destination, source = b.operand(0), b.operand(1)
    if isinstance(source, Word):
        kept = b.destination(destination)
        b.emit("barrier.save", (kept,), (_barrier(source),))
        if b.has("CLEAR"):
            b.emit("barrier.clear", (), (_barrier(source),))
    elif isinstance(source, Register):
        b.emit("barrier.restore", (), (_barrier(destination), b.integer(source)))
    else:
        raise NoMeaning


def warp_sync(b: Builder) -> None:
    """WARPSYNC mask, .ALL, .EXCLUSIVE mask, and .COLLECTIVE mask, place.

    After .COLLECTIVE, the instructions up to the place are executed together by the lanes that specify the same mask
    (measured: seed 6089 at -O0, tiles of a warp).
    """
    selector: ir.Operand | None = None
    if b.operands and not b.has("ALL"):
        selector = b.integer(b.operand(0))
    until = (_target(b),) if b.has("COLLECTIVE") else ()
    kind: ir.ControlKind = "part" if b.has("EXCLUSIVE", "COLLECTIVE") else "warpsync"
    b.control = ir.Control(kind, until, b.guard, selector=selector)


def block_barrier(b: Builder) -> None:
    """BAR.SYNC number{, threads}, .ARV, .RED; the barriers of a cluster."""
    number, threads = (
        ([_integer(o) for o in b.operands if not (isinstance(o, Register) and o.is_predicate)] + [0])[:2]
        if b.operands
        else (None, None)
    )
    meeting = None
    if b.root == "BAR":
        numbered = number is not None and b.has("SYNC", "ARV", "RED")
        count = None
        if numbered and threads is None and isinstance(b.operand(1), Register) and not b.operand(1).is_predicate:
            count = b.integer(b.operand(1))
        meeting = ir.Meeting(number if numbered else None, threads, not b.has("ARV"), threads_in=count)
    b.control = ir.Control("barrier", guard=b.guard, meeting=meeting)
    if b.has("RED"):
        kind = "popc" if b.has("POPC") else "and" if b.has("AND") else "or"
        b.emit("bar.red", BARRIER_ANSWER, (b.predicate(b.operands[-1]),), attrs=(kind,))


def _integer(operand: Operand) -> int | None:
    return operand.value if isinstance(operand, Number) and operand.is_integer else None


def barrier_result(b: Builder) -> None:
    """B2R.RESULT: the result of the block's last BAR.RED, as a number or as a predicate."""
    count, truth = BARRIER_ANSWER
    for operand in b.operands:
        destination = b.destination(operand)
        if destination is not None:
            b.emit("mov", (destination,), (truth if destination.bits == 1 else count,), destination.bits)


def set_registers(b: Builder) -> None:
    """USETMAXREG; .TRY_ALLOC returns a predicate for the warp: whether it got the registers."""
    for operand in b.operands:
        if isinstance(operand, Register) and operand.is_predicate and not operand.is_zero:
            b.emit("bar.red", (b.destination(operand),), (), 1)


def give_way(b: Builder) -> None:
    """YIELD, in loops that wait for other lanes, and NANOSLEEP.

    Measured: if some lanes of a warp sleep, lanes that wait for them at a BSYNC proceed without them.
    """
    b.control = ir.Control("yield", guard=b.guard)


def nothing(b: Builder) -> None:
    """No effect on registers, shared memory or control flow."""


# Waits, fences, hints and cache control: (marks, operands). They only read their operands, and write no register that
# is modelled.
_NO_EFFECT = {
    "NOP": ("", ""),
    "DEPBAR": ("LE?", "W?N?W?"),
    "LDGDEPBAR": ("", ""),
    "LDTDEPBAR": ("", ""),
    "MEMBAR": ("(SC|ALL)? (CTA|SM|GPU|SYS|VC)?", ""),
    "FENCE": ("VIEW ASYNC (S|T|G)?", ""),
    "ERRBAR": ("", ""),
    "CGAERRBAR": ("", ""),
    "CCTL": ("E? (IVALL|IVALLP|PF1|PF1_5|PF2|IV|RS|WBALL|RSLB|WB|D|DV)?", "M?"),
    "CCTLL": ("(IV|IVALL|PF1|WB|WBALL|RS)?", "M?"),
    "CCTLT": ("(IVALL)?", ""),
    "WARPGROUP": ("(ARRIVE|DEPBAR LE|DEPBAR)?", "W?N?"),
    "WARPGROUPSET": ("", "N?"),
    "UTMACMDFLUSH": ("", ""),
    "UTMACCTL": ("(PF|IV|IVALL)?", "M?"),
    "UTMAPF": ("L2? (1D|2D|3D|4D|5D) (IM2COL|GATHER4)?", "M{0,2}R?"),
    "UBLKPF": ("(L2)?", "M?R?"),
    "PREEXIT": ("", ""),
    "USETSHMSZ": ("FLUSH?", "[RN]?"),  # the block gives up the end of its shared memory
    "ACQBULK": ("", ""),
    "ACQSHMINIT": ("", ""),
    "ENDCOLLECTIVE": ("", ""),
    "PMTRIG": ("", "[RN]*"),
}
_SIDES = "(RECONVERGENT|RELIABLE)?"
_JUMP = Row(unknown_jump, "", "P?[NJRIW]?")

# Control transfers and synchronisation: unsupported forms of these are never ignored.
CONTROL = {
    "BRA": Row(branch, "(U (ANY|ALL)?)? / DIV / CONV", "P?N|RN", "~"),
    "BRX": Row(switch, "", "P?J"),
    "BRXU": Row(switch, "", "P?J"),
    "JMP": _JUMP,
    "JMX": _JUMP,
    "JMXU": _JUMP,
    "RTT": _JUMP,
    "EXIT": Row(leave, "", "P?"),
    "KILL": Row(leave, "", "P?"),
    "BPT": Row(trap, "TRAP / INT / DRAIN / PAUSE", "N?"),
    "CALL": Row(call, "(ABS|REL) NOINC?", "[NJRW]"),
    "RET": Row(give_back, "(ABS|REL) NODEC?", "J"),
    "BSSY": Row(open_barrier, _SIDES, "WN"),
    "BSYNC": Row(synchronise, _SIDES, "W"),
    "BREAK": Row(leave_barrier, _SIDES, "P?W"),
    "BMOV": Row(move_barrier, "32 CLEAR? / 32", "RW|WR"),
    "WARPSYNC": Row(warp_sync, "ALL? / EXCLUSIVE / COLLECTIVE ALL?", "R?N?"),
    "YIELD": Row(give_way, "", ""),
    "NANOSLEEP": Row(give_way, "(SYNCS|WARP)?", "P?I?"),
    "BAR": Row(block_barrier, "(SYNC|ARV) DEFER_BLOCKING? / RED (AND|OR|POPC) DEFER_BLOCKING?", "[RN]{1,2}P?"),
    "UCGABAR_ARV": Row(block_barrier, "", ""),
    "UCGABAR_WAIT": Row(block_barrier, "", ""),
}

LOWERINGS = {
    **{root: Row(nothing, *declared) for root, declared in _NO_EFFECT.items()},
    **CONTROL,
    "USETMAXREG": Row(set_registers, "(DEALLOC|TRY_ALLOC) CTAPOOL", "P?[RN]"),
    "B2R": Row(barrier_result, "RESULT", "RP?"),
}
