"""Finds what to tell where a site is unknown only because the launch is: a range, and the question.

    unknown: div.s on values that are not known
    ->  bounded, 1 to 32 per request: depends on n and the block's shape, which are not specified
        (--param n, --block): div.s on values that are not known

Before: what the lane engine says. After: the same, but no site is unknown whose address and execution
come from parameters and indices alone. The range is that of any request of its kind; what loads from
memory, or rests on an instruction without a meaning, stays as it is.
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
_SAID = (Kind.DEPENDS, Kind.ASKED, Kind.BY_SHAPE, Kind.NO_SHAPE_REACHES, Kind.BY_LAST_WARP)  # with what to specify
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
    Kind.YIELD,
)
_OF_EXECUTION = (Kind.TAKES_PART, Kind.ENDS, Kind.RUNS, Kind.RUNS_IF, Kind.DIVERGED, Kind.LANES, Kind.HOW_OFTEN)
_OF_BLOCK = ("tid", "ntid", "warpid", "nwarpid")
_OF_GRID = ("ctaid", "nctaid", "cluster", "ncluster", "is_explicit_cluster")
_OWN_SPACES = ("param", "local")  # and constants: what is in them is in the slice
ASKING = "looking for what to tell"
NOT_SPECIFIED = 1  # the bit of what nothing specified would decide: data, an instruction without a meaning
HINTS_SHARE = 1 / 12  # of the account, for what data decides: of the largest kernels it names that of some sites alone
_SPECIAL = ("load", "store", "cvta", "cvta.to", "isspacep")  # with a meaning of their own


def with_questions(
    result: KernelResult, function: Function, flow: Graph, machine: Machine, launch: Launch | None, account: Account
) -> KernelResult:
    """The result, each such site as a range with its question; those that the account does not pay for as they are."""
    if not any(site.status in _ASKED_OF or _counts_open(site) for site in result.sites):
        return result
    asking = _Asking(function, flow, launch, account)
    sites = tuple([_asked(site, asking, machine) for site in result.sites])
    vars(asking).clear()  # what it asks and it hold each other, and would wait for the collector
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
        alone = bool(counters) and site.status is Status.INVARIANT  # it needs nothing else
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
    ):  # no counter sees its wavefronts: there is no range of them
        return replace(site, reason=reason)
    return replace(
        site, status=Status.BOUNDED, reason=reason, per_request=banks.bounds(machine, access, 1, machine.lanes)
    )


def _with_options(site: SiteResult, asking: _Asking) -> SiteResult:
    """A site that has a range, with what to specify for its figure, where nothing else leaves it open."""
    if site.reason is None or site.reason.of_kind(*_NO_QUESTION, *_SAID, *_BY_RULE):
        return site
    asks = asking.of(site.index)
    if not asks:
        return site
    return replace(site, reason=Reason(Kind.ASKED, given=tuple(zip(*asks, strict=True)), cause=site.reason))


def _counts_open(site: SiteResult) -> bool:
    """What a request costs is known, and how many there are, or have an active lane, is not."""
    return site.status is Status.INVARIANT and site.reason is not None


def _of_data(site: SiteResult) -> bool:
    """How often it runs is not known, or with which lanes, and data decides it."""
    return _counts_open(site) and site.reason is not None and site.reason.data


def _scored(function: Function, index: int, machine: Machine) -> banks.Access | None:
    """The access, where it is certainly one of this block's shared memory and the machine has a rule for it."""
    site = function.instructions[index].site
    if site is None or site.space != "shared" or site.unscored:
        return None
    return None if site.access is None or machine.refusal(site.access) else site.access


class _Asking:
    """What to tell for the accesses of one kernel. Raises Exhausted where the account does not pay for it."""

    def __init__(self, function: Function, flow: Graph, launch: Launch | None, account: Account) -> None:
        self.function, self.flow, self.launch, self.account = function, flow, launch, account
        self.values, self.known = launch.buffer(function) if launch is not None else (b"", b"")
        self.symbols = (
            {name for name, content in symbols_of(launch, function).constants.items() if content}
            if launch is not None
            else set()
        )
        self.grid_known = launch is not None and launch.grid is not None  # else nothing is said of most numbers
        self._hints = 0  # steps that were spent on data

    def of(self, index: int) -> tuple[tuple[str, str], ...]:
        """(what, option) of each thing that is not specified; () where more than that decides the address."""
        self.account.spend(BLOCK, ASKING)
        for deciding in self._deciding:
            if not (bits := deciding.of(index)) & NOT_SPECIFIED:
                return tuple(pair for pair, bit in self._bits.items() if bits & bit)
        return ()

    def data_of(self, index: int) -> tuple[str, ...]:
        """The pointers whose data the address of an access is computed from, where that is not specified; else those
        whose data decides whether it runs.

        () once HINTS_SHARE of the account was spent on such hints.
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
        """The same of an access that a counter decides: without what passes through shared memory, where the numbers
        of blocks do, and without what decides which lanes go on together; what decides whether it runs only where
        that is open.
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
        """The pointers to the data that decides whether an access runs of which each request costs the same, as its
        reason says: where its address comes from does not matter."""
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
        """The pointers to data that decides an access, though it cannot be specified: what the reason says was not
        known, else what the address or the execution comes from."""
        if site.reason is None or self._hints > self.account.share(HINTS_SHARE):
            return
        before = self.account.spent
        bits = self._read.of(site.reason)
        address = self._address(site.index)
        if not bits and isinstance(address, Reg):
            bits = self._data.bits_of(address.name, site.index)
        bits = bits or self._execution.of(site.index)
        self._hints += self.account.spent - before
        if names := tuple(dict.fromkeys(self._data.names(bits, OTHER) + self._data.names(bits))):
            yield Reason(Kind.DATA_DECIDES, given=(tuple(map(self._called, names)),))

    def counters_of(self, index: int) -> Iterator[Reason]:
        """The counters from which blocks draw numbers that decide an access, if nothing else tells blocks apart for it
        and they can be specified."""
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
        """How to specify what pointers lead to: by their parameters, or at the addresses that they have."""
        addressed = self._addressed
        if names := tuple(name for name in pointers if name not in addressed):
            yield Reason(Kind.DATA_CAN_BE_SPECIFIED, given=(names,))
        if names := tuple(name for name in pointers if name in addressed):
            yield Reason(Kind.DATA_AT_ADDRESSES, given=(names, tuple(f"{addressed[name]:#x}" for name in names)))

    def _address(self, index: int) -> Operand | None:
        """Of an access."""
        site = self.function.instructions[index].site
        return None if site is None else site.address

    @cached_property
    def _counters(self) -> dict[str, str]:
        """Pointer -> what it leads to: a counter from which blocks draw, which is not specified."""
        alone = {p.offset: self._name(at) for at, p in enumerate(self.function.parameters) if p.size == POINTER_BYTES}
        found = tickets.open_counters(self.flow, self._origins)
        return {alone[key]: f"u{bits}" for key, bits in found.items() if key in alone}

    @cached_property
    def _apart(self) -> Deciding:
        """What differs from block to block that an access and its execution come from."""
        return Deciding(self.flow, lambda op, _: _of_blocks(op), True, self.account, ASKING)

    @cached_property
    def _execution(self) -> Deciding:
        """The data that an access and its execution come from."""
        return Deciding(self.flow, self._data.read_by, True, self.account, ASKING)

    @cached_property
    def _execution_directly(self) -> Deciding:
        """The same, but for what is read back from shared memory and for which lanes go on together."""
        return Deciding(self.flow, self._data.read_directly_by, True, self.account, ASKING, together=False)

    @cached_property
    def _data(self) -> DataSources:
        names = [self._name(position) for position in range(len(self.function.parameters))]
        every = (*names, *self._addressed)
        return DataSources(self.function, self.flow, every, self._pointers, self.account, self._helps, self._begins)

    def _begins(self, op: Op, index: int) -> list[str] | None:
        """What a load's address points into: parameters, parts of structs among them, variables; None: not followed."""
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
        """A parameter without a name by its number, in a sentence."""
        return f"parameter {name}" if name.isdecimal() else name

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self.flow, self.values, self.known, self.account)

    def _name(self, position: int) -> str:
        """What a parameter is specified by: its own name, its number where the file does not have it."""
        name = self.function.parameters[position].name
        return str(position) if name == numbered_name(self.function.name, position) else name

    def _pointers(self, op: Op) -> Iterator[str]:
        """The parameter as wide as an address, and not specified, that an operation reads; or the part of one that
        holds an address, whose data is not specified."""
        if op.name != "load" or op.space != "param" or not isinstance(op.src[0], Const):
            return
        if self._is_pointer(op):
            yield from (option.removeprefix("--param ") for _, option in self._sources(op))
        word = (op.src[0].value + op.offset) // POINTER_BYTES * POINTER_BYTES
        if name := self._addresses.get(word):
            yield name

    @cached_property
    def _addresses(self) -> dict[int, str]:
        """What is called how of the words of the parameters that hold an address, whose data is not specified."""
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
        """A number that may be an address of memory whose content is not specified."""
        buffers = self.launch.buffers if self.launch is not None else ()
        inside = any(begin <= number < begin + len(content) for begin, content in buffers)
        return LOWEST_POINTER <= number < POINTER_LIMIT and not inside

    @cached_property
    def _addressed(self) -> dict[str, int]:
        """The addresses of what `_addresses` names."""
        return {
            name: int.from_bytes(self.values[word : word + POINTER_BYTES], "little")
            for word, name in self._addresses.items()
        }

    def _helps(self, name: str, index: int) -> bool:
        """Whether a load would take what is specified of the memory that a pointer leads to: none that the kernel may
        write, unless the load is promised to be of read-only memory.
        """
        if name not in self._tellable:
            return False
        if promised(self.function.instructions[index]):
            return True
        return self._written is not None and name not in self._written

    @cached_property
    def _tellable(self) -> set[str]:
        """The pointers whose data a launch can have: parameters by themselves, and addresses that it says."""
        alone = {self._name(at) for at, p in enumerate(self.function.parameters) if p.size == POINTER_BYTES}
        return alone | set(self._addressed)

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
        """What an access and its execution come from; what its address alone does, whichever way the program went."""
        of_all, of_address = (
            Deciding(self.flow, self._own, execution, self.account, ASKING) for execution in (True, False)
        )
        return of_all, of_address

    @cached_property
    def _bits(self) -> dict[tuple[str, str], int]:
        """A bit for each thing that may be specified, in the order of the program."""
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
        """A load of a parameter that is as wide as an address."""
        if op.name != "load" or op.space != "param" or not isinstance(op.src[0], Const):
            return False
        offset = op.src[0].value + op.offset
        return any(p.size == POINTER_BYTES and p.offset <= offset < p.offset + p.size for p in self.function.parameters)

    def _sources(self, op: Op) -> Iterator[tuple[str, str]]:
        """What an operation reads of the launch that is not specified."""
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
        """The variable of constant memory that a load at a fixed place reads, where only the host knows its content."""
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
        """The parameter at an offset of the parameter buffer, or any of them."""
        for position, parameter in enumerate(self.function.parameters):
            inside = offset is None or parameter.offset <= offset < parameter.offset + parameter.size
            if inside and not all(self.known[parameter.offset : parameter.offset + parameter.size] or b"\0"):
                name = self._name(position)
                yield f"parameter {position}" if name == str(position) else name, f"--param {name}"


class _Lost:
    """Bits of the instructions at which data was met that nothing specified, innermost in a reason. What a reason rests
    on is asked for once, however many rest on it."""

    def __init__(self, bits_at: Callable[[int], int]) -> None:
        self._bits_at = bits_at
        self._known: dict[int, tuple[Reason, int]] = {}  # by identity: the reason, which is kept alive, and its bits

    def of(self, reason: Reason) -> int:
        """All bits together."""
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
    """It reads the index of its block."""
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
