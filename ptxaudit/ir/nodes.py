"""The intermediate representation of PTX and SASS: functions of instructions of operations.

An *instruction* is one PTX statement or one machine instruction, with its place and text. Its *effects* are
operations on registers, a transfer of control, and a shared-memory access. The two lifters (`ptx.lift`, `sass.lift`)
produce it; the later stages cannot tell which instruction set it came from.

    ld.shared.v2.f32 {%f1, %f2}, [%r4+8];      PTX, line 12
        Instruction(place=12, opcode="ld.shared.v2.f32",
                    ops=(Op("load", dst=(%f1, %f2), src=(%r4,), space="shared", offset=8, …),),
                    site=Site(opcode="ld.shared.v2.f32", address=%r4, offset=8))

    @P0 IMAD.WIDE R2, R4, 0x8, R6              SASS
        two 32-bit registers hold a 64-bit value: lifters write `cat` and `extract`.

Conventions of both lifters
- A register's value is its bits, unsigned; the name of an operation says how they are interpreted
  (`div.s`, `div.u`). `Op.bits` is the width of the operation.
- An operation whose guard is false in a lane leaves that lane's destinations unchanged.
- An unmodelled operation is an op "opaque"; its attributes are the opcode and its unsupported part, or ""
  (`Op("opaque", dst=…, attrs=("tex.2d…", ""))`). Its results become opaque, with that reason.
  If it may write memory at unknown locations, it is also an op "clobber" with the state space.
- A source operand that the lifter does not understand is an `Unknown(reason)`.
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
    """A register. `uniform`: one value per warp, written whichever lanes are active (SASS UR, UP)."""

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

    Space "shared": a window-relative shared address. "param": a byte offset in the parameter buffer, if the address
    of a parameter itself is used as a value. CODE: a function.
    """

    name: str
    space: str
    offset: int = 0
    bits: int = 64

    def __str__(self) -> str:
        return f"{self.name}+{self.offset}" if self.offset else self.name


CODE = "code"  # the space of function addresses

# System calls of the device runtime, which call no function of the program (CUDA C++ Programming Guide; PTX
# Interoperability).
RUNTIME = frozenset(("__assertfail", "vprintf", "malloc", "free"))
ABORTING = frozenset(("__assertfail",))  # the runtime functions that end the launch


class Special(Record):
    """A special register, by its PTX name without the percent sign: "tid.x", "ntid.y", "ctaid.z", "nctaid.x",
    "laneid", "warpid", "nwarpid", "smid", "clock", "clusterid.x", "cluster_ctaid.x", "cluster_ctarank",
    "cluster_nctaid.x", "cluster_nctarank", "lanemask_lt", "dynamic_smem_size", "total_smem_size", …
    """

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
    """`@p` or `@!p`: the lanes that execute an instruction."""

    reg: Reg
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.reg}"


# --- effects --------------------------------------------------------------------------------


COPY_ASYNC, STORE_MATRIX = "copy.async", "store.matrix"
ANY_NAN = "any NaN"  # the last attribute of float operations whose NaN results depend on the assembler
IN_THIS_ORDER = "in this order"  # the last attribute of 64-bit float operations whose operands no assembler exchanges
MATRICES = "ldmatrix"  # the space of loads of matrices from shared memory


class Op(Record):
    """One operation: a row of `engine.ops.table` applied to operands.

    name:   the row ("add", "shr.s", "setp.lt.u", "load", …); "opaque" and "clobber": see above.
    dst:    registers written, in the row's order; None for a discarded result.
    src:    operands read, in the row's order.
    bits:   width of the operation.
    attrs:  static modifiers in the row's order (a lop3 table, a prmt mode, a shfl mode …).
    guard:  the lanes that execute it; None = all active lanes.
    Memory rows ("load", "store", "atom") also use
    space:  "global" | "shared" | "local" | "param" | "const" | "const:N" (SASS bank N) | "generic"
    offset: bytes added to the address operand src[0].
    read_only: a load from memory that the code promises not to be written (`ld.global.nc`, LDG.CONSTANT). ordered: one
    that is volatile or has a scope (`ld.acquire.gpu`, LDG.STRONG), by which code sees what others write meanwhile.
    So do two operations without a row or results: COPY_ASYNC, whose bytes (attrs) per lane arrive some time later,
    and STORE_MATRIX, rows of 16 bytes at the addresses of the first lanes (attrs: how many, and whether the matrices,
    of 8 rows of 16-bit elements, are transposed; () = all lanes, in an unknown layout). A "load" with the space
    MATRICES reads such rows; its attrs go on with the same two, and its last operand is the data of other lanes.
    An "atom" has attrs (operation,): "add", "min.s" (signed), "cas", …; "add.f" and the like are of floats. Its
    operands follow each other in words of `bits`.
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
    ordered: bool = False

    def writes(self, register: str) -> bool:
        return any(d is not None and d.name == register for d in self.dst)

    @property
    def element(self) -> tuple[int, bool]:
        """For a load or store: (bits of each element in memory, whether it is sign-extended into the registers)."""
        if not self.attrs:
            return self.bits, False
        return self.attrs[0], len(self.attrs) > 1 and bool(self.attrs[1])

    @property
    def fixed(self) -> int | None:
        """The byte offset of an access to a location that the code names, such as a parameter; None for others."""
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
    "branch",  # the guarded lanes to targets[0], the others to the next instruction
    "switch",  # to targets[value of `selector`]; no fall-through; () targets = unknown
    "exit",  # the guarded lanes end
    "call",  # to targets[0] (a function in `callee`), return to the next instruction
    "ret",  # the guarded lanes return to their caller, or end in a kernel
    "open",  # convergence barrier `barrier` := the active lanes (SASS BSSY)
    "sync",  # wait for the lanes of `barrier`, continue together (SASS BSYNC)
    "leave",  # the guarded lanes leave `barrier` (SASS BREAK)
    "warpsync",  # wait for the lanes in mask `selector`, or all lanes if None
    "part",  # lanes with different masks remain diverged (SASS WARPSYNC.EXCLUSIVE; .COLLECTIVE: up to targets[0])
    "yield",  # lanes that wait at a convergence barrier may continue without these (SASS YIELD, NANOSLEEP)
    "barrier",  # a block- or cluster-wide barrier; no effect on lanes
]


class Meeting(Record):
    """A barrier of the block: its number, the number of threads that take part (0 = all of the block), both None if
    they are in a register (which may be unknown), and whether those that arrive wait for the others.
    """

    number: int | None
    threads: int | None = 0
    waits: bool = True
    number_in: Operand | None = None
    threads_in: Operand | None = None


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
    ] = ()  # a call with a computed target goes to choices[value of `selector`]; the switch that `dispatch` makes of it
    # goes to its targets: its choices only say that it is one, and are no places once its function is copied
    open: bool = False  # … and it may also go elsewhere
    uniform: bool = False  # the code states that all active lanes agree (`bra.uni`)
    meeting: Meeting | None = None  # of "barrier": who takes part; None = unknown, or not the threads of a block
    aligned: bool = False  # of "barrier": the code states that all lanes of the warp come to it together (PTX)
    aborts: bool = False  # of "exit": a lane that executes it ends the launch with an error


SiteSpace = Literal["shared", "generic", "shared::cluster", "global", "local"]


class Site(Record):
    """One access of an instruction to a memory, which `banks` scores.

    opcode:  PTX (`st.shared.v2.u32`) or SASS (`LDS.128`) text, as `banks.classify` takes it.
    access:  its effect (`hardware.accesses`); None if there is no rule for it, and no_rule says why.
    word:    without a rule, what reports call it. ordered: volatile, or with a scope: no access is moved across it.
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
    again: bool = False  # the site of the previous instruction, up to a shift that changes no count (fragments of wmma)
    unscored: str = ""  # a reason, for accesses that are listed but not scored (bulk copies, wgmma)
    first: Literal["", "registers", "shared"] = ""  # of a matrix product: where its first factor comes from
    fragment: int = 0  # of an access to a wmma fragment: the number of requests for all of it
    rows_apart: int | None = None  # and bytes between its rows, if known
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
    """A position in the CUDA source. `inlined`: the places where it was inlined, innermost first."""

    file: str
    line: int
    column: int = 0
    inlined: tuple[Frame, ...] = ()

    @property
    def places(self) -> tuple[Source | Frame, ...]:
        """Itself and the places where it was inlined, innermost first."""
        return (self, *self.inlined)


class Instruction(Record):
    """One PTX statement or machine instruction, with its effects.

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
    type: str = ""  # PTX type, ".u64", ".b8[16]"; "" if unknown
    pointer: bool | None = None
    align: int = 1  # of a pointer's target, where stated (`.ptr .align 16`)


class Variable(Record):
    """A variable in a state space.

    address: byte offset in the window if the file fixes it (SASS), else None.
    data: initial bytes of a constant or global variable.
    rewritable: the host may write it before a launch, unlike variables that the compiler made for itself.
    functions: (byte offset, name) of the functions whose addresses it initially contains.
    around: its initial bytes if it contains, or may contain, such addresses; zeros in their place.
    points: it initially contains addresses of variables.
    """

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
        """Whether it is in constant memory and has no content in the file."""
        return self.space.startswith("const") and self.rewritable and self.data is None


class Routine(Record):
    """A function of the file within the machine code that it is lifted with.

    section: the section it is in, which is named after its first function; start: the place of that section.
    first, end: its instructions, `end` excluded.
    """

    section: str
    start: int
    first: int
    end: int


class Function(Record, dict=True):
    """A kernel, or a device function that is called.

    isa: for display only; later stages use the following, which the lifters set.
    explicit_reconvergence: lanes reconverge where the code says so (open/sync); otherwise at post-dominators.
    absolute_shared: shared memory is addressed from its start, as one range, with the block's rank in its cluster
    from bit 24 on; otherwise relative to variables that have no location yet.
    unique_places: no two instructions of the file have the same place; otherwise a line may have several statements.
    final: the code runs as it stands: no compiler will combine its accesses or spill its registers.
    """

    name: str
    isa: Literal["ptx", "sass"]
    arch: str  # "sm_90"
    instructions: tuple[Instruction, ...]
    entry: bool = True
    parameters: tuple[Parameter, ...] = ()  # of the kernel; none for device functions
    arguments: tuple[Reg, ...] = ()  # a device function's formal registers
    results: tuple[Reg, ...] = ()
    variables: tuple[Variable, ...] = ()  # all variables it can name, including those at module scope
    shared_static: int = 0  # bytes
    block: tuple[int, int, int] | None = None  # .reqntid
    max_threads: int | None = None  # .maxntid product / launch bounds
    cluster: tuple[int, int, int] | None = None
    notes: tuple[str, ...] = ()
    chooses: bool = False  # among functions, by computed addresses (`dispatch`)
    origin: tuple[
        tuple[str, int], ...
    ] = ()  # of each instruction, the function and index it was copied from; () = none was copied
    routines: tuple[Routine, ...] = ()  # of machine code as in the file, in order, its own first
    explicit_reconvergence: bool = False
    absolute_shared: bool = False
    unique_places: bool = False
    final: bool = False

    @cached_property
    def variable_of(self) -> Mapping[tuple[str, str], Variable]:
        """Its variables by state space and name; those in a bank of constant memory also without the bank."""
        by_name = {(v.space, v.name): v for v in self.variables}
        return {("const", name): v for (space, name), v in by_name.items() if space.startswith("const")} | by_name

    def offset_of(self, instruction: Instruction) -> int | None:
        """Bytes from the start of its machine code; None if places are lines of PTX."""
        return instruction.place if self.unique_places else None

    def ptx_line_of(self, instruction: Instruction) -> int | None:
        return None if self.unique_places else instruction.place

    def site(self, index: int) -> Site:
        """The site of an instruction that has one."""
        site = self.instructions[index].site
        assert site is not None
        return site

    def origin_of(self, index: int) -> tuple[str, int]:
        """The function of the file, and the index in it, of an instruction or of the one that it is a copy of."""
        return self.origin[index] if self.origin else (self.name, index)

    def code_at(self, index: int) -> Hashable:
        """The location of an instruction in the file, the same for all its copies."""
        return self.instructions[index].place if self.unique_places else self.origin_of(index)


class Module(Record, eq=False):
    """All functions of one PTX module or one cubin."""

    file: str
    isa: Literal["ptx", "sass"]
    arch: str
    functions: dict[str, Function] = field(default_factory=dict)
    version: str = ""  # PTX ISA version, or the cubin's toolkit
    producer: str = ""  # the compiler that the file names
    linked: bool = False  # refers to code elsewhere: others may call its functions, or it uses something of others
    memo: dict[str, Any] = field(default_factory=dict)  # facts about all functions, computed once

    def kernels(self) -> list[Function]:
        return [f for f in self.functions.values() if f.entry]
