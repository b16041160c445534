"""Instructions whose addresses are not per lane: warpgroup products and bulk copies, a kernel per form.

    wgmma.mma_async of every type, dense and sparse, A through a descriptor or in registers
    cp.async.bulk of bytes and of tiles of one to five dimensions, im2col, to several blocks of a cluster, between
    blocks, and reductions of all types

`tensor` and `timing` examine these by layout; this module counts them by form. Each is issued once and `TIMES` times
in a launch of nothing else, so that its contribution to a counter is known. Architecture: sm_90a.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import prod
from pathlib import Path
from typing import Any

ARCH = "sm_90a"
THREADS = 128
TIMES = 16
SHARED = 96 << 10  # bytes, in two halves, between which copies go
HALF = 32 << 10
EACH = 512  # bytes that one copy moves
ELEMENT = 4  # bytes: all reduction operations support u32
MAP_BYTES = 128  # size of a tensor map
OPCODES = "forms.json"  # beside the cubin: {form: its machine instruction}
_HEAD = f"""
.version 8.6
.target {ARCH}
.address_size 64
.extern .shared .align 1024 .b8 memory[];
"""


@dataclass(frozen=True)
class Form:
    """An instruction in its kernel.

    blocks: of its cluster; sides: of the box of its tensor map, empty without a map; im2col: the map is one; loads:
    its completion is awaited at a barrier, otherwise by a group.
    """

    name: str
    instruction: str
    product: Product | None = None
    blocks: int = 1
    sides: tuple[int, ...] = ()
    im2col: bool = False
    loads: bool = False

    @property
    def opcode(self) -> str:
        """The PTX opcode."""
        return self.instruction.split(" ", 1)[0]

    @property
    def ptx(self) -> str:
        return _product_kernel(self) if self.product else _bulk_kernel(self)


# --- products -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """Sums of n columns.

    row_elements: k, the elements of a row of A and of a column of B; scales: whether signs can be specified; majors:
    whether the order of A's and B's elements can be.
    """

    n: int
    sums: str
    types: str
    row_elements: int
    scales: bool
    majors: bool
    sparse: bool
    a_shared: bool


_DENSE = (
    # type of the sums, of A and B, k, signs, majors
    ("f32", "f16.f16", 16, True, True),
    ("f16", "f16.f16", 16, True, True),
    ("f32", "bf16.bf16", 16, True, True),
    ("f32", "tf32.tf32", 8, True, False),
    *(
        (sums, f"{a}.{b}", 32, True, False)
        for sums in ("f32", "f16")
        for a in ("e4m3", "e5m2")
        for b in ("e4m3", "e5m2")
    ),
    *(("s32", f"{a}.{b}", 32, False, False) for a in ("s8", "u8") for b in ("s8", "u8")),
    ("s32", "b1.b1", 256, False, False),
)
_NS = (8, 64, 96, 256)


def products() -> Iterator[Form]:
    for sums, types, k, scales, majors in _DENSE:
        for sparse in (False, True):
            if sparse and types == "b1.b1":
                continue
            for n in _NS:
                for a_shared in (True, False):
                    one = Product(n, sums, types, k << sparse, scales, majors, sparse, a_shared)
                    yield Form(_product_name(one), _product_instruction(one), one)


def _product_name(one: Product) -> str:
    where = "a_shared" if one.a_shared else "a_registers"
    return f"product_{one.sums}_{one.types.replace('.', '_')}_n{one.n}_{'sparse' if one.sparse else 'dense'}_{where}"


def _product_instruction(one: Product) -> str:
    sums = ", ".join(f"d{i}" for i in range(_registers(one)))
    operands = [f"{{{sums}}}", "da" if one.a_shared else "{r0, r1, r2, r3}", "db"]
    operands += ["r0", "0"] * one.sparse + ["yes"] + ["1", "1"] * one.scales
    operands += ["0"] * (one.majors * (1 + one.a_shared))
    extra = ".and.popc" if one.types == "b1.b1" else ""
    return (
        f"wgmma.mma_async{'.sp' * one.sparse}.sync.aligned.m64n{one.n}k{one.row_elements}.{one.sums}.{one.types}{extra}"
        f" {', '.join(operands)};"
    )


def _registers(one: Product) -> int:
    """The number of 4-byte registers per lane for the sums."""
    return one.n // (4 if one.sums == "f16" else 2)


def _product_kernel(form: Form) -> str:
    assert form.product
    count = _registers(form.product)
    kind = "f32" if form.product.sums == "f32" else "b32"
    zeros = " ".join(f"mov.{kind} d{i}, {'0f00000000' if kind == 'f32' else '0'};" for i in range(count))
    add = "add.f32" if kind == "f32" else "xor.b32"
    return f"""
.visible .entry {form.name}(.param .u64 p_map, .param .u64 p_out, .param .u64 p_times) {{
 .reg .pred yes, more; .reg .b32 base, r<4>, i, times; .reg .{kind} d<{count}>, total; .reg .b64 out, da, db, start, wide;
 ld.param.u64 out, [p_out]; ld.param.u64 wide, [p_times]; cvt.u32.u64 times, wide; mov.u32 base, memory;
 mov.u64 da, {128 >> 4 << 16 | 256 >> 4 << 32}; add.u64 db, da, {HALF >> 4};
 shr.u32 base, base, 4; cvt.u64.u32 start, base; add.u64 da, da, start; add.u64 db, db, start;
 mov.b32 r0, 0; mov.b32 r1, 0; mov.b32 r2, 0; mov.b32 r3, 0; setp.eq.u32 yes, r0, 0; mov.u32 i, 0;
 {zeros}
again:
 wgmma.fence.sync.aligned;
 {form.instruction}
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 0;
 add.u32 i, i, 1; setp.lt.u32 more, i, times; @more bra again;
 mov.{kind} total, d0;
 {" ".join(f"{add} total, total, d{i};" for i in range(1, count))}
 st.global.{kind} [out], total;
 ret;
}}
"""


# --- bulk copies ----------------------------------------------------------------------------------

_BARRIER = "mbarrier::complete_tx::bytes"
# the reductions in PTX: their operations with the types of each, in global and in shared memory
_INTEGERS = ("u32", "s32", "u64", "s64")
_GLOBAL_SUMS = {
    **dict.fromkeys(("and", "or", "xor"), ("b32", "b64")),
    **dict.fromkeys(("min", "max"), (*_INTEGERS, "f16", "bf16")),
    "add": ("u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.bf16"),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
}
_SHARED_SUMS = {
    **dict.fromkeys(("and", "or", "xor"), ("b32",)),
    **dict.fromkeys(("min", "max"), ("u32", "s32")),
    "add": ("u32", "s32", "u64"),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
}
_TILE_SUMS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def copies() -> Iterator[Form]:
    yield from _bytes()
    for count in range(1, 6):
        yield from _tiles(count)
    for count in range(3, 6):
        yield from _im2col(count)


def _bytes() -> Iterator[Form]:
    into = f"cp.async.bulk.shared::cluster.global.{_BARRIER}"
    yield Form("bytes_in", f"{into} [base], [global], each, [bar];", loads=True)
    yield Form("bytes_in_hint", f"{into}.L2::cache_hint [base], [global], each, [bar], policy;", loads=True)
    for blocks in (1, 2):
        multicast = f"{into}.multicast::cluster [base], [global], each, [bar], all;"
        yield Form(f"bytes_in_multicast_{blocks}", multicast, blocks=blocks, loads=True)
    between = f"cp.async.bulk.shared::cluster.shared::cta.{_BARRIER} [there], [base], each, [bar_there];"
    yield Form(
        "bytes_between", between, blocks=2, loads=True
    )  # in a launch without clusters it is an illegal instruction
    out = "cp.async.bulk.global.shared::cta.bulk_group"
    yield Form("bytes_out", f"{out} [global], [base], each;")
    yield Form("bytes_out_hint", f"{out}.L2::cache_hint [global], [base], each, policy;")
    for operation, types in _GLOBAL_SUMS.items():
        for kind in types:
            opcode = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{kind}"
            yield Form(f"bytes_out_{operation}_{kind.replace('.', '_')}", f"{opcode} [global], [base], each;")
    for operation, types in _SHARED_SUMS.items():
        for kind in types:
            opcode = f"cp.reduce.async.bulk.shared::cluster.shared::cta.{_BARRIER}.{operation}.{kind}"
            name = f"bytes_between_{operation}_{kind}"
            yield Form(name, f"{opcode} [there], [base], each, [bar_there];", blocks=2, loads=True)


def _box(count: int) -> tuple[int, ...]:
    """A box of `count` dimensions and `EACH` bytes."""
    return (EACH // ELEMENT >> count - 1, *(2,) * (count - 1))


def _tiles(count: int) -> Iterator[Form]:
    at, sides = f"[map, {{{', '.join('x' * count)}}}]", _box(count)
    into = f"cp.async.bulk.tensor.{count}d.shared::cluster.global.tile.{_BARRIER}"
    yield Form(f"tile{count}_in", f"{into} [base], {at}, [bar];", sides=sides, loads=True)
    hint = f"{into}.L2::cache_hint [base], {at}, [bar], policy;"
    yield Form(f"tile{count}_in_hint", hint, sides=sides, loads=True)
    for blocks in (1, 2):
        multicast = f"{into}.multicast::cluster [base], {at}, [bar], all;"
        yield Form(f"tile{count}_in_multicast_{blocks}", multicast, blocks=blocks, sides=sides, loads=True)
    out = f"cp.async.bulk.tensor.{count}d.global.shared::cta.tile.bulk_group"
    yield Form(f"tile{count}_out", f"{out} {at}, [base];", sides=sides)
    yield Form(f"tile{count}_out_hint", f"{out}.L2::cache_hint {at}, [base], policy;", sides=sides)
    for operation in _TILE_SUMS:
        opcode = f"cp.reduce.async.bulk.tensor.{count}d.global.shared::cta.{operation}.tile.bulk_group"
        yield Form(f"tile{count}_out_{operation}", f"{opcode} {at}, [base];", sides=sides)


def _im2col(count: int) -> Iterator[Form]:
    at, sides = f"[map, {{{', '.join('x' * count)}}}]", _box(count)
    offsets = f"{{{', '.join(['half'] * (count - 2))}}}"
    into = f"cp.async.bulk.tensor.{count}d.shared::cluster.global.im2col.{_BARRIER}"
    common = {"sides": sides, "im2col": True}
    yield Form(f"im2col{count}_in", f"{into} [base], {at}, [bar], {offsets};", loads=True, **common)
    for blocks in (1, 2):
        multicast = f"{into}.multicast::cluster [base], {at}, [bar], {offsets}, all;"
        yield Form(f"im2col{count}_in_multicast_{blocks}", multicast, blocks=blocks, loads=True, **common)
    out = f"cp.async.bulk.tensor.{count}d.global.shared::cta.im2col_no_offs.bulk_group"
    yield Form(f"im2col{count}_out", f"{out} {at}, [base];", **common)
    for operation in _TILE_SUMS:
        opcode = f"cp.reduce.async.bulk.tensor.{count}d.global.shared::cta.{operation}.im2col_no_offs.bulk_group"
        yield Form(f"im2col{count}_out_{operation}", f"{opcode} {at}, [base];", **common)


def _bulk_kernel(form: Form) -> str:
    """Thread 0 of each block issues it; for copies to all blocks, only that of the first."""
    wait = f"""
wait:
 mbarrier.try_wait.parity.shared.b64 done, [bar], 0;
 @!done bra wait;
{_CLUSTER if form.blocks > 1 else ""}"""
    group = " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    return f"""
.visible .entry {form.name}(.param .u64 p_map, .param .u64 p_out, .param .u64 p_times) {{
 .reg .pred first, skip, done, more; .reg .b32 lane, base, bar, there, bar_there, each, bytes, x, i, times, rank;
 .reg .b16 all, half; .reg .b64 map, global, wide, policy;
 .shared .align 8 .b64 barrier;
 ld.param.u64 map, [p_map]; ld.param.u64 global, [p_out]; ld.param.u64 wide, [p_times]; cvt.u32.u64 times, wide;
 mov.u32 lane, %tid.x; mov.u32 base, memory; mov.u32 bar, barrier; mov.u32 x, 0; mov.b16 half, 0;
 mov.u32 each, {EACH}; mul.lo.u32 bytes, each, times; mov.b16 all, {(1 << form.blocks) - 1};
 mov.u64 policy, {_EVICT_FIRST};
 setp.ne.u32 first, lane, 0;
 @first ret;
 mov.u32 rank, %cluster_ctarank; add.u32 i, rank, 1; rem.u32 i, i, {form.blocks};
 add.u32 there, base, {HALF}; mapa.shared::cluster.u32 there, there, i; mapa.shared::cluster.u32 bar_there, bar, i;
 mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; fence.mbarrier_init.release.cluster;
{_CLUSTER if form.blocks > 1 else ""}
{"mbarrier.arrive.expect_tx.shared.b64 _, [bar], bytes;" if form.loads else ""}
 mov.u32 i, 0;
 setp.ne.u32 skip, rank, {"0" if "multicast" in form.opcode else "rank"};
 @skip bra sent;
again:
 {form.instruction}
 add.u32 i, i, 1; setp.lt.u32 more, i, times; @more bra again;
sent:
{wait if form.loads else group}
 ret;
}}
"""


_CLUSTER = " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
_EVICT_FIRST = "0x12F0000000000000"  # a policy made by createpolicy, for .L2::cache_hint

FORMS = {one.name: one for one in (*products(), *copies())}


# --- building and launching -----------------------------------------------------------------------


def ptx() -> str:
    return _HEAD + "".join(form.ptx for form in FORMS.values())


_MACHINE = re.compile(r"\*/\s+(?:@!?U?P\w+ )?((?:\w*GMMA|UBLK(?:CP|RED)|UTMA(?:LDG|STG|REDG))[\w.]*)")


def build(folder: Path) -> None:
    """Writes folder/forms.cubin, and beside it the machine instruction that each form became."""
    from ptxaudit.frontend.compile import toolchains
    from ptxaudit.frontend.compile.ptxas import assemble

    folder.mkdir(parents=True, exist_ok=True)
    cubin = folder / "forms.cubin"
    cubin.write_bytes(assemble(ptx(), ARCH).cubin)
    command = [toolchains.get("nvdisasm").path, "-c", str(cubin)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    sections = re.split(r"^\.text\.(\w+):", text, flags=re.M)
    found = {name: _MACHINE.search(body)[1] for name, body in zip(sections[1::2], sections[2::2], strict=True)}
    (folder / OPCODES).write_text(json.dumps(found))
    print(f"{cubin}: {len(found)} forms")


def plan(only: str = "*") -> Iterator[tuple[Form, int]]:
    """The launches in order: forms, and how often each is issued. only: forms, as globs separated by commas."""
    for form in FORMS.values():
        if any(fnmatchcase(form.name, pattern) for pattern in only.split(",")):
            yield form, 1
            yield form, TIMES


def launch(folder: Path, only: str = "*") -> None:
    """Launches everything in the plan."""
    import struct

    from bench.profiled import Gpu

    gpu = Gpu()
    functions = gpu.kernels(folder / "forms.cubin")
    source, out, rows = gpu.allocate(), gpu.allocate(), gpu.allocate()
    for place, (form, times) in enumerate(plan(only)):
        row = rows + MAP_BYTES * place  # one per launch: the copy engine caches descriptors
        if form.sides:
            gpu.call(gpu.driver.cuMemcpyHtoD, row, _tensor_map(gpu, source, form), MAP_BYTES)
        params = struct.pack("QQQ", row, out, times)
        try:
            gpu.launch(functions[form.name], [form.blocks, 1, 1], [THREADS, 1, 1], [form.blocks, 1, 1], SHARED, params)
        except RuntimeError as error:
            raise SystemExit(f"{form.name}: {error}") from None


def _tensor_map(gpu: Any, source: int, form: Form) -> Any:
    """The address of a CUtensorMap of u32 whose only box is the whole tensor, kept alive by the caller's module."""
    driver, count = gpu.driver, len(form.sides)
    u64, u32 = driver.cuuint64_t, driver.cuuint32_t
    kind = driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_UINT32
    strides = [u64(ELEMENT * prod(form.sides[:i])) for i in range(1, max(count, 2))]  # one dimension still needs one
    shape = (kind, count, source, [*map(u64, form.sides)], strides)
    modes = (
        [u32(1)] * count,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if form.im2col:
        corner = [0] * (count - 2)
        pixels = prod(form.sides[1:])
        box = (corner, corner, u32(form.sides[0]), u32(pixels))
        made = gpu.call(driver.cuTensorMapEncodeIm2col, *shape, *box, *modes)
    else:
        made = gpu.call(driver.cuTensorMapEncodeTiled, *shape, [*map(u32, form.sides)], *modes)
    _KEPT.append(made)
    return made.getPtr()


_KEPT: list[Any] = []
