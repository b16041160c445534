"""One intermediate representation for PTX and SASS: functions of instructions of operations.

An *instruction* is what the file contains: one PTX statement or one machine instruction, with
its place and text. Its *effects* are operations on registers, a transfer of control, and a
shared-memory access. The two lifters (`ptx.lift`, `sass.lift`) produce it; `graph` and
`lanes` consume it and cannot tell which instruction set it came from.

    ld.shared.v2.f32 {%f1, %f2}, [%r4+8];      PTX, line 12
        Instruction(place=12, opcode="ld.shared.v2.f32",
                    ops=(Op("load", dst=(%f1, %f2), src=(%r4,), space="shared", offset=8, …),),
                    site=Site(opcode="ld.shared.v2.f32", address=%r4, offset=8))

    @P0 IMAD.WIDE R2, R4, 0x8, R6              SASS
        two 32-bit registers hold a 64-bit value: lifters write `cat` and `extract`.

Conventions that both lifters keep
- A register's value is its bits, unsigned; an operation's name says how they are read
  (`div.s`, `div.u`). `Op.bits` is the width the operation works at.
- An operation whose guard is false in a lane leaves that lane's destinations as they were.
- What has no meaning is an op "opaque" with its opcode and what of it is not supported, or "", as
  attributes (`Op("opaque", dst=…, attrs=("tex.2d…", ""))`): its results become opaque, with that reason.
  What it may write in memory, at places that are not known, is an op "clobber" with the state space.
- A source that the lifter does not understand is an `Unknown(reason)`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any, Literal

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.ir.access import Access

# --- operands -------------------------------------------------------------------------------


class Reg(Record):
    """A register. `uniform`: one value a warp, written whatever lanes are active (SASS UR, UP)."""

    name: str
    bits: int
    uniform: bool = False

    def __str__(self) -> str:
        return self.name


class Const(Record):
    """An immediate: its bits as a non-negative integer below 2**bits."""

    value: int
    bits: int = 32

    def __str__(self) -> str:
        return hex(self.value) if self.value > 9 else str(self.value)


class Address(Record):
    """The address of a named variable plus an offset in bytes, within its state space.

    Space "shared": a window-relative shared address. "param": a byte offset in the parameter
    buffer, when the parameter's address itself is used as a value. CODE: a function.
    """

    name: str
    space: str
    offset: int = 0
    bits: int = 64

    def __str__(self) -> str:
        return f"{self.name}+{self.offset}" if self.offset else self.name


CODE = "code"  # the space of the addresses of functions

# System calls of the device runtime, which call nothing of the program (CUDA C++ Programming Guide; PTX
# Interoperability).
RUNTIME = frozenset(("__assertfail", "vprintf", "malloc", "free"))
ABORTING = frozenset(("__assertfail",))  # of these, those that end the launch


class Special(Record):
    """A special register, by its PTX name without the percent sign: "tid.x", "ntid.y",
    "ctaid.z", "nctaid.x", "laneid", "warpid", "nwarpid", "smid", "clock", "clusterid.x",
    "cluster_ctaid.x", "cluster_ctarank", "cluster_nctaid.x", "cluster_nctarank", "lanemask_lt",
    "dynamic_smem_size", "total_smem_size", …"""

    name: str
    bits: int = 32

    def __str__(self) -> str:
        return "%" + self.name


class Unknown(Record):
    """A value that the lifter cannot express, with the reason."""

    reason: str
    bits: int = 32

    def __str__(self) -> str:
        return f"?({self.reason})"


Operand = Reg | Const | Address | Special | Unknown


class Guard(Record):
    """`@p` or `@!p`: the lanes in which an instruction acts."""

    reg: Reg
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.reg}"


# --- effects --------------------------------------------------------------------------------


COPY_ASYNC, STORE_MATRIX = "copy.async", "store.matrix"


class Op(Record):
    """One operation: a row of `engine.ops.table` applied to operands.

    name:   the row ("add", "shr.s", "setp.lt.u", "load", …); "opaque" and "clobber": see above.
    dst:    registers written, in the row's order; None where a result is thrown away.
    src:    operands read, in the row's order.
    bits:   width the operation works at.
    attrs:  static modifiers in the row's order (a lop3 table, a prmt mode, a shfl mode …).
    guard:  lanes in which it acts; None = all active ones.
    Memory rows ("load", "store", "atom") also use
    space:  "global" | "shared" | "local" | "param" | "const" | "const:N" (SASS bank N) | "generic"
    offset: bytes added to the address operand src[0].
    read_only: of a load that the code promises to be of memory that nothing writes (`ld.global.nc`, LDG.CONSTANT).
    So do two that have no row and no results: COPY_ASYNC, whose bytes (attrs) a lane arrive some time later, and
    STORE_MATRIX, rows of 16 bytes at the addresses of the first lanes (attrs: how many; () = of all).
    """

    name: str
    dst: tuple[Reg | None, ...] = ()
    src: tuple[Operand, ...] = ()
    bits: int = 32
    attrs: tuple[Any, ...] = ()
    guard: Guard | None = None
    space: str = ""
    offset: int = 0
    read_only: bool = False

    def writes(self, register: str) -> bool:
        return any(d is not None and d.name == register for d in self.dst)

    @property
    def element(self) -> tuple[int, bool]:
        """Of a load or a store: (bits of each of its elements in memory, whether their sign fills the registers)."""
        if not self.attrs:
            return self.bits, False
        return self.attrs[0], len(self.attrs) > 1 and bool(self.attrs[1])

    @property
    def fixed(self) -> int | None:
        """The byte offset of an access of a place that the code names, such as a parameter; None of others."""
        place = self.src[0]
        if not isinstance(place, Const | Address):
            return None
        return self.offset + (place.value if isinstance(place, Const) else place.offset)

    def __str__(self) -> str:
        text = f"{self.guard} " if self.guard else ""
        if self.dst:
            text += ", ".join(str(d) if d else "_" for d in self.dst) + " = "
        text += f"{self.name}.{self.bits}"
        if self.space:
            text += f" {self.space}"
        text += "(" + ", ".join(map(str, self.src))
        if self.offset:
            text += f" + {self.offset}"
        text += ")"
        if self.attrs:
            text += " " + repr(self.attrs)
        return text


ControlKind = Literal[
    "branch",  # to targets[0] in the guarded lanes, on to the next instruction in the others
    "switch",  # to targets[value of `selector`]; no fall-through; () targets = not known
    "exit",  # the guarded lanes end
    "call",  # to targets[0] (a function in `callee`), return to the next instruction
    "ret",  # the guarded lanes return to their caller, or end in a kernel
    "open",  # convergence barrier `barrier` := the active lanes (SASS BSSY)
    "sync",  # wait there for the lanes of `barrier`, go on together (SASS BSYNC)
    "leave",  # the guarded lanes leave `barrier` (SASS BREAK)
    "warpsync",  # wait for the lanes of the mask `selector`, or all when None; with targets, to part again at the first
    "part",  # the same; lanes that name one mask go on diverged from those that name another (SASS WARPSYNC.EXCLUSIVE)
    "yield",  # lanes that wait at a convergence barrier may go on before the others come (SASS YIELD, NANOSLEEP)
    "barrier",  # a block- or cluster-wide barrier; no effect on lanes
]


class Meeting(Record):
    """A barrier of the block: its number (None = not known), how many threads meet there (0 = all of the block,
    None = not known), and whether those that come wait for the others."""

    number: int | None
    threads: int | None = 0
    waits: bool = True


class Control(Record):
    """A transfer of control. targets are instruction indices of the same function."""

    kind: ControlKind
    targets: tuple[int, ...] = ()
    guard: Guard | None = None
    barrier: Reg | None = None
    selector: Operand | None = None
    callee: str | None = None
    choices: tuple[
        int, ...
    ] = ()  # of a call whose target is computed: it goes to choices[value of `selector`]; of the switch made of it
    open: bool = False  # … and it may go elsewhere, too
    uniform: bool = False  # stated by the code: all active lanes agree (`bra.uni`)
    meeting: Meeting | None = None  # of "barrier": who meets there; None = not known, or not the threads of a block
    aborts: bool = False  # of "exit": a lane that comes there ends the launch, with an error


SiteSpace = Literal["shared", "generic", "shared::cluster", "global", "local"]


class Site(Record):
    """One access of an instruction to a memory: what `banks` scores.

    opcode:  PTX (`st.shared.v2.u32`) or SASS (`LDS.128`) text, as `banks.classify` takes it.
    access:  what it does (`hardware.accesses`); None where there is no rule for it, and no_rule says why.
    word:    of one without a rule, what reports call it; ordered: it is volatile, or of a scope: none goes across it.
    address: byte address operand; a window-relative 32-bit shared address, or for
             space "generic" a 64-bit generic one that may turn out not to be shared.
    source:  cp.async's global source operand; ignore: its ignore-src predicate;
    source_size: its src-size operand.
    """

    opcode: str
    address: Operand
    offset: int = 0
    space: SiteSpace = "shared"
    guard: Guard | None = None
    source: Operand | None = None
    source_offset: int = 0
    ignore: Guard | None = None
    source_size: Operand | None = None
    again: bool = (
        False  # as the site of the instruction before it, up to a shift that changes no count (fragments of wmma)
    )
    unscored: str = ""  # a reason, for accesses that are listed but not scored (bulk copies, wgmma)
    first: Literal["", "registers", "shared"] = ""  # of a matrix product: where its first factor comes from
    fragment: int = 0  # of an access of a wmma fragment: how many requests load or store all of it
    rows_apart: int | None = None  # and bytes from one of its rows to the next, where known
    of: Literal["shared", "global", "local"] = "shared"  # the memory whose requests are counted (`memory.sites`)
    access: Access | None = None
    no_rule: str = ""
    word: str = ""
    ordered: bool = False


# --- the program ----------------------------------------------------------------------------


class Frame(Record):
    """One level of an inline stack: `function` was inlined at file:line."""

    file: str
    line: int
    function: str = ""


class Source(Record):
    """A position in the CUDA source. `inlined`: the places it was inlined at, innermost first."""

    file: str
    line: int
    column: int = 0
    inlined: tuple[Frame, ...] = ()

    @property
    def places(self) -> tuple[Source | Frame, ...]:
        """Itself and where it was inlined at, innermost first."""
        return (self, *self.inlined)


class Instruction(Record):
    """What the file contains at one place, with its effects.

    index: position in `Function.instructions`. place: PTX line, or SASS byte offset.
    """

    index: int
    place: int
    opcode: str
    text: str
    guard: Guard | None = None
    ops: tuple[Op, ...] = ()
    control: Control | None = None
    site: Site | None = None
    source: Source | None = None


class Parameter(Record):
    """A kernel parameter: byte offset and size in the parameter buffer."""

    name: str
    offset: int
    size: int
    type: str = ""  # PTX type, ".u64", ".b8[16]"; "" when not known
    pointer: bool | None = None
    align: int = 1  # of what a pointer points to, where stated (`.ptr .align 16`)


class Variable(Record):
    """A variable with a place in a state space. address: byte offset in the window where the
    file fixes it (SASS), else None; data: initial bytes of a constant or global variable;
    rewritable: the host may write it before a launch, as all but what the compiler made for itself;
    functions: (byte offset, name) of the functions whose addresses are in it to begin with; around: its bytes to begin
    with where it has, or may have, such a table: zeros where the addresses are; points: the addresses of variables are
    in it to begin with."""

    name: str
    space: str
    size: int  # bytes; 0 = dynamic (`extern .shared`)
    align: int = 1
    address: int | None = None
    data: bytes | None = None
    rewritable: bool = True
    functions: tuple[tuple[int, str], ...] = ()
    around: bytes | None = None
    points: bool = False

    @property
    def left_to_host(self) -> bool:
        """In constant memory, with no content in the file."""
        return self.space.startswith("const") and self.rewritable and self.data is None


class Routine(Record):
    """A function of a file in the machine code that it is lifted with. section: the one that it is in, whose name is
    its first function's; start: the place of that section; first, end: its instructions, the end not included."""

    section: str
    start: int
    first: int
    end: int


class Function(Record, dict=True):
    """A kernel or a device function that is called.

    isa: for what is written to be read: the stages behind ask for these, which the lifters state.
    explicit_reconvergence: divergent lanes meet where the code says so (open/sync); otherwise at post-dominators.
    absolute_shared: shared memory is addressed from its start, in one piece, and from bit 24 on stands the block's rank
    in its cluster; otherwise an address is one of a variable, whose place is not known yet.
    unique_places: no two instructions of the file have one place; otherwise several statements may be in one line.
    register_pairs: numbers of 64 bits are in two registers each.
    final: it runs as it stands: no compiler joins its accesses, or spills its registers, any more.
    """

    name: str
    isa: Literal["ptx", "sass"]
    arch: str  # "sm_90"
    instructions: tuple[Instruction, ...]
    entry: bool = True
    parameters: tuple[Parameter, ...] = ()  # of the kernel; for device functions none
    arguments: tuple[Reg, ...] = ()  # a device function's formal registers
    results: tuple[Reg, ...] = ()
    variables: tuple[Variable, ...] = ()  # all variables it can name, module scope included
    shared_static: int = 0  # bytes
    block: tuple[int, int, int] | None = None  # .reqntid
    max_threads: int | None = None  # .maxntid product / launch bounds
    cluster: tuple[int, int, int] | None = None
    notes: tuple[str, ...] = ()
    chooses: bool = False  # among functions, by computed addresses (`dispatch`)
    origin: tuple[
        tuple[str, int], ...
    ] = ()  # of each instruction, the function and the index that it was copied from; () = all its own
    routines: tuple[Routine, ...] = ()  # of machine code as the file has it, in order, its own first
    explicit_reconvergence: bool = False
    absolute_shared: bool = False
    unique_places: bool = False
    register_pairs: bool = False
    final: bool = False

    @cached_property
    def variable_of(self) -> Mapping[tuple[str, str], Variable]:
        """Its variables by state space and name; those of a bank of constant memory without the bank, too."""
        by_name = {(v.space, v.name): v for v in self.variables}
        return {("const", name): v for (space, name), v in by_name.items() if space.startswith("const")} | by_name

    def offset_of(self, instruction: Instruction) -> int | None:
        """Bytes from its start in machine code; None where places are lines of PTX."""
        return instruction.place if self.unique_places else None

    def ptx_line_of(self, instruction: Instruction) -> int | None:
        return None if self.unique_places else instruction.place

    def site(self, index: int) -> Site:
        """The access of an instruction that is one."""
        site = self.instructions[index].site
        assert site is not None
        return site

    def origin_of(self, index: int) -> tuple[str, int]:
        """The function of the file, and the index in it, of an instruction or of what it is a copy of."""
        return self.origin[index] if self.origin else (self.name, index)

    def code_at(self, index: int) -> Hashable:
        """Where the file has an instruction: the same for all its copies."""
        return self.instructions[index].place if self.unique_places else self.origin_of(index)


class Module(Record, eq=False):
    """All functions of one PTX module or one cubin."""

    file: str
    isa: Literal["ptx", "sass"]
    arch: str
    functions: dict[str, Function] = field(default_factory=dict)
    version: str = ""  # PTX ISA version, or the cubin's toolkit
    producer: str = ""  # the compiler that the file names
    linked: bool = False  # with code that is elsewhere: functions that others may call, or something that others have
    memo: dict[str, Any] = field(default_factory=dict)  # what was found out of all functions once

    def kernels(self) -> list[Function]:
        return [f for f in self.functions.values() if f.entry]
