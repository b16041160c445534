"""Inlines the device functions that a kernel calls, before graphs are built.

    call (r1), f, (r2)        ->   f#3/arg0 = r2;  call to this call's own copy of f
    (the next instruction)         r1 = f#3/result0
    …                              the copies follow the kernel's instructions, registers renamed f#3/…

Each call has its own copy, so that the arguments of different calls do not mix; once the copies exceed COPIED
instructions, further calls share one. A recursive function has one copy for all calls, and its registers are saved
and restored around recursive calls (`frames`). Calls that cannot be followed (through pointers, to functions defined
elsewhere) keep opaque results; the functions that they may enter are appended too, unreachable.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from ptxaudit.base.quiet import no_collection
from ptxaudit.base.work import INSTRUCTION, Account
from ptxaudit.ir import frames
from ptxaudit.ir.aborts import without_aborts
from ptxaudit.ir.blocks import inside
from ptxaudit.ir.dataflow.digraph import Digraph, components
from ptxaudit.ir.dispatch import of_machine_code, with_choices
from ptxaudit.ir.nodes import Control, Function, Guard, Instruction, Meeting, Module, Op, Operand, Reg, Site
from ptxaudit.ir.targets import entered
from ptxaudit.ir.transfers import is_unresolved

Name = TypeVar("Name", int, str)  # of a function in a call graph

Kept = TypeVar("Kept", Reg, Operand, Reg | None, Operand | None)

COPYING = "inlining called functions"
COPIED = 8_000  # instructions of callees that are copied per call: twice as many resolve no more sites of the corpus


@no_collection()
def link(module: Module, kernel: Function, account: Account | None = None) -> Function:
    """The kernel followed by its callees, without paths that abort (`aborts`); the kernel itself if it calls nothing.

    Raises Exhausted if the account is used up.
    """
    return without_aborts(_linked(module, kernel, account or Account()))


def _linked(module: Module, kernel: Function, account: Account) -> Function:
    if kernel.isa == "ptx":
        module, kernel = with_choices(module, kernel)
    else:
        kernel = of_machine_code(kernel)
    calls = [i.control for i in kernel.instructions if i.control is not None and i.control.kind == "call"]
    if not calls:
        return kernel
    if any(control.targets for control in calls):
        return unshare(kernel, account)
    return _Linking(module, kernel, account).linked()


class _Linking:
    """A kernel to which its callees are being appended.

    out: the instructions so far; origin: where each comes from; shared: callee -> (first instruction, prefix) of the
    copy that several calls share; work: (function, prefix, index of its call) for each copy still to be made;
    planned: instructions of callees that are copied or will be.
    """

    def __init__(self, module: Module, kernel: Function, account: Account):
        self.module, self.kernel, self.account = module, kernel, account
        self.cycle = _cycles(module, kernel)
        self.out: list[Instruction] = []
        self.origin: list[tuple[str, int]] = []
        self.shared: dict[str, tuple[int, str]] = {}
        self.variables = {(v.space, v.name): v for v in kernel.variables}
        self.work: list[tuple[Function, str, int | None]] = [(kernel, "", None)]
        self.planned = 0

    def linked(self) -> Function:
        """The kernel with all its callees."""
        while self.work:
            function, prefix, call_at = self.work.pop()
            if call_at is not None:
                self.out[call_at] = _calling(self.out[call_at], len(self.out))
                for v in function.variables:
                    self.variables.setdefault((v.space, v.name), v)
            self.account.spend(INSTRUCTION * len(function.instructions), COPYING)
            copy = _Copy(prefix, _numbering(function, self.module, len(self.out)))
            for instruction in function.instructions:
                self._copied(copy, function, instruction)
        self._to_shared_copies()
        self._with_hidden()
        instructions, variables = tuple(self.out), tuple(self.variables.values())
        return replace(self.kernel, instructions=instructions, variables=variables, origin=tuple(self.origin))

    def _copied(self, copy: _Copy, function: Function, instruction: Instruction) -> None:
        """Copies one instruction; after a call, also adds the moves of its results."""
        callee, at = _followed(instruction, self.module), len(self.out)
        control, ops = copy.control(instruction.control), copy.ops(instruction.ops)
        if function.name in self.cycle:
            ops = tuple(map(frames.own_variables, ops))
        landing: tuple[Op, ...] = ()
        if callee is not None:
            prefix, control = self._called(callee, control)
            ops, landing = _passing(next((op for op in ops if op.name == "call"), None), callee, prefix)
            if self.cycle.get(callee.name, -1) == self.cycle.get(function.name):
                ops, landing = frames.kept(ops, landing, [copy.operand(r) for r in frames.registers(function)], at)
        self.out.append(
            Instruction(
                at,
                instruction.place,
                instruction.opcode,
                instruction.text,
                copy.guard(instruction.guard),
                ops,
                control,
                copy.site(instruction.site),
                instruction.source,
            )
        )
        self.origin.append(function.origin_of(instruction.index))
        if callee is not None:
            self.out.append(replace(instruction, index=at + 1, ops=landing, control=None, site=None, guard=None))
            self.origin.append(self.origin[-1])

    def _called(self, callee: Function, control: Control | None) -> tuple[str, Control | None]:
        """(prefix of the copy that a call enters, the call's control). The copy is its own, up to the limit."""
        at = len(self.out)
        own = callee.name not in self.cycle and self.planned < COPIED
        if own or callee.name not in self.shared:
            prefix = f"{callee.name}#{at}/"
            self.work.append((callee, prefix, at))
            if not own:
                self.shared[callee.name] = (at, prefix)
            self.planned += len(callee.instructions)
            return prefix, control
        first, prefix = self.shared[callee.name]
        assert control is not None  # a call
        return prefix, replace(control, callee=f"={first}")

    def _to_shared_copies(self) -> None:
        """Sets the targets of calls to a shared copy, which its first call has."""
        for at, instruction in enumerate(self.out):
            c = instruction.control
            if c is not None and c.kind == "call" and c.callee and c.callee.startswith("="):
                first = self.out[int(c.callee[1:])].control
                assert first is not None
                self.out[at] = replace(instruction, control=replace(c, targets=first.targets, callee=first.callee))

    def _with_hidden(self) -> None:
        """Appends the functions with accesses that an unresolved call may enter."""
        for name in entered(self.module, [i for i in self.out if is_unresolved(i.control)]):
            function = self.module.functions[name]
            if any(i.site is not None for i in function.instructions):
                self.account.spend(INSTRUCTION * len(function.instructions), COPYING)
                self.out += _beside(function, len(self.out))
                self.origin += [function.origin_of(i.index) for i in function.instructions]
                for v in function.variables:
                    self.variables.setdefault((v.space, v.name), v)


def _beside(function: Function, start: int) -> list[Instruction]:
    """A copy of a function that no call leads to, so that its accesses are listed: where it is entered is unknown."""
    copy = _Copy(f"{function.name}#{start}/", list(range(start, start + len(function.instructions) + 1)))
    return [
        Instruction(
            start + k,
            i.place,
            i.opcode,
            i.text,
            copy.guard(i.guard),
            copy.ops(i.ops),
            copy.control(i.control),
            copy.site(i.site),
            i.source,
        )
        for k, i in enumerate(function.instructions)
    ]


def unshare(function: Function, account: Account) -> Function:
    """The function with a copy of each subroutine (machine code's CALL within one section) per call.

    Registers keep their names: a subroutine works on its caller's. A copy keeps the places of the original
    instructions, so that its accesses count for them. Recursive subroutines are not copied.
    """
    out = list(function.instructions)
    origin = [function.origin_of(i.index) for i in out]
    taken: set[int] = set()
    cycles = _cycles_within(out, account)
    work = [i.index for i in out if i.control and i.control.kind == "call" and i.control.targets]
    while work and len(out) < len(function.instructions) + COPIED:
        at = work.pop(0)
        called = out[at].control
        assert called is not None
        start = called.targets[0]
        if start not in taken or start in cycles:
            taken.add(start)
            continue
        body = sorted(_body(out, start))
        account.spend(INSTRUCTION * len(body), COPYING)
        moved = {old: len(out) + k for k, old in enumerate(body)}
        for old in body:
            instruction = out[old]
            control = instruction.control
            if control is not None and control.targets and control.kind != "call":
                control = replace(control, targets=tuple(moved.get(t, t) for t in control.targets))
            out.append(replace(instruction, index=moved[old], control=control))
            origin.append(origin[old])
            if control is not None and control.kind == "call" and control.targets:
                work.append(moved[old])
        # the last copied instruction must not fall through to the next copy
        out[at] = _calling(out[at], moved[start])
        out.append(Instruction(len(out), out[body[-1]].place, "EXIT", "", control=Control("exit")))
        origin.append(origin[body[-1]])
    return replace(function, instructions=tuple(out), origin=tuple(origin))


def _calling(call: Instruction, start: int) -> Instruction:
    """The call with its target set to `start`."""
    assert call.control is not None
    return replace(call, control=replace(call.control, targets=(start,)))


def _cycles_within(instructions: list[Instruction], account: Account) -> set[int]:
    """The first instructions of recursive subroutines."""
    starts = {
        i.control.targets[0]
        for i in instructions
        if i.control is not None and i.control.kind == "call" and i.control.targets
    }
    calls: Digraph[int] = Digraph()
    for start in starts:
        body = _body(instructions, start)
        account.spend(INSTRUCTION * len(body), COPYING)
        calls.add_edges(
            (start, c.targets[0])
            for k in body
            if (c := instructions[k].control) is not None and c.kind == "call" and c.targets
        )
    return _again(calls)


def _again(calls: Digraph[Name]) -> set[Name]:
    """The nodes of a call graph that are on a cycle."""
    return {f for part in components(calls) for f in part if len(part) > 1 or calls.has_edge(f, f)}


def _body(instructions: list[Instruction], start: int) -> set[int]:
    """The instructions of a subroutine, as one range that contains all it can reach."""
    seen = inside(instructions, start)
    return set(range(min(seen), max(seen) + 1))


def _followed(instruction: Instruction, module: Module) -> Function | None:
    c = instruction.control
    if c is None or c.kind != "call" or c.targets:
        return None
    callee = module.functions.get(c.callee) if c.callee else None
    return callee if callee is not None and callee.instructions and not callee.entry else None


def _numbering(function: Function, module: Module, start: int) -> list[int]:
    """Old index -> new index: a followed call takes two instructions."""
    out = []
    at = start
    for i in function.instructions:
        out.append(at)
        at += 2 if _followed(i, module) is not None else 1
    return out + [at]


def _cycles(module: Module, kernel: Function) -> dict[str, int]:
    """Recursive functions that the kernel can reach -> a number, the same for mutually recursive ones."""
    calls: Digraph[str] = Digraph()
    calls.add_nodes((kernel.name,))
    waiting = [kernel]
    while waiting:
        function = waiting.pop()
        for i in function.instructions:
            callee = _followed(i, module)
            if callee is not None:
                if callee.name not in calls:
                    waiting.append(callee)
                calls.add_edge(function.name, callee.name)
    again = _again(calls)
    return {name: number for number, part in enumerate(components(calls)) for name in part if name in again}


def _passing(call: Op | None, callee: Function, prefix: str) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """Moves into the callee's arguments, and from its results."""
    if call is None:
        return (), ()
    copy = _Copy(prefix, [])
    into = tuple(
        Op("mov", (copy.operand(reg),), (source,), reg.bits, guard=call.guard)
        for reg, source in zip(callee.arguments, call.src)
    )
    back = tuple(
        Op("mov", (reg,), (copy.operand(result),), reg.bits, guard=call.guard)
        for reg, result in zip(call.dst, callee.results)
        if reg is not None
    )
    missing = tuple(
        Op("call", (reg,), (), reg.bits, call.attrs, call.guard)
        for reg in call.dst[len(callee.results) :]
        if reg is not None
    )
    return into, back + missing


class _Copy:
    """Renames a function's registers and maps its targets for a copy (`index`: old -> new)."""

    def __init__(self, prefix: str, index: list[int]):
        self.prefix, self.index = prefix, index
        self.registers: dict[tuple[str, int], Reg] = {}

    def operand(self, operand: Kept) -> Kept:
        if type(operand) is not Reg or not self.prefix:
            return operand
        key = operand.name, operand.bits
        register = self.registers.get(key)
        if register is None:
            register = self.registers[key] = Reg(self.prefix + operand.name, operand.bits, operand.uniform)
        return register

    def guard(self, guard: Guard | None) -> Guard | None:
        return Guard(self.operand(guard.reg), guard.negated) if guard and self.prefix else guard

    def ops(self, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        if not self.prefix:
            return ops
        renamed = self.operand
        return tuple(
            [
                Op(
                    op.name,
                    tuple([renamed(d) for d in op.dst]),
                    tuple([renamed(s) for s in op.src]),
                    op.bits,
                    op.attrs,
                    self.guard(op.guard),
                    op.space,
                    op.offset,
                    op.read_only,
                    op.ordered,
                )
                for op in ops
            ]
        )

    def control(self, control: Control | None) -> Control | None:
        if control is None:
            return None
        return replace(
            control,
            targets=tuple([self.index[t] for t in control.targets]),
            guard=self.guard(control.guard),
            barrier=self.operand(control.barrier),
            selector=self.operand(control.selector),
            meeting=self.meeting(control.meeting),
        )

    def meeting(self, meeting: Meeting | None) -> Meeting | None:
        if meeting is None or not self.prefix:
            return meeting
        return replace(meeting, number_in=self.operand(meeting.number_in), threads_in=self.operand(meeting.threads_in))

    def site(self, site: Site | None) -> Site | None:
        if site is None or not self.prefix:
            return site
        return replace(
            site,
            address=self.operand(site.address),
            guard=self.guard(site.guard),
            source=self.operand(site.source),
            ignore=self.guard(site.ignore),
            source_size=self.operand(site.source_size),
        )
