"""Operands other than registers (special registers, addresses of variables), and what a launch specifies.

An `Environment` describes the rows (warps) that are executed together: their thread indices, which lanes exist, and
what the launch specifies. Everything else is a `Uniform`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.domain import naming
from ptxaudit.engine.domain.alternatives import chosen
from ptxaudit.engine.domain.lanes import LANE_BITS, LANES
from ptxaudit.engine.domain.supposed import Supposed
from ptxaudit.engine.domain.value import (
    DTYPES,
    POINTER_LIMIT,
    Uniform,
    Value,
    constant,
    known,
    low_zeros,
    opaque,
    unknown,
)
from ptxaudit.engine.memory.constants import Constants
from ptxaudit.engine.memory.windows import WINDOWS, makes_addresses_of
from ptxaudit.ir.frames import is_own
from ptxaudit.ir.nodes import CODE, Address, Const, Function, Op, Operand, Special, Unknown
from ptxaudit.ir.operands import within_instructions
from ptxaudit.ir.reasons import Kind, Reason

if TYPE_CHECKING:
    from ptxaudit.engine.memory.given import Given
    from ptxaudit.engine.memory.origins import Origins
    from ptxaudit.engine.memory.tickets import Counters
    from ptxaudit.engine.ops.row import Row

SHARED_WINDOW = 256 * 1024  # bytes: no block's shared memory is larger (228 KiB on sm_90)
DIMENSIONS = "xyz"
GRID_LIMITS = (2**31 - 1, 65535, 65535)
BLOCK_LIMITS = (1024, 1024, 64)
_WINDOWED = ("shared", "shared::cluster", "local")  # addresses of their variables are relative to a window
HIGH_WORD = 1 << 32
WINDOW_ZEROS = 24  # low zero bits of the base of a window
# A thread's stack begins near the top of its window of 16 MiB: at 0xfffdc0 on an H100, whatever the limit of the stack
# and the size of the frame. Kernels rely on its alignment; their frames have at most 512 KiB (CUDA C++ Programming
# Guide, "Compute Capabilities").
STACK_ZEROS, LEAST_STACK = 4, 1 << 20
ALL_BLOCKS = 0b111  # of a number that depends on block indices of all dimensions
RANK_BIT = 24  # the lowest bit of a block's rank in its cluster, in addresses in shared memory
MOST_IN_CLUSTER = 16  # blocks, if a kernel allows more than the portable 8
_OF_A_BLOCK = ("clusterid", "cluster_ctaid", "cluster_ctarank", "cga_ctaid")  # the others depend only on the launch
_CLOCKS = ("clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi")
# Small nonnegative numbers and sizes. (%warpid and %nwarpid number the warp slots of the multiprocessor,
# not the block's warps: seen on an H200.)
_SMALL = ("warpid", "nwarpid", "smid", "nsmid")
_SIZES = ("smem_size", "smem_offset")


class Facts(Record):
    """What the user specifies besides a launch.

    aligned: parameter name -> byte alignment of its value; "*" stands for every pointer.
    block, grid, dynamic_shared: specified without a whole launch.
    memory: the contents of memory that the launch specifies.
    constants: the kernel's constant memory; None: as in the file.
    origins: the origins of its addresses; None: not computed.
    counters: counters from which blocks may draw numbers; None: none.
    meanings: rows of operations that the machine defines more precisely (`operations.on_machine`).
    keep: the requests of every site are kept as well, with their places (`kept`).
    extents: the bytes that the requests of every site to global memory access are collected (`extents`).
    seen: the warps and trips of each distinct request are kept as well.
    code: invented addresses of functions (`code_addresses`).
    supposed: truth values of which one case is examined (`exec.by_cases`); None: none.
    """

    aligned: Mapping[str, int] = msgspec.field(default_factory=dict)
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    dynamic_shared: int | None = None
    memory: Given | None = None
    constants: Constants | None = None
    origins: Origins | None = None
    counters: Counters | None = None
    keep: bool = False
    extents: bool = False
    seen: bool = False
    meanings: Mapping[str, Row] = msgspec.field(default_factory=dict)
    code: Mapping[str, int] = msgspec.field(default_factory=dict)
    supposed: Supposed | None = None


@dataclass
class Environment:
    """One batch of rows. tid: three (rows, LANES) uint32 arrays, or Values for unknown ones.

    exists: (rows, LANES) bool. block/grid/cluster: three numbers each, or None if not specified.
    param_bytes/param_known: the buffer, and which of its bytes are specified.
    concrete_block: dimension -> (rows, 1) uint32 array, if blocks are executed one by one.
    """

    function: Function
    exists: np.ndarray
    tid: tuple[np.ndarray | Value, np.ndarray | Value, np.ndarray | Value]
    warp: np.ndarray
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None
    dynamic_shared: int | None = None
    param_bytes: bytes = b""
    param_known: bytes = b""
    facts: Facts = field(default_factory=Facts)
    concrete_block: dict[int, np.ndarray] = field(default_factory=dict)
    executions: int = 0  # of loads and similar: two executions of one instruction may differ
    shared: Any = None  # the memory (`references`) that tracks the contents of shared memory, if any
    counters: Any = None  # … and the memory of counters from which blocks draw
    made: dict[tuple[int, int], Any] | None = None  # results of operations (`effects`), if many are executed again
    trying: bool = False  # trips of a loop are tried together
    visits: dict[tuple[int, str], np.ndarray] = field(default_factory=dict)  # (instruction, register) -> (rows,) so far
    grouping: int = 0  # identifies the current meaning of the rows
    _groupings: Iterator[int] = field(default_factory=lambda: count(1), init=False, repr=False)
    _elements: int = field(default=0, init=False)  # of values, since they were last paid for

    def note_work(self, result: Value) -> None:
        """Records the size of a value that was computed or copied, for which an account pays."""
        self._elements += result.elements

    def work_done(self) -> int:
        """The elements of the arrays of all values recorded since the last call."""
        size, self._elements = self._elements, 0
        return size

    def serial(self) -> int:
        """A number for this execution of a load, whose result may differ between executions."""
        self.executions += 1
        return self.executions

    def visited(self, index: int, register: str, rows: np.ndarray | None) -> np.ndarray:
        """(n,) how often these rows, None for all, have computed a register at an instruction before this time."""
        visits = self.visits.setdefault((index, register), np.zeros(self.rows, np.int64))
        if rows is None:
            self.visits[index, register] = visits + 1
            return visits
        before: np.ndarray = visits[rows]
        visits[rows] += 1
        return before

    def regroup(self) -> None:
        """Marks that the rows have a new meaning from now on."""
        self.grouping = next(self._groupings)

    @property
    def pointers(self) -> Mapping[tuple[Hashable, ...], int]:
        """The pointers to specified buffers whose addresses are unknown (`pointers`)."""
        return {} if self.facts.memory is None else self.facts.memory.pointers

    @cached_property
    def makes_local_addresses(self) -> bool:
        """Whether the function computes generic addresses of local memory; if not, no pointer that it reads is one."""
        return makes_addresses_of(self.function, "local")

    @cached_property
    def makes_parameter_addresses(self) -> bool:
        """Whether the function computes generic addresses of its parameters."""
        return makes_addresses_of(self.function, "param")

    def __post_init__(self) -> None:
        self.temporaries = within_instructions(self.function)
        self.constants = self.facts.constants or Constants.of(self.function, {})
        self._addresses: dict[Address, Value] = {}

    @property
    def rows(self) -> int:
        result: int = self.exists.shape[0]
        return result

    # --- operands ---

    def operand(self, source: Operand) -> Value:
        """The value of any operand except a register."""
        if isinstance(source, Const):
            return constant(source.value, source.bits)
        if isinstance(source, Special):
            return self.special(source.name, source.bits)
        if isinstance(source, Address):
            if source not in self._addresses:
                self._addresses[source] = self.address(source)
            return self._addresses[source]
        assert isinstance(source, Unknown)  # registers are read from the register file
        return opaque(source.bits, Reason(Kind.NOT_EXPRESSED, given=(source.reason,)))

    def address(self, a: Address) -> Value:
        if a.space == "param":
            return constant(a.offset, a.bits)
        if is_own(a):
            return opaque(a.bits, Reason(Kind.NOT_EXPRESSED, given=("a variable of a function that calls itself",)))
        if a.space == CODE and a.name in self.facts.code:
            return constant(self.facts.code[a.name] + a.offset, a.bits)
        variable = self.function.variable_of.get((a.space, a.name))
        if variable is not None and variable.address is not None:
            return constant(variable.address + a.offset, a.bits)
        memory = self.facts.memory
        if a.space == "global" and memory is not None and (a.space, a.name) not in memory.pointers:
            if a.name in memory.variables:
                return constant(memory.variables[a.name] + a.offset, a.bits)
        align = variable.align if variable is not None else 1
        kind = "shared" if a.space.startswith("shared") else "function" if a.space == CODE else "variable"
        limit = POINTER_LIMIT
        if kind == "shared":  # the rank of a block in its cluster is above its place in the block's memory
            limit = SHARED_WINDOW if self.cluster == (1, 1, 1) else MOST_IN_CLUSTER << RANK_BIT
        symbol = Uniform(
            naming.variable(a.name),
            a.bits,
            low_zeros(align),
            0,
            limit,
            kind,
            (a.space, a.name),
            address=a.space not in _WINDOWED,
            launch_wide=a.space not in _WINDOWED,
        )
        value = unknown(symbol)
        return Value(value.base + DTYPES[a.bits](a.offset & ((1 << a.bits) - 1)), value.terms)

    def special(self, name: str, bits: int = 32) -> Value:
        value = self._special(name, bits)
        if value.bits != bits and value.known:
            return known(value.base.astype(DTYPES[bits]))
        return value

    def _special(self, name: str, bits: int) -> Value:
        stem, _, dim = name.partition(".")
        d = DIMENSIONS.find(dim) if dim else -1
        match stem:
            case "tid" if d >= 0:
                t = self.tid[d]
                return t if isinstance(t, Value) else known(t)
            case "laneid":
                return known(np.arange(LANES, dtype=np.uint32)[None, :])
            case "ntid" if d >= 0:
                return self._extent("ntid", self.block, d, BLOCK_LIMITS[d])
            case "nctaid" if d >= 0:
                return self._extent("nctaid", self.grid, d, GRID_LIMITS[d])
            case "ctaid" if d >= 0:
                return self._block_index(d)
            case "dynamic_smem_size" if self.dynamic_shared is not None:
                return constant(self.dynamic_shared, 32)
        if stem.startswith("lanemask_"):
            return known(_lane_mask(stem[9:]))
        if stem.startswith("cluster") or stem == "is_explicit_cluster" or stem in ("nclusterid", "cga_ctaid"):
            return self._cluster(stem, d)
        if stem in _CLOCKS or stem.startswith("pm"):  # and performance counters
            return opaque(bits, Reason(Kind.NOT_BEFORE_THE_RUN, given=(name,)))
        if name in WINDOWS:
            of_parameters, low = WINDOWS[name][0] == "param", name.endswith("_lo")
            zeros = WINDOW_ZEROS if low and not of_parameters else 0
            most = HIGH_WORD - (1 << zeros) if low else 2**31 - 1
            return unknown(Uniform(f"%{name}", 32, zeros, 0, most, "window", WINDOWS[name]))
        other = Uniform(f"%{name}", bits, kind="special", key=name)
        if name == "stack":
            return unknown(
                replace(other, zeros=STACK_ZEROS, low=LEAST_STACK, high=(1 << WINDOW_ZEROS) - (1 << STACK_ZEROS))
            )
        if stem in _SMALL or any(size in stem for size in _SIZES):
            other = replace(other, low=0, high=2**31 - 1)
        return unknown(other)

    def _extent(self, name: str, specified: tuple[int, int, int] | None, d: int, limit: int) -> Value:
        if specified is not None:
            return constant(specified[d], 32)
        return unknown(Uniform(naming.special(name, DIMENSIONS[d]), 32, 0, 1, limit, "block shape", (name, d)))

    def _block_index(self, d: int) -> Value:
        if d in self.concrete_block:
            return known(self.concrete_block[d])
        if self.grid is not None and self.grid[d] == 1:
            return constant(0, 32)
        high = (self.grid[d] if self.grid is not None else GRID_LIMITS[d]) - 1
        return unknown(
            Uniform(naming.special("ctaid", DIMENSIONS[d]), 32, 0, 0, high, "block", ("ctaid", d), blocks=1 << d)
        )

    def _cluster(self, stem: str, d: int) -> Value:
        size = self.cluster
        known_cluster = None if size is None else self._of_known_cluster(stem, d, size)
        if known_cluster is not None:
            return known_cluster
        low, high = _cluster_limits(stem, d)
        kind = "block" if size is not None and stem in _OF_A_BLOCK else "special"
        return unknown(
            Uniform(
                f"%{stem}" + (f".{DIMENSIONS[d]}" if d >= 0 else ""),
                1 if stem == "is_explicit_cluster" else 32,
                0,
                low,
                high,
                kind,
                (stem, d),
                blocks=ALL_BLOCKS if kind == "block" else 0,
            )
        )

    def _of_known_cluster(self, stem: str, d: int, size: tuple[int, int, int]) -> Value | None:
        """A cluster register, from the size of the cluster, the grid and block indices; None: not determined."""
        single = size == (1, 1, 1)
        match stem:
            case "cluster_nctaid" | "cluster_nctarank":
                return constant(size[d] if d >= 0 else size[0] * size[1] * size[2], 32)
            case "is_explicit_cluster":
                return None if single else constant(1, 1)  # a cluster of one block may be stated, or not
            case "cluster_launch_kind":  # ptxas compares it with 1 for %is_explicit_cluster
                return None if single else constant(1, 32)
            case "cluster_nctaid_reciprocal" if d >= 0:
                return _reciprocal(size[d])
            case "clusterid" if d >= 0 and size[d] == 1:
                return self._block_index(d)
            case "clusterid" if d in self.concrete_block:
                return known(self.concrete_block[d] // np.uint32(size[d]))
            case "nclusterid" if d >= 0 and (self.grid is not None or size[d] == 1):
                if self.grid is None:
                    return self._extent("nctaid", None, d, GRID_LIMITS[d])
                return constant(self.grid[d] // size[d], 32)
            case "cluster_ctaid" | "cluster_ctarank" | "cga_ctaid" if single:
                return constant(0, 32)
            case "cluster_ctaid" | "cluster_ctarank" | "cga_ctaid" if len(self.concrete_block) == 3:
                inside = [self.concrete_block[i] % np.uint32(size[i]) for i in range(3)]
                if d >= 0:
                    return known(inside[d])
                return known(inside[0] + np.uint32(size[0]) * (inside[1] + np.uint32(size[1]) * inside[2]))
        return None

    def spaces(self, index: int, op: Op | None = None) -> frozenset[str] | None:
        """The state spaces in which a generic address may lie, by its origins; None: any.

        op: an operation of the instruction; None: its site.
        """
        origins = self.facts.origins
        if origins is None:
            return None
        if op is not None:
            return origins.spaces(op.src[0], index, self.function.instructions[index].ops.index(op))
        return origins.spaces_of_site(index)


def _reciprocal(size: int) -> Value:
    """The driver's float by which machine code divides a block index by the cluster's size: one of a few.

    Its bits are not documented, but what ptxas makes of it is: the product, truncated, is %clusterid (PTX ISA). So it
    is no float whose quotients are wrong, which leaves 1 / size, rounded up, and floats above it with equal quotients.
    """
    why = Reason(Kind.NOT_BEFORE_THE_RUN, given=("cluster_nctaid_reciprocal",))
    return chosen(reciprocals(size).view(np.uint32).reshape(-1, 1, 1, 1), None, (), True, why)


@cache
def reciprocals(size: int) -> np.ndarray:
    """The least float with the right quotients for every block index in a grid's y and z, and the next one."""
    index = np.arange(GRID_LIMITS[1] + 1)
    one = np.nextafter(np.float32(1) / np.float32(size), np.float32(0))
    while not np.array_equal((index.astype(np.float32) * one).astype(np.int64), index // size):
        one = np.nextafter(one, np.float32(1))
    return np.array([one, np.nextafter(one, np.float32(2))], np.float32)


def _cluster_limits(stem: str, d: int) -> tuple[int | None, int | None]:
    """The range of a cluster register in any launch; None: no limit."""
    of_grid = GRID_LIMITS[d] if d >= 0 else 0
    return {
        "clusterid": (0, of_grid - 1),
        "nclusterid": (1, of_grid),
        "cluster_nctaid": (1, MOST_IN_CLUSTER),
        "cluster_nctarank": (1, MOST_IN_CLUSTER),
        "is_explicit_cluster": (0, 1),
    }.get(stem, (0, MOST_IN_CLUSTER - 1) if stem in _OF_A_BLOCK else (None, None))


def _lane_mask(which: str) -> np.ndarray:
    own, below = LANE_BITS, LANE_BITS - np.uint32(1)
    return {"lt": below, "le": below | own, "eq": own, "ge": ~below, "gt": ~below & ~own}[which][None, :]


def thread_rows(
    block: tuple[int, int, int],
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """(exists, tid, warp) of all warps of a block: threads in the order x, y, z, LANES per warp."""
    threads = block[0] * block[1] * block[2]
    warps = -(-threads // LANES)
    linear = np.arange(warps * LANES, dtype=np.uint32).reshape(warps, LANES)
    exists = linear < threads
    x = linear % np.uint32(block[0])
    y = linear // np.uint32(block[0]) % np.uint32(block[1])
    z = linear // np.uint32(block[0] * block[1])

    def compact(t: np.ndarray) -> np.ndarray:
        return np.zeros((1, 1), np.uint32) if not t.any() else t

    return exists, (compact(x), compact(y), compact(z)), np.arange(warps, dtype=np.uint32)[:, None]
