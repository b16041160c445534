"""Tensor-core operands and bulk tensor copies: the kernels, their launches, and the launcher.

    wgmma m64nNk16, f16: A from shared memory or registers, both majors of A and B, four swizzle modes, several strides
    cp.async.bulk.tensor.2d by swizzle mode and box

Neither is a request of a warp: their counters are read for the whole launch, and a copy is also timed. Architecture:
sm_90a.
"""

from __future__ import annotations

import ctypes
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import prod
from pathlib import Path
from typing import Any

ARCH = "sm_90a"
THREADS = 128
MAP_BYTES = 128  # size of a tensor map
SHARED = 160 << 10
B_START = 32 << 10  # A is below
NS = (8, 64, 256)
# swizzle mode: its code in the descriptor
SWIZZLES = {"none": 0, "128": 1, "64": 2, "32": 3}
COPIES = 16  # of one tile, back to back, when timed: a barrier counts up to 2**20 bytes
_HEAD = f"""
.version 8.6
.target {ARCH}
.address_size 64
.extern .shared .align 1024 .b8 memory[];
"""


@dataclass(frozen=True)
class Product:
    """One wgmma kernel. a_shared: A comes through a descriptor, otherwise from registers. a_major, b_major: K or MN."""

    n: int
    a_shared: bool
    a_major: str
    b_major: str

    @property
    def name(self) -> str:
        return f"wgmma_n{self.n}_{'a' + self.a_major.lower() if self.a_shared else 'areg'}_b{self.b_major.lower()}"

    @property
    def ptx(self) -> str:
        count = self.n // 2
        sums = ", ".join(f"f{i}" for i in range(count))
        a = "da" if self.a_shared else "{r0, r1, r2, r3}"
        majors = (
            f"{int(self.a_major == 'MN')}, {int(self.b_major == 'MN')}"
            if self.a_shared
            else f"{int(self.b_major == 'MN')}"
        )
        zeros = " ".join(f"mov.f32 f{i}, 0f00000000;" for i in range(count))
        keep = " ".join(f"add.f32 total, total, f{i};" for i in range(count))
        return f"""
.visible .entry {self.name}(.param .u64 p_row, .param .u64 p_out, .param .u64 p_other, .param .u64 p_more) {{
 .reg .pred yes; .reg .b32 base, lane, r<4>; .reg .f32 f<{count}>, total; .reg .b64 row, out, da, db, start, t;
 ld.param.u64 row, [p_row]; ld.param.u64 out, [p_out]; mov.u32 base, memory; mov.u32 lane, %tid.x;
 ld.global.u64 da, [row]; ld.global.u64 db, [row+8];
 shr.u32 base, base, 4; cvt.u64.u32 start, base; add.u64 da, da, start; add.u64 db, db, start;
 mov.b32 r0, 0; mov.b32 r1, 0; mov.b32 r2, 0; mov.b32 r3, 0; mov.f32 total, 0f00000000; setp.eq.u32 yes, r0, 0;
 {zeros}
 wgmma.fence.sync.aligned;
 wgmma.mma_async.sync.aligned.m64n{self.n}k16.f32.f16.f16 {{{sums}}}, {a}, db, yes, 1, 1, {majors};
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 0;
 {keep}
 mul.wide.u32 t, lane, 4; add.u64 out, out, t; st.global.f32 [out], total;
 ret;
}}
"""


PRODUCTS = {
    p.name: p
    for p in (
        *(Product(n, True, a, b) for n in NS for a in ("K", "MN") for b in ("K", "MN")),
        *(Product(n, False, "K", b) for n in NS for b in ("K", "MN")),
    )
}

# how the bytes are moved: instruction, and whether a barrier (a load) or a group (a store) waits for them
_MOVES = {
    "copy_tile": (
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [base], [map, {x, x}], [bar];",
        True,
    ),
    "copy_bytes": (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [base], [map], each, [bar];",
        True,
    ),
    "store_tile": ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {x, x}], [base];", False),
    "store_bytes": ("cp.async.bulk.global.shared::cta.bulk_group [map], [base], each;", False),
    "reduce_tile": ("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [map, {x, x}], [base];", False),
    "reduce_bytes": ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [map], [base], each;", False),
}
_OTHER_DIMENSIONS = (3, 4, 5)  # of tiles that are only counted, not timed
for _d in _OTHER_DIMENSIONS:
    _at = f"[map, {{{', '.join('x' * _d)}}}]"
    _MOVES |= {
        f"tensor{_d}_in": (
            f"cp.async.bulk.tensor.{_d}d.shared::cluster.global.mbarrier::complete_tx::bytes [base], {_at}, [bar];",
            True,
        ),
        f"tensor{_d}_out": (f"cp.async.bulk.tensor.{_d}d.global.shared::cta.bulk_group {_at}, [base];", False),
    }
_TILES = ("copy_tile", "store_tile")  # through a tensor map
_BEGIN = {True: "mbarrier.arrive.expect_tx.shared.b64 _, [bar], bytes;", False: ""}
_END = {
    True: """
wait:
 mbarrier.try_wait.parity.shared.b64 done, [bar], 0;
 @!done bra wait;""",
    False: " cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;",
}


def _move(name: str) -> str:
    instruction, load = _MOVES[name]
    return f"""
.visible .entry {name}(.param .u64 p_map, .param .u64 p_out, .param .u64 p_bytes, .param .u64 p_times) {{
 .reg .pred first, done, more; .reg .b32 lane, base, bar, each, bytes, x, i, times; .reg .b64 map, out, t0, t1, wide;
 .shared .align 8 .b64 barrier;
 ld.param.u64 map, [p_map]; ld.param.u64 out, [p_out]; ld.param.u64 wide, [p_bytes]; cvt.u32.u64 each, wide;
 ld.param.u64 wide, [p_times]; cvt.u32.u64 times, wide;
 mov.u32 lane, %tid.x; mov.u32 base, memory; mov.u32 bar, barrier; mov.u32 x, 0; setp.ne.u32 first, lane, 0;
 @first ret;
 mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; fence.mbarrier_init.release.cluster;
 mul.lo.u32 bytes, each, times;
 mov.u64 t0, %clock64;
 {_BEGIN[load]}
 mov.u32 i, 0;
again:
 {instruction}
 add.u32 i, i, 1; setp.lt.u32 more, i, times; @more bra again;
{_END[load]}
 mov.u64 t1, %clock64; sub.u64 t1, t1, t0; st.global.u64 [out], t1;
 ret;
}}
"""


def ptx() -> str:
    return _HEAD + "".join(p.ptx for p in PRODUCTS.values()) + "".join(_move(name) for name in _MOVES)


def descriptor(start: int, leading: int, stride: int, swizzle: str) -> int:
    """A shared-memory matrix descriptor; start relative to the window, all in bytes."""
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | SWIZZLES[swizzle] << 62


def products() -> Iterator[dict[str, Any]]:
    """Each kernel with each swizzle mode and several strides (bytes between core matrices or swizzle atoms)."""
    for product in PRODUCTS.values():
        for swizzle in SWIZZLES:
            atom = {"none": 128, "32": 256, "64": 512, "128": 1024}[swizzle]
            pairs = (
                [(128, 256), (1024, 128), (144, 288), (128, 2048)]
                if swizzle == "none"
                else [(2048, atom), (1024, atom), (atom, 2048)]
            )
            for leading, stride in pairs:
                yield {
                    "kernel": product.name,
                    "swizzle": swizzle,
                    "leading": leading,
                    "stride": stride,
                    "n": product.n,
                    "a": product.a_major if product.a_shared else "registers",
                    "b": product.b_major,
                }
    for swizzle in SWIZZLES:  # a step along K inside the swizzle atom, as in real kernels
        for start in (32, 64, 96):
            yield {
                "kernel": "wgmma_n64_ak_bk",
                "swizzle": swizzle,
                "leading": 128,
                "stride": 1024,
                "start": start,
                "n": 64,
                "a": "K",
                "b": "K",
            }


def copies() -> Iterator[dict[str, Any]]:
    """Boxes of f16 into and out of shared memory: bytes per row, rows, swizzle mode; then plain runs of bytes."""
    for kernel in _TILES:
        for swizzle, widths in (
            ("none", (16, 32, 64, 128, 256)),
            ("32", (32,)),
            ("64", (32, 64)),
            ("128", (32, 64, 128)),
        ):
            for width in widths:
                for rows in (8, 64, 128):
                    yield {
                        "kernel": kernel,
                        "swizzle": swizzle,
                        "row_bytes": width,
                        "rows": rows,
                        "bytes": width * rows,
                    }
    for kernel in ("copy_bytes", "store_bytes"):
        for size in (16, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768):
            yield {"kernel": kernel, "swizzle": "none", "row_bytes": size, "rows": 1, "bytes": size}
    for kernel in _MOVES:
        if kernel.startswith(("tensor", "reduce")):
            for width, rows in ((128, 64), (64, 8), (128, 8)):
                yield {"kernel": kernel, "swizzle": "none", "row_bytes": width, "rows": rows, "bytes": width * rows}


def _sides(one: dict[str, Any]) -> list[int]:
    """The sides of the box: elements per row, then rows; all dimensions from the third on have size two."""
    columns, count = one["row_bytes"] // 2, int(one["kernel"][6]) if one["kernel"].startswith("tensor") else 2
    beyond = max(0, count - 2)
    return [columns, one["rows"] >> beyond, *[2] * beyond][:count]


def plan(only: str = "*") -> list[dict[str, Any]]:
    """The launches in order; only: kernels, as globs separated by commas."""
    return [
        one
        for one in (*products(), *copies())
        if any(fnmatchcase(one["kernel"], pattern) for pattern in only.split(","))
    ]


def build(folder: Path) -> None:
    from ptxaudit.frontend.compile.ptxas import assemble

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tensor.cubin").write_bytes(assemble(ptx(), ARCH).cubin)


def launch(folder: Path, timed: bool, only: str = "*") -> None:
    """Launches everything once; timed: also writes the cycles of the copies to folder/copies.json.gz."""
    from bench.profiled import Gpu

    gpu = Gpu()
    driver = gpu.driver
    functions = gpu.kernels(folder / "tensor.cubin")
    limit = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    for function in functions.values():
        gpu.call(driver.cuFuncSetAttribute, function, limit, SHARED)
    source, out, rows = gpu.allocate(), gpu.allocate(), gpu.allocate()
    cycles = []
    for place, one in enumerate(plan(only)):
        row = rows + MAP_BYTES * place  # one per launch: the copy engine caches descriptors
        arguments, times = _prepared(gpu, one, row, source, out, timed)
        for count in times:
            raw = (ctypes.c_uint64 * 4)(*arguments, count)
            places = (ctypes.c_void_p * 4)(*(ctypes.addressof(raw) + 8 * i for i in range(4)))
            gpu.call(
                driver.cuLaunchKernel,
                functions[one["kernel"]],
                1,
                1,
                1,
                THREADS,
                1,
                1,
                SHARED,
                0,
                ctypes.addressof(places),
                0,
            )
            try:
                gpu.call(driver.cuCtxSynchronize)
            except RuntimeError as error:
                raise SystemExit(f"{one}: {error}") from None
            if one["kernel"] in _MOVES:
                cycles.append({**one, "times": count, "cycles": int(gpu.read(out, "uint64", 1)[0])})
    if timed:
        (folder / "copies.json.gz").write_bytes(gzip.compress(json.dumps(cycles).encode(), mtime=0))
    print(f"{len(plan(only))} tensor launches")


def _prepared(
    gpu: Any, one: dict[str, Any], row: int, source: int, out: int, timed: bool
) -> tuple[tuple[int, int, int], list[int]]:
    """(the arguments of a launch except the last, the values of the last in order); writes what they point to."""
    import numpy

    if one["kernel"] in _MOVES:
        tile = not one["kernel"].endswith("_bytes")
        if tile:
            gpu.call(gpu.driver.cuMemcpyHtoD, row, _tensor_map(gpu, source, one), MAP_BYTES)
        return (row if tile else source, out, one["bytes"]), [1, 1, 1, COPIES, COPIES, COPIES] if timed else [1]
    start = one.get("start", 0)
    pair = [descriptor(at, one["leading"], one["stride"], one["swizzle"]) for at in (start, B_START + start)]
    gpu.write(row, numpy.array(pair, numpy.uint64))
    return (row, out, 0), [0]


def _tensor_map(gpu: Any, source: int, one: dict[str, Any]) -> Any:
    """The address of a CUtensorMap of f16 whose only box is the whole tensor, kept alive by the caller's module."""
    driver = gpu.driver
    modes = {"none": "NONE", "32": "32B", "64": "64B", "128": "128B"}
    sides = _sides(one)
    strides = [2 * prod(sides[:i]) for i in range(1, len(sides))]  # bytes
    u64, u32 = driver.cuuint64_t, driver.cuuint32_t
    made = gpu.call(
        driver.cuTensorMapEncodeTiled,
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        len(sides),
        source,
        [u64(max(sides[0], 8)), *map(u64, sides[1:])],
        [*map(u64, strides)],
        [*map(u32, sides)],
        [u32(1)] * len(sides),
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{modes[one['swizzle']]}"),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    _KEPT.append(made)
    return made.getPtr()


_KEPT: list[Any] = []
