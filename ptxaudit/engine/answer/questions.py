"""Finds what to specify for a site that is unknown only because the launch is: a range, and the question.

    unknown: div.s on values that are not known
    ->  bounded, 1 to 32 per request: depends on n and the block's shape, which are not specified
        (--param n, --block): div.s on values that are not known

Before: the results of the lane engine. After: the same, but no site is unknown whose address and execution are
computed from parameters and indices alone. Its range is that of any request of its opcode. A site that depends on
loaded data or on an unmodelled instruction is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from msgspec.structs import replace

from ptxaudit.base.demangle import demangle
from ptxaudit.base.status import Status
from ptxaudit.base.work import BLOCK, Account, Exhausted
from ptxaudit.engine.answer.result import KernelResult, SiteResult
from ptxaudit.engine.domain.value import POINTER_BYTES, POINTER_LIMIT
from ptxaudit.engine.memory import tickets
from ptxaudit.engine.memory.origins import LOWEST_POINTER, Base, Origins
from ptxaudit.engine.memory.writers import writers
from ptxaudit.engine.ops.operations import ever_known
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.signature import numbered_name
from ptxaudit.frontend.launch.symbols import symbols_of
from ptxaudit.hardware import banks
from ptxaudit.hardware.machine_model import Counted, Machine
from ptxaudit.ir.data_sources import OF_DATA, OTHER, DataSources
from ptxaudit.ir.deciding import Deciding
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Address, Const, Function, Op, Operand, Reg, Special, Unknown
from ptxaudit.ir.operands import promised
from ptxaudit.ir.reasons import Kind, Reason, several
from ptxaudit.ir.warp_operations import ACROSS

_NO_QUESTION = (Kind.EXHAUSTED, Kind.MISALIGNED, Kind.NEVER_LEFT)  # unknown, whatever is specified
_ASKED_OF = (Status.UNKNOWN, Status.DATA_DEPENDENT, Status.BOUNDED, Status.CONDITIONAL)
_SAID = (Kind.DEPENDS, Kind.ASKED, Kind.BY_SHAPE, Kind.NO_SHAPE_REACHES, Kind.BY_LAST_WARP)  # say what to specify
_BY_RULE = (  # a range, or no request at all, whatever is specified
    Kind.NEVER_SHARED,
    Kind.NEVER_THERE,
    Kind.COPY_LINES,
    Kind.COPY_LINE_CLASS,
    Kind.RULE_RANGE,
    Kind.REQUEST_RANGE,
    Kind.MIXED_SPACES,
    Kind.BASE,
    Kind.MAY_JOIN,
    Kind.CALLS_JOIN,
    Kind.CALLS_TOGETHER,
    Kind.CALLS_DIVERGE,
    Kind.TRIPS_TOGETHER,
    Kind.YIELD,
)
_OF_EXECUTION = (Kind.TAKES_PART, Kind.ENDS, Kind.RUNS, Kind.RUNS_IF, Kind.DIVERGED, Kind.LANES, Kind.HOW_OFTEN)
_OF_BLOCK = ("tid", "ntid", "warpid", "nwarpid")
_OF_GRID = ("ctaid", "nctaid", "cluster", "ncluster", "is_explicit_cluster")
_OWN_SPACES = ("param", "local")  # and constants: their contents are in the slice
ASKING = "looking for what to tell"
NOT_SPECIFIED = 1  # the bit of everything that no option can specify: data, an unmodelled instruction
HINTS_SHARE = 1 / 12  # of the account, for hints about data: in the largest kernels only some sites get one
_SPECIAL = ("load", "store", "cvta", "cvta.to", "isspacep")  # modelled outside the table of operations


def with_questions(
    result: KernelResult, function: Function, flow: Graph, machine: Machine, launch: Launch | None, account: Account
) -> KernelResult:
    """The result, with a range and a question for each such site. Sites that the account cannot pay for stay as is."""
    if not any(site.status in _ASKED_OF or _counts_open(site) for site in result.sites):
        return result
    asking = _Asking(function, flow, launch, account)
    sites = tuple([_asked(site, asking, machine) for site in result.sites])
    vars(asking).clear()  # breaks the reference cycle, which would wait for the garbage collector
    return replace(result, sites=sites)


def _asked(site: SiteResult, asking: _Asking, machine: Machine) -> SiteResult:
    try:
        return _with_question(site, asking, machine)
    except Exhausted:
        return site


def _with_question(site: SiteResult, asking: _Asking, machine: Machine) -> SiteResult:
    if site.status is Status.DATA_DEPENDENT or _of_data(site):
        counters = tuple(asking.counters_of(site.index))
        pointers = asking.data_of_count(site)
        if not pointers and (site.status is not Status.INVARIANT or not counters):
            pointers = asking.data_beside(site) if counters else asking.data_of(site.index)
        alone = bool(counters) and site.status is Status.INVARIANT  # specifying the counter is enough
        named = asking.hints(pointers) if pointers else () if alone else asking.decided_by(site)
        return replace(site, reason=several(site.reason, *counters, *named))
    if site.status in (Status.BOUNDED, Status.CONDITIONAL) or asking.grid_known and _counts_open(site):
        return _with_options(site, asking)
    if site.status is not Status.UNKNOWN or site.reason is not None and site.reason.of_kind(*_NO_QUESTION):
        return site
    access = _scored(asking.function, site.index, machine)
    asks = () if access is None else asking.of(site.index)
    if not asks:
        return site
    reason = Reason(Kind.ASKED, given=tuple(zip(*asks, strict=True)), cause=site.reason)
    if (
        access is None or machine.known_rule(access).count.what is Counted.LINES
    ):  # no counter sees its wavefronts: they have no range
        return replace(site, reason=reason)
    return replace(
        site, status=Status.BOUNDED, reason=reason, per_request=banks.bounds(machine, access, 1, machine.lanes)
    )


def _with_options(site: SiteResult, asking: _Asking) -> SiteResult:
    """Adds to a site with a range what to specify for a figure, if nothing else leaves it open."""
    if site.reason is None or site.reason.of_kind(*_NO_QUESTION, *_SAID, *_BY_RULE):
        return site
    asks = asking.of(site.index)
    if not asks:
        return site
    return replace(site, reason=Reason(Kind.ASKED, given=tuple(zip(*asks, strict=True)), cause=site.reason))


def _counts_open(site: SiteResult) -> bool:
    """The cost of a request is known, but not how many there are or how many have an active lane."""
    return site.status is Status.INVARIANT and site.reason is not None


def _of_data(site: SiteResult) -> bool:
    """Data decides how often the site executes, or with which lanes."""
    return _counts_open(site) and site.reason is not None and site.reason.data


def _scored(function: Function, index: int, machine: Machine) -> banks.Access | None:
    """The access, if it certainly refers to this block's shared memory and the machine has a rule for it."""
    site = function.instructions[index].site
    if site is None or site.space != "shared" or site.unscored:
        return None
    return None if site.access is None or machine.refusal(site.access) else site.access


class _Asking:
    """What to specify for the accesses of one kernel. Raises Exhausted when the account is spent."""

    def __init__(self, function: Function, flow: Graph, launch: Launch | None, account: Account) -> None:
        self.function, self.flow, self.launch, self.account = function, flow, launch, account
        self.values, self.known = launch.buffer(function) if launch is not None else (b"", b"")
        self.symbols = (
            {name for name, content in symbols_of(launch, function).constants.items() if content}
            if launch is not None
            else set()
        )
        self.grid_known = launch is not None and launch.grid is not None  # without a grid, most counts are open anyway
        self._hints = 0  # steps spent on hints about data

    def of(self, index: int) -> tuple[tuple[str, str], ...]:
        """(name, option) of everything unspecified that decides the address; () if something else decides it, too."""
        self.account.spend(BLOCK, ASKING)
        for deciding in self._deciding:
            if not (bits := deciding.of(index)) & NOT_SPECIFIED:
                return tuple(pair for pair, bit in self._bits.items() if bits & bit)
        return ()

    def data_of(self, index: int) -> tuple[str, ...]:
        """The pointers to unspecified data from which the address of an access is computed, or else those to data that
        decides whether it executes.

        () once HINTS_SHARE of the account is spent on such hints.
        """
        address = self._address(index)
        if self._hints > self.account.share(HINTS_SHARE):
            return ()
        before = self.account.spent
        found = self._data.of(address.name, index) if isinstance(address, Reg) else ()
        found = found or self._data.names(self._execution.of(index))
        self._hints += self.account.spent - before
        result: tuple[str, ...] = found
        return result

    def data_beside(self, site: SiteResult) -> tuple[str, ...]:
        """As `data_of`, for an access that a counter decides.

        It leaves out data that passes through shared memory, as the tickets of blocks do, and data that decides which
        lanes continue together. Data that decides whether the access executes is included only if that is open.
        """
        address = self._address(site.index)
        if self._hints > self.account.share(HINTS_SHARE):
            return ()
        before = self.account.spent
        found = self._data.directly(address.name, site.index) if isinstance(address, Reg) else ()
        if not found and site.reason is not None and site.reason.of_kind(*_OF_EXECUTION):
            found = self._data.names(self._execution_directly.of(site.index))
        self._hints += self.account.spent - before
        return tuple(found)

    def data_of_count(self, site: SiteResult) -> tuple[str, ...]:
        """The pointers to data that decides how often an invariant access executes, according to its reason.

        What its address depends on does not matter.
        """
        if not _counts_open(site) or site.reason is None or self._hints > self.account.share(HINTS_SHARE):
            return ()
        before = self.account.spent
        bits = self._deciding_count.of(site.reason)
        self._hints += self.account.spent - before
        result: tuple[str, ...] = self._data.names(bits)
        return result

    @cached_property
    def _deciding_count(self) -> _Lost:
        return _Lost(self._data.deciding_at)

    @cached_property
    def _read(self) -> _Lost:
        return _Lost(self._data.read_at)

    def decided_by(self, site: SiteResult) -> Iterator[Reason]:
        """The pointers to data that decides an access but cannot be specified: data that the reason names as unknown,
        else data that the address or the execution depends on.
        """
        if site.reason is None or self._hints > self.account.share(HINTS_SHARE):
            return
        before = self.account.spent
        bits = self._read.of(site.reason)
        address = self._address(site.index)
        if not bits and isinstance(address, Reg):
            bits = self._data.bits_of(address.name, site.index)
        bits = bits or self._execution.of(site.index)
        self._hints += self.account.spent - before
        every = tuple(dict.fromkeys(self._data.names(bits, OTHER) + self._data.names(bits)))
        if names := tuple(name for name in every if name not in self._given):
            yield Reason(Kind.DATA_DECIDES, given=(tuple(map(self._called, names)),))
        yield from self._why_not_used(every)

    def counters_of(self, index: int) -> Iterator[Reason]:
        """The counters from which blocks take tickets that decide an access, if they can be specified and nothing else
        differs between blocks for it.
        """
        if not self._counters or self._hints > self.account.share(HINTS_SHARE):
            return
        before = self.account.spent
        address = self._address(index)
        bits = self._data.bits_of(address.name, index) if isinstance(address, Reg) else 0
        bits |= self._execution.of(index)
        names = [name for name in self._data.names(bits, OTHER) if name in self._counters]
        if names and not self._apart.of(index):
            yield from (Reason(Kind.DRAWN, given=(name, self._counters[name])) for name in names)
        self._hints += self.account.spent - before

    def hints(self, pointers: tuple[str, ...]) -> Iterator[Reason]:
        """How to specify the data of pointers: by parameter, or at the addresses that the pointers hold."""
        addressed = self._addressed
        yield from self._why_not_used(pointers)
        pointers = tuple(name for name in pointers if name not in self._given)
        if names := tuple(name for name in pointers if name not in addressed):
            yield Reason(Kind.DATA_CAN_BE_SPECIFIED, given=(names,))
        if names := tuple(name for name in pointers if name in addressed):
            yield Reason(Kind.DATA_AT_ADDRESSES, given=(names, tuple(f"{addressed[name]:#x}" for name in names)))

    def _why_not_used(self, pointers: tuple[str, ...]) -> Iterator[Reason]:
        """What prevents the use of specified data of pointers: stores of the kernel that may change it."""
        names = [name for name in pointers if name in self._given]
        if names and self._astray:
            yield Reason(Kind.STORES_MAY_REACH, given=(tuple(map(self._called, names)), self._astray))
            return
        written = self._written
        if changed := tuple(self._called(name) for name in names if written is None or name in written):
            yield Reason(Kind.DATA_MAY_CHANGE, given=(changed,))

    @cached_property
    def _given(self) -> set[str]:
        """The pointer parameters whose data the launch specifies."""
        if self.launch is None or not (buffers := self.launch.buffers):
            return set()
        return {
            name
            for offset, name in self._alone.items()
            if (number := self._number(offset)) is not None
            and any(begin <= number <= begin + len(content) for begin, content in buffers)
        }

    @cached_property
    def _alone(self) -> dict[int, str]:
        """Offset -> name of each parameter that may be a pointer."""
        return {p.offset: self._name(at) for at, p in enumerate(self.function.parameters) if p.size == POINTER_BYTES}

    def _number(self, offset: int) -> int | None:
        """The specified value of a pointer parameter."""
        known = self.known[offset : offset + POINTER_BYTES]
        return int.from_bytes(self.values[offset : offset + POINTER_BYTES], "little") if known and all(known) else None

    @cached_property
    def _astray(self) -> tuple[str, ...]:
        """The pointer parameters without an address through which the kernel stores, so that it may store anywhere.

        () if it may do so even if these had addresses.
        """
        found = writers(self.flow)
        if found is None:
            return ()
        origins = Origins(self.flow, b"", b"", self.account)  # of all parameters: a low number is no pointer
        out: dict[str, None] = {}
        for index, op in found:
            bases = origins.bases(index, op)
            if bases is None:
                return ()
            for base in bases:
                if base.kind == "parameters" or base.kind == "parameter" and base.key not in self._alone:
                    return ()
                if base.kind == "parameter" and (self._number(base.key) or 0) < LOWEST_POINTER:
                    out[self._alone[base.key]] = None
        return tuple(out)

    def _address(self, index: int) -> Operand | None:
        """The address operand of an access."""
        site = self.function.instructions[index].site
        return None if site is None else site.address

    @cached_property
    def _counters(self) -> dict[str, str]:
        """Pointer -> the type of the unspecified ticket counter that it points to."""
        found = tickets.open_counters(self.flow, self._origins)
        return {self._alone[key]: f"u{bits}" for key, bits in found.items() if key in self._alone}

    @cached_property
    def _apart(self) -> Deciding:
        """The operations that an access and its execution depend on and that differ from block to block."""
        return Deciding(self.flow, lambda op, _: _of_blocks(op), True, self.account, ASKING)

    @cached_property
    def _execution(self) -> Deciding:
        """The data that an access and its execution depend on."""
        return Deciding(self.flow, self._data.read_by, True, self.account, ASKING)

    @cached_property
    def _execution_directly(self) -> Deciding:
        """As `_execution`, without data loaded from shared memory or data that decides which lanes continue
        together.
        """
        return Deciding(self.flow, self._data.read_directly_by, True, self.account, ASKING, together=False)

    @cached_property
    def _data(self) -> DataSources:
        names = [self._name(position) for position in range(len(self.function.parameters))]
        every = (*names, *self._addressed)
        return DataSources(self.function, self.flow, every, self._pointers, self.account, self._helps, self._begins)

    def _begins(self, op: Op, index: int) -> list[str] | None:
        """The names of the parameters, parts of struct parameters, and variables that a load's address points into;
        None if it cannot be traced.
        """
        bases = self._origins.bases(index, op)
        if bases is None:
            return None
        return [self._base(base) for base in sorted(bases, key=str) if base.kind in ("parameter", "variable")]

    def _base(self, base: Base) -> str:
        if base.kind == "variable":
            return f"variable {demangle(base.key)}"
        if base.key in self._addresses:
            return self._addresses[base.key]
        at, parameter = next(
            (at, p) for at, p in enumerate(self.function.parameters) if p.offset <= base.key < p.offset + p.size
        )
        name = self._name(at)
        return name if parameter.size == POINTER_BYTES else f"{self._called(name)}, byte {base.key - parameter.offset}"

    @staticmethod
    def _called(name: str) -> str:
        """How a sentence refers to a parameter: by its number if it has no name."""
        return f"parameter {name}" if name.isdecimal() else name

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self.flow, self.values, self.known, self.account)

    def _name(self, position: int) -> str:
        """The name by which a parameter is specified: its own, or its number if the file does not name it."""
        name = self.function.parameters[position].name
        return str(position) if name == numbered_name(self.function.name, position) else name

    def _pointers(self, op: Op) -> Iterator[str]:
        """The unspecified pointer-sized parameter that an operation reads, or the part of a parameter that holds an
        address whose data is unspecified.
        """
        if op.name != "load" or op.space != "param" or not isinstance(op.src[0], Const):
            return
        if self._is_pointer(op):
            yield from (option.removeprefix("--param ") for _, option in self._sources(op))
        word = (op.src[0].value + op.offset) // POINTER_BYTES * POINTER_BYTES
        if name := self._addresses.get(word):
            yield name

    @cached_property
    def _addresses(self) -> dict[int, str]:
        """Offset -> name of each parameter word that holds an address whose data is unspecified."""
        named = {}
        for position, parameter in enumerate(self.function.parameters):
            begin, end = parameter.offset, parameter.offset + parameter.size
            name = self._name(position)
            called = f"parameter {name}" if name == str(position) else name
            for word in range(-(-begin // POINTER_BYTES) * POINTER_BYTES, end - POINTER_BYTES + 1, POINTER_BYTES):
                number = int.from_bytes(self.values[word : word + POINTER_BYTES], "little")
                if not all(self.known[word : word + POINTER_BYTES] or b"\0") or not self._open(number):
                    continue
                named[word] = called if parameter.size == POINTER_BYTES else f"{called}, byte {word - begin}"
        return named

    def _open(self, number: int) -> bool:
        """The number may be an address of memory whose content is not specified."""
        buffers = self.launch.buffers if self.launch is not None else ()
        inside = any(begin <= number < begin + len(content) for begin, content in buffers)
        return LOWEST_POINTER <= number < POINTER_LIMIT and not inside

    @cached_property
    def _addressed(self) -> dict[str, int]:
        """Name -> address of each word in `_addresses`."""
        return {
            name: int.from_bytes(self.values[word : word + POINTER_BYTES], "little")
            for word, name in self._addresses.items()
        }

    def _helps(self, name: str, index: int) -> bool:
        """Whether a load would use data specified for the memory of a pointer: the kernel cannot write there, or the
        load is declared to read read-only memory.
        """
        if name not in self._tellable:
            return False
        if promised(self.function.instructions[index]):
            return True
        return self._written is not None and name not in self._written

    @cached_property
    def _tellable(self) -> set[str]:
        """The pointers whose data a launch can specify: pointer parameters, and addresses that the launch gives."""
        return {*self._alone.values(), *self._addressed}

    @cached_property
    def _written(self) -> set[str] | None:
        """The pointers that the kernel may write through; None: any."""
        names = dict(self._addresses)
        for position, parameter in enumerate(self.function.parameters):
            names.setdefault(parameter.offset, self._name(position))
        out: set[str] = set()
        for instruction in self.function.instructions:
            for op in instruction.ops:
                if op.name not in ("store", "atom") or op.space not in OF_DATA:
                    continue
                bases = self._origins.bases(instruction.index, op)
                if bases is None:
                    return None
                out.update(names[base.key] for base in bases if base.kind == "parameter" and base.key in names)
        return out

    @cached_property
    def _deciding(self) -> tuple[Deciding, Deciding]:
        """The sources of an access and its execution; the sources of its address alone, whatever path was taken."""
        of_all, of_address = (
            Deciding(self.flow, self._own, execution, self.account, ASKING) for execution in (True, False)
        )
        return of_all, of_address

    @cached_property
    def _bits(self) -> dict[tuple[str, str], int]:
        """A bit for each thing that may be specified, in program order."""
        pairs = dict.fromkeys(pair for i in self.function.instructions for op in i.ops for pair in self._sources(op))
        return {pair: NOT_SPECIFIED << 1 + n for n, pair in enumerate(pairs)}

    def _own(self, op: Op, index: int) -> int:
        if _of_memory(op) or _meaningless(op):
            return NOT_SPECIFIED
        bits = 0
        for pair in self._sources(op):
            bits |= self._bits[pair]
        return bits

    def _is_pointer(self, op: Op) -> bool:
        """The operation loads a pointer-sized parameter."""
        if op.name != "load" or op.space != "param" or not isinstance(op.src[0], Const):
            return False
        offset = op.src[0].value + op.offset
        return any(p.size == POINTER_BYTES and p.offset <= offset < p.offset + p.size for p in self.function.parameters)

    def _sources(self, op: Op) -> Iterator[tuple[str, str]]:
        """(name, option) of everything that an operation reads of the launch and that is not specified."""
        if op.name == "load" and op.space.startswith("const"):
            yield from self._symbols(op)
        if op.name == "load" and op.space == "param":
            address = op.src[0]
            yield from self._parameters(address.value + op.offset if isinstance(address, Const) else None)
        for source in op.src:
            if not isinstance(source, Special):
                continue
            if (
                source.name.startswith(_OF_BLOCK)
                and (self.launch is None or self.launch.block is None)
                and self.function.block is None
            ):
                yield "the block's shape", "--block"
            elif source.name.startswith(_OF_GRID) and (self.launch is None or self.launch.grid is None):
                yield "the grid", "--grid"

    def _symbols(self, op: Op) -> Iterator[tuple[str, str]]:
        """The variable of constant memory that a load at a fixed address reads, if only the host knows its content."""
        address = op.src[0]
        for v in self.function.variables:
            if v.space != op.space or not v.left_to_host or v.name in self.symbols:
                continue
            named = isinstance(address, Address) and address.name == v.name
            placed = (
                isinstance(address, Const)
                and v.address is not None
                and v.address <= address.value + op.offset < v.address + v.size
            )
            if named or placed:
                yield demangle(v.name), f"--symbol {demangle(v.name)}"

    def _parameters(self, offset: int | None) -> Iterator[tuple[str, str]]:
        """The unspecified parameter at an offset of the parameter buffer; all of them if the offset is None."""
        for position, parameter in enumerate(self.function.parameters):
            inside = offset is None or parameter.offset <= offset < parameter.offset + parameter.size
            if inside and not all(self.known[parameter.offset : parameter.offset + parameter.size] or b"\0"):
                name = self._name(position)
                yield f"parameter {position}" if name == str(position) else name, f"--param {name}"


class _Lost:
    """The bits of the instructions that introduced unspecified data, at the innermost causes of a reason.

    Shared causes are visited once.
    """

    def __init__(self, bits_at: Callable[[int], int]) -> None:
        self._bits_at = bits_at
        self._known: dict[int, tuple[Reason, int]] = {}  # by id: the reason, kept alive, and its bits

    def of(self, reason: Reason) -> int:
        """The union of all bits."""
        known = self._known.get(id(reason))
        if known is not None:
            return known[1]
        inner = [one for one in (*reason.given, reason.cause) if isinstance(one, Reason)]
        bits = 0
        for one in inner:
            bits |= self.of(one)
        if reason.data and reason.index >= 0 and not any(one.data for one in inner):
            bits |= self._bits_at(reason.index)
        self._known[id(reason)] = reason, bits
        return bits


def _of_blocks(op: Op) -> bool:
    """The operation reads the index of its block."""
    return any(isinstance(source, Special) and source.name.startswith(("ctaid", "clusterid")) for source in op.src)


def _of_memory(op: Op) -> bool:
    return (
        bool(op.space)
        and op.space not in _OWN_SPACES
        and not op.space.startswith("const")
        or op.name in ("atom", "call")
    )


def _meaningless(op: Op) -> bool:
    special = op.name.partition(".")[0] in ACROSS or op.name in _SPECIAL
    return not special and not ever_known(op.name) or any(isinstance(source, Unknown) for source in op.src)
