"""Lowers PTX loads, stores, atomics and copies, and determines which of them are shared-memory sites.

    ld.shared.v2.f32 {%f1, %f2}, [s+8]    load of two elements of 32 bits; a site
    st.u32 [%rd1], %r1                    store; a site of space "generic": the engine resolves it
    cp.async.cg.shared.global [a], [b], 16, %r1    a site with source and source size
    cp.async.bulk…, wgmma…                sites that are listed with the reason why they are not scored

Sections "Data Movement and Conversion Instructions" and "Parallel Synchronization and Communication Instructions" of
https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any, TypeGuard

from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.emitter import Emitter
from ptxaudit.frontend.ptx.folding import folded
from ptxaudit.frontend.ptx.opcodes import Lower, Opcode, Row
from ptxaudit.frontend.ptx.pieces import load_piece, pieces_of, store_piece
from ptxaudit.frontend.ptx.types import BYTE
from ptxaudit.hardware.machine_model import MATRIX_ROWS
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.nodes import SiteSpace

SPACES = ("global", "shared", "local", "param", "const")
VECTORS = {"v2": 2, "v4": 4, "v8": 8}
SIGNED = ("min", "max")  # atomic operations that depend on the sign
ATOMICS = ("and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max")

BARRIER = "an operation on a barrier object"
BULK = "a bulk copy: the copy engine moves whole rows, no lane addresses a bank"
REMOTE = "an asynchronous store to another block's shared memory: its banks are served there"
TENSOR_CORE = "the tensor core reads it through a descriptor: no lane addresses a bank"
FRAGMENT = (
    "which words the lanes touch is ptxas's choice: it is known for the wmma of sm_70 to sm_121, and this is not one of"
    " them"
)
HOUSEKEEPING = "a descriptor or handle in shared memory, touched by one thread or by the hardware"


def spaces_of(o: Opcode) -> list[str]:
    """The state spaces in an opcode, in order; `shared::cta` is plain shared memory."""
    found = []
    for modifier in o.modifiers:
        stem, _, rest = modifier.partition("::")
        if stem in SPACES:
            found.append("shared::cluster" if rest == "cluster" else stem)
    return found


def space_of(o: Opcode) -> str:
    """The state space of a load, store or atomic; "generic" if it has none."""
    return (spaces_of(o) or ["generic"])[0]


def shared_space(space: str) -> SiteSpace:
    """The site's space for a space of shared memory."""
    return "shared::cluster" if space == "shared::cluster" else "shared"


def _offset(operand: s.Operand) -> int:
    return operand.offset or 0 if isinstance(operand, s.Memory) else 0


def _site_space(space: str) -> TypeGuard[SiteSpace]:
    return space in ("shared", "shared::cluster", "generic")


def mark(e: Emitter, operand: s.Operand, space: SiteSpace, unscored: str = "", opcode: str = "", **source: Any) -> None:
    """Makes the instruction a site with this address operand."""
    if isinstance(operand, s.Memory):
        address, offset = e.address(operand, "" if space == "generic" else space)
    else:  # a descriptor
        address, offset = e.value(operand, 64), 0
    e.site = ir.Site(opcode or e.opcode, address, offset, space, e.guard, unscored=unscored, **source)


# --- loads and stores -----------------------------------------------------------------------

_STRONG = frozenset(("volatile", "relaxed", "acquire", "mmio"))


def load(o: Opcode) -> Lower | None:
    """ld, ldu: each destination receives one element, sign- or zero-extended to the register by its type."""
    if not o.types:
        return None
    space, element = space_of(o), o.types[-1]
    attrs = (element.bits, element.kind == "s")

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        targets = e.targets(operands[0])
        pieces = pieces_of(e, operands[1]) if space == "param" else None
        if pieces is not None:
            for i, target in enumerate(targets):
                load_piece(e, pieces, _offset(operands[1]) + i * element.bits // BYTE, element, target)
            return
        address, offset = e.address(operands[1], "" if space == "generic" else space)
        bits = max([t.bits for t in targets if t is not None], default=element.bits)
        constant, ordered = "nc" in o.modifiers, not _STRONG.isdisjoint(o.modifiers)
        e.emit("load", targets, (address,), bits, attrs, space, offset, constant, ordered)
        if _site_space(space):
            mark(e, operands[1], space)

    return lower


def store(o: Opcode) -> Lower | None:
    """st; st.async and st.bulk write shared memory without lane accesses."""
    if "async" in o.plain or "bulk" in o.plain:
        return unscored_write(REMOTE if "async" in o.plain else BULK)(o)
    if not o.types:
        return None
    space, element = space_of(o), o.types[-1]

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        values = e.values(operands[1], element.bits)
        pieces = pieces_of(e, operands[0]) if space == "param" else None
        if pieces is not None:
            for i, value in enumerate(values):
                store_piece(e, pieces, _offset(operands[0]) + i * element.bits // BYTE, element, value)
            return
        address, offset = e.address(operands[0], "" if space == "generic" else space)
        e.emit("store", (), (address, *values), element.bits, (element.bits,), space, offset)
        if _site_space(space):
            mark(e, operands[0], space)

    return lower


def atomic(o: Opcode) -> Lower | None:
    """atom and red; red.async is an asynchronous store."""
    if "async" in o.plain:
        return unscored_write(REMOTE)(o)
    operation = next((m for m in o.modifiers if m in ATOMICS), None)
    if operation is None or not o.types:
        return None
    space, element, returns = space_of(o), o.types[-1], o.base == "atom"
    hinted = "L2::cache_hint" in o.plain

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        targets = e.targets(operands[0]) if returns else (None,)
        where, *rest = operands[1:] if returns else operands
        if hinted:
            rest = rest[:-1]
        address, offset = e.address(where, "" if space == "generic" else space)
        values = tuple(v for operand in rest for v in e.values(operand, element.bits))
        kind = f"{operation}.f" if element.kind in "fx" else operation  # not an integer sum
        if operation in SIGNED and element.kind == "s":
            kind = f"{operation}.s"
        e.emit("atom", targets, (address, *values), element.bits, (kind,), space, offset)
        if _site_space(space):
            mark(e, where, space)

    return lower


# --- matrices --------------------------------------------------------------------------------


def matrix_load(o: Opcode) -> Lower | None:
    """ldmatrix: lanes supply the addresses of rows; each lane receives data that other lanes addressed."""
    space = space_of(o)
    if not _site_space(space):
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        targets, modelled = e.targets(operands[0]), "m8n8" in o.modifiers and space == "shared"
        where: tuple[ir.Operand, ...] = (ir.Unknown("a place that is not modelled", 64),)
        attrs: tuple[int | bool, ...] = (32, False)
        offset = 0
        if modelled:
            address, offset = e.address(operands[1], space)
            where, attrs = (address, ir.Unknown("data of other lanes")), (*attrs, *_matrices(o, targets))
        e.emit("load", targets, where, 32, attrs, ir.MATRICES, offset)
        mark(e, operands[1], space)

    return lower


def _matrices(o: Opcode, registers: Sized) -> tuple[int, bool]:
    """(how many lanes address rows, whether the matrices are transposed)."""
    return len(registers) * MATRIX_ROWS, "trans" in o.modifiers


def matrix_store(o: Opcode) -> Lower | None:
    """stmatrix."""
    space = space_of(o)
    if not _site_space(space):
        return None

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        address, offset = e.address(operands[0], "" if space == "generic" else space)
        values = e.values(operands[1], 32)
        attrs = _matrices(o, values) if "m8n8" in o.modifiers else ()
        e.emit(ir.STORE_MATRIX, (), (address, *values), 32, attrs, space, offset)
        mark(e, operands[0], space)

    return lower


def fragment(o: Opcode) -> Lower | None:
    """wmma.load and wmma.store: one address, and the stride if specified; `spread` expands them to lane accesses."""
    if not o.plain & {"load", "store"}:
        return None
    space, loads = space_of(o), "load" in o.plain

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        where = operands[1 if loads else 0]
        address, offset = e.address(where, "" if space == "generic" else space)
        targets = e.targets(operands[0]) if loads else ()
        stride = tuple(e.value(operand, 32) for operand in operands[2:])
        e.emit("opaque", targets, (address, *stride), 32, (e.opcode, ""), space, offset)
        if not loads:
            e.emit("clobber", space=space)
        if _site_space(space):
            mark(e, where, space, FRAGMENT)

    return lower


# --- asynchronous copies -----------------------------------------------------------------------


def copy_async(o: Opcode) -> Lower | None:
    """cp.async from global to shared memory; its bulk forms; its groups, which move nothing."""
    if "bulk" in o.plain:
        return bulk(o)
    if not o.plain & {"ca", "cg"}:  # commit_group, wait_group, wait_all, mbarrier
        return nothing(o) if "async" in o.plain else None
    hinted = "L2::cache_hint" in o.plain

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        to, source, size, *rest = operands
        if hinted:
            rest = rest[:-1]
        address, offset = e.address(to, "shared")
        origin, origin_offset = e.address(source, "global")
        count, ignore = None, None
        if rest:
            value = e.value(rest[0], 32)
            if value.bits == 1 and isinstance(value, ir.Reg):
                ignore = ir.Guard(value)
            else:
                count = value
        e.emit(ir.COPY_ASYNC, (), (address, origin), 32, (folded(size),), "shared", offset)
        mark(
            e,
            to,
            "shared",
            opcode=f"{e.opcode} {folded(size)}",
            source=origin,
            source_offset=origin_offset,
            ignore=ignore,
            source_size=count,
        )

    return lower


def bulk(o: Opcode) -> Lower:
    """cp.async.bulk and cp.reduce.async.bulk: sites if one side is shared memory."""
    spaces = [space for space in spaces_of(o) if space != "param"]
    side = next((i for i, space in enumerate(spaces) if space.startswith("shared")), None)
    if "prefetch" in o.plain or side is None:
        return nothing(o)

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        places = [operand for operand in operands if isinstance(operand, s.Memory)]
        e.emit("clobber", space=spaces[0])
        mark(e, places[min(side, len(places) - 1)], shared_space(spaces[side]), BULK)

    return lower


def unscored_write(reason: str) -> Callable[[Opcode], Lower]:
    """An instruction whose first memory operand is in shared memory and that no bank rule covers."""

    def resolve(o: Opcode) -> Lower:
        space = space_of(o)

        def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
            targets, place = _results_and_place(e, operands)
            if place is None:
                return
            address, _ = e.address(place, "" if space == "generic" else space)
            if targets:
                e.emit("opaque", targets, (address,), attrs=(e.opcode, ""))
            e.emit("clobber", space=space)
            if _site_space(space):
                mark(e, place, space, reason)

        return lower

    return resolve


def _results_and_place(
    e: Emitter, operands: tuple[s.Operand, ...]
) -> tuple[tuple[ir.Reg | None, ...], s.Memory | None]:
    """(the registers that an instruction writes, its first memory operand); without one, makes the former opaque."""
    first = operands[0] if operands else None
    targets = e.targets(first) if isinstance(first, s.Name | s.Vector | s.Pair) else ()
    place = next((operand for operand in operands if isinstance(operand, s.Memory)), None)
    if place is None:
        e.emit("opaque", targets, tuple(v for x in operands for v in e.everything(x)), attrs=(e.opcode, ""))
    return targets, place


_OF_BARRIER = ir.Unknown("the contents of a barrier object", 64)
_ASKS = {"test_wait", "try_wait"}
_ON_BARRIER = {"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "pending_count", *_ASKS}


def barrier_object(o: Opcode) -> Lower | None:
    """mbarrier: init stores 8 bytes whose meaning is the hardware's own; test_wait and try_wait are functions of the
    barrier and the phase.

    The others write nothing but a barrier object that init has made, or return its state: a program must not perform
    them on other memory (PTX ISA, "mbarrier object"). cp.async.mbarrier.arrive and copies that complete are like them.
    """
    if o.plain.isdisjoint(_ON_BARRIER):
        return None
    space = space_of(o)

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        targets, place = _results_and_place(e, operands)
        if place is None:  # pending_count
            return
        address, offset = e.address(place, "" if space == "generic" else space)
        if o.plain & _ASKS:
            if offset:
                address = e.compute("add", (address, ir.Const(offset & 0xFFFFFFFF, address.bits)), address.bits)
            e.emit("barrier.test", targets, (address, *(v for x in operands[2:3] for v in e.everything(x))))
        elif "init" in o.plain:
            e.emit("store", (), (address, _OF_BARRIER), _OF_BARRIER.bits, (_OF_BARRIER.bits,), space, offset)
        elif targets:
            e.emit("opaque", targets, (address,), attrs=(e.opcode, ""))
        if _site_space(space):
            mark(e, place, space, BARRIER)

    return lower


def tensor_core(o: Opcode) -> Lower | None:
    """wgmma.mma_async and tcgen05.mma, .cp: operands in shared memory, addressed by descriptors."""
    multiplies = o.plain & {"mma_async", "mma", "cp"}
    if not multiplies:
        if "alloc" in o.plain:
            return unscored_write(HOUSEKEEPING)(o)
        return None if o.base == "tcgen05" else nothing(o)

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        first = operands[0]
        targets = e.targets(first) if isinstance(first, s.Vector) else ()
        e.emit("opaque", targets, tuple(v for operand in operands for v in e.everything(operand)), attrs=(e.opcode, ""))
        descriptors = [x for x in operands[1:] if isinstance(x, s.Name)]
        comes_from = "" if o.base != "wgmma" else "registers" if isinstance(operands[1], s.Vector) else "shared"
        mark(e, descriptors[0] if descriptors else operands[-1], "shared", TENSOR_CORE, first=comes_from)

    return lower


def nothing(o: Opcode) -> Lower:
    """An instruction that changes no register, and no memory whose contents matter."""

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        return None

    return lower


def discard(o: Opcode) -> Lower:
    """discard: the contents become indeterminate."""

    def lower(e: Emitter, operands: tuple[s.Operand, ...]) -> None:
        e.emit("clobber", space="global")

    return lower


_SHARED = "shared shared::cta shared::cluster"
_SPACES = f"global local const param param::entry param::func {_SHARED}"
_ORDER = "weak relaxed acquire release acq_rel volatile mmio cta cluster gpu sys"
_CACHE = "ca cg cs lu cv wb wt unified L1::* L2::* level::*"
_ASYNC = "async mbarrier::complete_tx::bytes"
_ATOMIC = f"{' '.join(ATOMICS)} {_SPACES} {_ORDER} noftz v2 v4 v8 L2::cache_hint level::eviction_priority"
_MATRICES = f"sync aligned m8n8 x1 x2 x4 trans {_SHARED}"
_FRAGMENTS = "m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128"
_BULK = (
    "bulk reduce tensor 1d 2d 3d 4d 5d tile tile::* im2col im2col::* im2col_no_offs bulk_group read prefetch cp_mask"
    " multicast::cluster cta_group::* mbarrier::complete_tx::bytes add min max inc dec and or xor noftz"
)
MATRIX = "Warp-level Matrix Instructions"
MOVEMENT = "Data Movement and Conversion Instructions"
SYNCHRONIZATION = "Parallel Synchronization and Communication Instructions"
ROWS: dict[str, Row] = {
    "ld": Row(load, MOVEMENT, f"{_SPACES} {_ORDER} {_CACHE} nc v2 v4 v8"),
    "ldu": Row(load, MOVEMENT, f"{_SPACES} v2 v4"),
    "st": Row(store, MOVEMENT, f"{_SPACES} {_ORDER} {_CACHE} v2 v4 v8 {_ASYNC} bulk"),
    "atom": Row(atomic, SYNCHRONIZATION, _ATOMIC),
    "red": Row(atomic, SYNCHRONIZATION, f"{_ATOMIC} {_ASYNC}"),
    "ldmatrix": Row(matrix_load, MATRIX, f"{_MATRICES} m8n16 m16n16 b8x16 b6x16_p32 b4x16_p64"),
    "stmatrix": Row(matrix_store, MATRIX, f"{_MATRICES} m16n8"),
    "wmma": Row(fragment, MATRIX, f"load store a b c d sync aligned row col global {_SHARED} {_FRAGMENTS}"),
    "cp": Row(
        copy_async,
        MOVEMENT,
        f"async ca cg commit_group wait_group wait_all mbarrier arrive noinc global {_SHARED} {_BULK} L2 L2::*",
    ),
    "wgmma": Row(
        tensor_core,
        "Asynchronous Warpgroup Level Matrix Instructions",
        "fence commit_group wait_group mma_async sp sync aligned satfinite m64*",
    ),
    "tcgen05": Row(tensor_core, "TensorCore 5th Generation Family Instructions", "*"),
    "tensormap": Row(unscored_write(HOUSEKEEPING), MOVEMENT, "*"),
    "clusterlaunchcontrol": Row(unscored_write(HOUSEKEEPING), SYNCHRONIZATION, "*"),
    "mbarrier": Row(barrier_object, SYNCHRONIZATION, "*"),
    "prefetch": Row(nothing, MOVEMENT, "global local const param L1 L2 L2::* tensormap"),
    "prefetchu": Row(nothing, MOVEMENT, "L1"),
    "discard": Row(discard, MOVEMENT, "global L2"),
    "applypriority": Row(nothing, MOVEMENT, "global L2::*"),
}
"""Opcodes that access memory. "*": any modifiers; everything the instruction writes is opaque."""

# The state spaces that unsupported forms of these opcodes may write; "" if the opcode specifies them.
WRITES = {
    "st": "",
    "atom": "",
    "red": "",
    "stmatrix": "",
    "cp": "",
    "mbarrier": "",
    "tensormap": "",
    "clusterlaunchcontrol": "",
    "wmma": "",
    "sust": "global",
    "sured": "global",
    "multimem": "global",
}
ONLY_READ = {"wmma": {"load", "mma"}, "multimem": {"ld_reduce"}}  # their forms that write registers only
SITES = ("ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix", "cp")


def may_write(o: Opcode) -> bool:
    """Whether an unsupported form of an opcode may write memory."""
    return o.base in WRITES and ONLY_READ.get(o.base, set()).isdisjoint(o.modifiers)
