"""Lowers a PTX syntax tree to the IR: every instruction with its operations, control and site.

    .entry k(.param .u64 k_param_0)            Function("k", parameters=(Parameter("k_param_0", 0, 8, ".u64"),),
    { .reg .b32 %r<3>;                             instructions=(
      mov.u32 %r1, %tid.x;             ->          mov.32(%tid.x) -> %r1,
      st.shared.u32 [s], %r1;                      store.32 shared(s, %r1) with a Site,
      ret; }                                       Control("ret")))

Registers of inner scopes get distinct names. An opcode without a row, or a form that its row does not support,
becomes an operation "opaque" with its opcode, which makes the registers it writes opaque.
"""

from __future__ import annotations

import functools

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import INITIAL, as_error
from ptxaudit.base.quiet import no_collection
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.frontend.ptx import control, memory, moves, narrow, opcodes, video
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.contraction import contracted
from ptxaudit.frontend.ptx.data import variables, with_functions
from ptxaudit.frontend.ptx.debug import Debug
from ptxaudit.frontend.ptx.emitter import Emitter, NoMeaning, constant
from ptxaudit.frontend.ptx.opcodes import Lower, Opcode, Plain, Row
from ptxaudit.frontend.ptx.printer import instruction_text
from ptxaudit.frontend.ptx.scope import Callee, Data, Place, Scope, parameter_bytes, shape_of
from ptxaudit.frontend.ptx.types import BYTE
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.operands import read_guard_first

ROWS: dict[str, Row] = opcodes.ROWS | narrow.ROWS | moves.ROWS | memory.ROWS | control.ROWS | video.ROWS
"""Every modelled opcode, by base name. The results of all others are opaque."""

REGISTERS_A_STATEMENT = 2
"""Registers created with their declaration, per statement of the function: compilers declare as many as they use."""

MAX_THREADS = 1024
"""The maximum per block, on every machine."""

# Opcodes without a row that write only their first operand, or else memory as listed in `memory.WRITES`.
WITHOUT_ROW = frozenset(
    """
    tex tld4 txq suld suq sust sured istypep mma movmatrix createpolicy getctarank multimem testp dp4a dp2a
    vabsdiff vmad vmax vmin vset vset2 vset4 vadd2 vadd4 vsub2 vsub4 vavrg2 vavrg4 vmin2 vmin4 vmax2 vmax4
    vabsdiff2 vabsdiff4
    stacksave stackrestore alloca isspacep tcgen05 ldmatrix rnd
""".split()
)


@functools.cache
def meaning(opcode: str) -> Plain | Lower | None:
    """The row of an opcode applied to its modifiers, None if it is unsupported."""
    parsed = Opcode(opcode)
    row = ROWS.get(parsed.base)
    return row.resolve(parsed) if row is not None and not row.refuses(parsed) else None


def refusal(opcode: str) -> str:
    """Why an opcode with a row is unsupported, in words."""
    parsed = Opcode(opcode)
    row = ROWS.get(parsed.base)
    return "" if row is None else row.refuses(parsed) or "this combination of modifiers or operands is not supported"


def lift_module(module: s.Module, account: Account | None = None) -> ir.Module:
    """The IR of a module. account: the budget for its contents.

    Raises InputError, with the line, for undeclared names and similar errors, and if a limit of a file is exceeded.
    """
    try:
        with no_collection():
            return _Lifter(module, account or Account()).run()
    except InputError as error:
        raise error.in_file(module.file) from None
    except Exhausted as spent:
        raise as_error(spent, module.file) from None


class _Lifter:
    def __init__(self, module: s.Module, account: Account):
        self.module = module
        self.arch = module.target[0] if module.target else ""
        self.address_bits = module.address_size or 32
        self.debug = Debug(module)
        self.globals = Scope(None)
        self.variables: list[ir.Variable] = []
        self.account = account  # for the parameters of functions and calls
        self.initial = account.within(INITIAL.most)
        self.refused: list[str] = []  # initial values that are skipped
        self.named: dict[str, str] = {}  # name or alias of a function -> the function's name

    def run(self) -> ir.Module:
        bodies: dict[str, s.Function] = {}
        for item in self.module.items:
            if isinstance(item, s.Variable):
                self.declare(item, self.globals, self.variables)
            elif isinstance(item, s.Function):
                self.globals[item.name] = Callee(item.name)
                if item.body is not None:
                    if item.name in bodies:
                        raise _duplicate(bodies[item.name], item)
                    bodies[item.name] = item
            elif isinstance(item, s.Alias):
                self.globals[item.name] = Callee(item.target)
        self.named = {name: symbol.name for name, symbol in self.globals.items() if isinstance(symbol, Callee)}
        self.globals.update({name: Callee(target, target in bodies) for name, target in self.named.items()})
        self.variables = [with_functions(variable, self.named) for variable in self.variables]
        functions, shared, callees = {}, {}, {}
        for name, body in bodies.items():
            lifter = FunctionLifter(self, body)
            functions[name] = lifter.run()
            shared[name], callees[name] = lifter.shared(functions[name]), lifter.callees
        functions = {name: _with_shared_size(f, shared, callees) for name, f in contracted(functions).items()}
        linked = any(_is_linked(item) for item in self.module.items)
        return ir.Module(
            self.module.file, "ptx", self.arch, functions, self.module.version, self.module.producer, linked
        )

    def declare(self, declaration: s.Variable, scope: Scope, out: list[ir.Variable], suffix: str = "") -> None:
        """Adds the variables of a declaration to a scope and to `out`.

        suffix: appended to their names if others may have the same name.
        """
        for d, variable in zip(declaration.declarators, variables(declaration, suffix, self.initial, self.refused)):
            scope[d.name] = Data(variable)
            out.append(variable)


def _duplicate(first: s.Function, second: s.Function) -> InputError:
    return InputError(
        f"{second.name} is defined twice, first in line {first.line}",
        "ptxas does not accept it: keep one of them, or put them into files of their own",
        line=second.line,
    )


def _is_linked(item: s.Item) -> bool:
    """Whether the item is a function that other objects may call, or belongs to another object."""
    if isinstance(item, s.Function):
        runtime = item.body is None and item.name in ir.RUNTIME
        return item.kind == ".func" and bool(item.linkage) and not runtime
    return isinstance(item, s.Variable) and ".extern" in item.linkage and item.space != ".shared"


class FunctionLifter:
    """Lifts one function: first its labels, then statement by statement."""

    def __init__(self, lifter: _Lifter, function: s.Function):
        self.lifter = lifter
        self.function = function
        self.entry = function.kind == ".entry"
        assert function.body is not None  # declarations are not lifted
        self.statements = function.body.statements
        self.scope = Scope(lifter.globals, room=REGISTERS_A_STATEMENT * len(self.statements))
        self.scopes = 0
        self.emitter = Emitter(lifter.address_bits)
        self.variables: list[ir.Variable] = []
        self.instructions: list[ir.Instruction] = []
        self.position: ir.Source | None = None
        self.label_at_end = False
        self.blank: list[ir.Reg] = []  # pieces that the next instruction sets to zero
        self.addressing: list[int] = []  # instructions that may name a variable
        self.callees: list[str] = []  # the callee of each direct call

    def run(self) -> ir.Function:
        function = self.function
        self.lifter.debug.begin_function()
        parameters: tuple[ir.Parameter, ...] = ()
        arguments: tuple[ir.Reg, ...] = ()
        results: tuple[ir.Reg, ...] = ()
        if self.entry:
            parameters = kernel_parameters(function, self.scope)
        else:
            arguments = self._formals(function.parameters or ())
            results = self._formals(function.results or ())
        self._statements(self.statements, self.scope)
        self._finish()
        block, most, cluster = launch_bounds(function)
        return ir.Function(
            function.name,
            "ptx",
            self.lifter.arch,
            tuple(self.instructions),
            self.entry,
            parameters,
            arguments,
            results,
            tuple(self.lifter.variables + [with_functions(v, self.lifter.named) for v in self.variables]),
            0,
            block,
            most,
            cluster,
            notes=tuple(self.lifter.refused),
        )

    def shared(self, function: ir.Function) -> dict[str, ir.Variable]:
        """The variables in shared memory that the lifted function names, in order."""
        shared = {v.name: v for v in function.variables if v.space == "shared"}
        ops = [op for index in self.addressing if shared for op in function.instructions[index].ops]
        named = [source.name for op in ops for source in op.src if type(source) is ir.Address]
        return {name: shared[name] for name in named if name in shared}

    def _formals(self, declared: tuple[s.Variable, ...]) -> tuple[ir.Reg, ...]:
        out: tuple[ir.Reg, ...] = ()
        for variable in declared:
            if variable.space == ".reg":
                out += self.scope.declare_registers(variable)
            else:
                out += self.scope.declare_pieces(variable, self.lifter.account)
        return out

    # --- statements ---

    def _statements(self, statements: tuple[s.Statement, ...], scope: Scope) -> None:
        at = len(self.instructions)
        for statement in statements:  # labels and tables may be used before they are defined
            if type(statement) is s.Instruction:
                at += 1
            elif type(statement) is s.Label:
                scope.labels[statement.name] = at
            elif type(statement) is s.Block:
                at += length(statement)
            elif type(statement) is s.Table or type(statement) is s.Prototype:
                scope.tables[statement.name] = statement
        for statement in statements:
            if type(statement) is s.Instruction:
                self._instruction(statement, scope)
            elif type(statement) is s.Location:
                self.position = self.lifter.debug.source(statement)
            elif type(statement) is s.Label:
                self.label_at_end = True
            elif type(statement) is s.Variable:
                self._declaration(statement, scope)
            elif type(statement) is s.Block:
                self.scopes += 1
                self._statements(statement.statements, Scope(scope, f"@{self.scopes}"))

    def _declaration(self, variable: s.Variable, scope: Scope) -> None:
        if variable.space in (".reg", ".sreg"):
            scope.declare_registers(variable)
        elif variable.space.startswith(".param"):
            pieces = scope.declare_pieces(variable, self.lifter.account)
            if any(d.dimensions for d in variable.declarators):
                self.blank += pieces
        else:
            suffix = scope.suffix
            if not self.entry or not suffix and any(self.lifter.globals[d.name] for d in variable.declarators):
                suffix += f"@{self.function.name}"  # the caller may have a variable of that name
            self.lifter.declare(variable, scope, self.variables, suffix)

    def _instruction(self, instruction: s.Instruction, scope: Scope) -> None:
        opcode, operands = instruction.opcode, instruction.operands
        guard = None
        if instruction.guard is not None:
            register = scope[instruction.guard.name]
            if type(register) is not ir.Reg:
                raise InputError(f"the guard {instruction.guard.name} is not a register", line=instruction.line)
            guard = ir.Guard(register, instruction.guard.negated)
        row = meaning(opcode)
        op = plain(row, operands, guard, scope) if type(row) is Plain and not self.blank else None
        if op is not None:
            ops: tuple[ir.Op, ...] = (op,)
            control, site = None, None
        else:
            ops, control, site = self._effects(row, instruction, guard, scope)
        text = instruction.text or instruction_text(instruction)
        self.instructions.append(
            ir.Instruction(
                len(self.instructions), instruction.line, opcode, text, guard, ops, control, site, self.position
            )
        )
        self.label_at_end = control is not None and len(self.instructions) in control.targets

    def _effects(
        self, row: Plain | Lower | None, instruction: s.Instruction, guard: ir.Guard | None, scope: Scope
    ) -> tuple[tuple[ir.Op, ...], ir.Control | None, ir.Site | None]:
        """The operations, control and site of any instruction."""
        emitter, operands = self.emitter, instruction.operands
        emitter.following = len(self.instructions) + 1
        emitter.begin(scope, guard, instruction.opcode, instruction.line)
        if self.blank:  # a parameter that is written in parts: its padding is irrelevant
            emitter.ops += [ir.Op("mov", (r,), (ir.Const(0, r.bits),), r.bits) for r in self.blank]
            self.blank = []
        plain_row = row if isinstance(row, Plain) else None
        lower = row.otherwise if isinstance(row, Plain) else row
        if lower is not None:
            try:
                lower(emitter, operands)
            except (ValueError, IndexError, TypeError) as error:  # operands that the row does not support
                emitter.begin(scope, guard, instruction.opcode, instruction.line)
                opaque(emitter, operands, str(error) if type(error) is NoMeaning else "")
            if emitter.site is not None:
                emitter.keep_what_the_site_reads()
            if guard is not None and len(emitter.ops) > 1:
                read_guard_first(emitter.ops, guard, emitter.temporary)
        elif plain_row is None or len(operands) != len(plain_row.widths) + 1:
            opaque(emitter, operands)
        else:
            widths, is_float = plain_row.widths, plain_row.floating
            sources = tuple([emitter.value(o, w, is_float) for o, w in zip(operands[1:], widths)])
            emitter.emit(plain_row.name, (emitter.target(operands[0]),), sources, plain_row.bits, plain_row.attrs)
        if emitter.addressed:
            self.addressing.append(len(self.instructions))
        if emitter.control is not None and emitter.control.callee is not None:
            self.callees.append(emitter.control.callee)
        site = None if emitter.site is None else with_access(emitter.site, emitter.ops)
        return tuple(emitter.ops), emitter.control, site

    def _finish(self) -> None:
        """Appends the return at the closing brace if that can be reached."""
        last = self.instructions[-1] if self.instructions else None
        ends = (
            last is not None
            and last.control is not None
            and last.control.guard is None
            and last.control.kind in ("ret", "exit", "branch", "switch")
        )
        if self.label_at_end or not ends:
            place = last.place if last else self.function.line
            self.instructions.append(
                ir.Instruction(
                    len(self.instructions), place, "ret", "ret", control=ir.Control("ret"), source=self.position
                )
            )
        if self.emitter.astray is not None:
            raise self.emitter.astray


def length(block: s.Block) -> int:
    """The number of instructions in a block."""
    return sum([1 if type(n) is s.Instruction else length(n) if type(n) is s.Block else 0 for n in block.statements])


def plain(row: Plain, operands: tuple[s.Operand, ...], guard: ir.Guard | None, scope: Scope) -> ir.Op | None:
    """The operation of a row on registers and integers, the common case; None for other operands."""
    if len(operands) != len(row.widths) + 1 or type(operands[0]) is not s.Name:
        return None
    target = scope[operands[0].text]
    if type(target) is not ir.Reg:
        return None
    sources: list[ir.Operand] = []
    for operand, bits in zip(operands[1:], row.widths):
        if type(operand) is s.Name:
            source = scope[operand.text]
            if type(source) is not ir.Reg:
                return None
            sources.append(source)
        elif type(operand) is s.Int and not row.floating:
            sources.append(constant(operand.value, bits))
        else:
            return None
    return ir.Op(row.name, (target,), tuple(sources), row.bits, row.attrs, guard)


def opaque(e: Emitter, operands: tuple[s.Operand, ...], why: str = "") -> None:
    """Emits an unsupported instruction, with the reason.

    Its results are unknown, and so are the memory that it may write and the targets that it may jump to. A PTX
    instruction writes its first operand if it writes any register; a register that it only reads there becomes
    unknown, too.
    """
    opcode = Opcode(e.opcode)
    base, why = opcode.base, why or refusal(e.opcode)
    targets = written(e, operands[0]) if operands else ()
    sources = tuple([v for operand in operands[1 if targets else 0 :] for v in e.everything(operand)])
    e.emit("opaque", targets, sources, attrs=(e.opcode, why))
    spaces = memory.spaces_of(opcode)
    if memory.may_write(opcode):
        e.emit("clobber", space=memory.WRITES[base] or (spaces[0] if len(spaces) == 1 else "generic"))
    elif base in control.TRANSFERS or base in ("bar", "barrier") or base not in ROWS and base not in WITHOUT_ROW:
        control.not_understood(e, operands)
    if base in memory.SITES and (not spaces or any(space.startswith("shared") for space in spaces)):
        shared = next((space for space in spaces if space.startswith("shared")), None)
        space = "generic" if shared is None else memory.shared_space(shared)
        e.site = ir.Site(e.opcode, ir.Unknown(f"{e.opcode}: {why}"), 0, space, e.guard)


def written(e: Emitter, operand: s.Operand) -> tuple[ir.Reg, ...]:
    """The registers of a first operand; none if it is a label, a variable or a number."""
    registers = e.registers(operand)
    if registers is not None:
        return registers
    match operand:
        case s.Vector(items=items):
            return tuple([r for item in items for r in written(e, item)])
        case s.Pair(first=first, second=second):
            return written(e, first) + written(e, second)
        case s.Name(text=text):
            symbol = e.scope[text]
            if symbol is None and text.rpartition(".")[0]:  # video instructions: `d.h0`
                symbol = e.scope[text.rpartition(".")[0]]
            if isinstance(symbol, ir.Reg):
                return (symbol,)
            return getattr(symbol, "regs", ())
    return ()


# --- parameters, launch bounds and shared memory --------------------------------------------------


def kernel_parameters(function: s.Function, scope: Scope) -> tuple[ir.Parameter, ...]:
    """The parameter buffer: each parameter at the next multiple of its alignment ("Kernel Function Parameters")."""
    out, offset = [], 0
    for variable in function.parameters or ():
        shape = shape_of(variable)
        for d in variable.declarators:
            element = shape.bits // BYTE
            size = parameter_bytes(variable, d, shape)
            align = shape.align or element
            offset = -(-offset // align) * align
            written_type = f".{shape.type}" + "".join(f"[{x.value}]" for x in d.dimensions if isinstance(x, s.Int))
            out.append(
                ir.Parameter(d.name, offset, size, written_type, True if shape.pointer else None, shape.pointer_align)
            )
            scope[d.name] = Place(offset)
            offset += size
    return tuple(out)


Extents = tuple[int, int, int]


def launch_bounds(function: s.Function) -> tuple[Extents | None, int | None, Extents | None]:
    """(.reqntid, product of .maxntid or .reqntid, .reqnctapercluster) of a kernel."""
    block: Extents | None = None
    most: int | None = None
    cluster: Extents | None = None
    for tuning in function.tuning:
        if not isinstance(tuning, s.Tuning):
            continue
        x, y, z, *_ = (*tuning.values, 1, 1, 1)
        extents = (x, y, z)
        if tuning.name == ".reqntid":
            if extents[0] * extents[1] * extents[2] > MAX_THREADS:
                raise InputError(
                    f".reqntid asks for {' x '.join(map(str, extents))} threads per block; CUDA allows at most"
                    f" {MAX_THREADS}",
                    "is the PTX file complete and unmodified?",
                    line=function.line,
                )
            block, most = extents, extents[0] * extents[1] * extents[2]
        elif tuning.name == ".maxntid" and block is None:
            most = extents[0] * extents[1] * extents[2]
        elif tuning.name == ".reqnctapercluster":
            cluster = extents
    return block, most, cluster


def _with_shared_size(
    function: ir.Function, shared: dict[str, dict[str, ir.Variable]], callees: dict[str, list[str]]
) -> ir.Function:
    """The function with the bytes of static shared memory that it and its callees name."""
    named: dict[str, ir.Variable] = {}
    seen, waiting = set(), [function.name]
    while waiting:
        name = waiting.pop()
        if name in shared and name not in seen:
            seen.add(name)
            named |= shared[name]
            waiting += callees[name]
    if not named:
        return function
    size = 0
    for v in sorted(named.values(), key=lambda v: -v.align):
        size = -(-size // v.align) * v.align + v.size
    return replace(function, shared_static=size)
