"""Times what no counter measures: cp.async with inactive lanes and zeros, remote accesses, barriers, wgmma by layout.

    launches()               every launch: its kernel, table of lanes and description
    time_all(folder)         on a GPU, without the profiler: the cycles of one more instruction of each
    launch_all(folder)       on a GPU under the profiler: UNROLL instructions of each

A kernel repeats one instruction UNROLL times in a loop between two readings of the clock; the cycles of one more are
the difference between two launches with few and many trips. A copy is issued by 8 warps together, everything else by
one warp (a wgmma by four) of one block; `cluster` kernels have two blocks, of which the first accesses the other's
shared memory (or its own, by the same instruction). Architecture: sm_90a.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import Any

from bench.calibrate import tensor
from bench.calibrate.patterns import EVERYONE, LANES, LINE, destinations

ARCH = tensor.ARCH
UNROLL = 8
TRIPS = (8, 40)  # of the loop, in the launch with few and the one with many
REPEATS = 3  # launches of each; the minimum counts
WARPS = 8  # for a copy
WINDOW = 20 << 10  # bytes per warp
FAR = 512 * WARPS  # from one copy of a block to the next
BLOCKS = 132  # all multiprocessors of an H200
SHARED = 200 << 10
TABLE = 4  # words per lane: address, value, on, another address
RANKS = {"own": 0, "other": 1}  # the block whose memory a cluster kernel accesses
SEED = 11
WHAT = (
    "cycles: of one more instruction of a warp, in a run of them (a copy: of one of 8 warps; a wgmma: of a warpgroup),"
    " without the profiler; counters: of `unroll` such instructions in one launch of one block, a cluster kernel of two"
)


@dataclass(frozen=True)
class Timed:
    """One kernel. body: the instruction, with {r} for distinct registers; after: waits for all of them."""

    name: str
    body: str
    after: str = ""
    before: str = ""
    warps: int = 1
    cluster: bool = False
    source: str = (
        "warp"  # of a copy: 512 bytes of each warp, shared by all ("block"), or further ones each time ("far")
    )
    each: str = ""  # at the end of each trip
    window: int = WINDOW  # bytes between the destinations of two warps
    keep: str = ""  # uses the result of the instruction, so that it is not removed

    @property
    def ptx(self) -> str:
        def times(text: str) -> str:
            return " ".join(text.replace("{r}", str(i)).replace("{far}", str(FAR * i)) for i in range(UNROLL))

        meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" if self.cluster else "bar.sync 0;"
        return f"""
.visible .entry {self.name}(.param .u64 p_row, .param .u64 p_source, .param .u64 p_out, .param .u32 p_times, .param .u32 p_rank)
{".explicitcluster .reqnctapercluster 2, 1, 1" if self.cluster else ""} .maxntid {LANES * self.warps}, 1, 1 {{
 .reg .pred on, ignore, first, more, p<{UNROLL}>; .reg .b32 a, b, n, r<40>, total, lane, warp, rank, times, i, me, base; .reg .b64 row, s, out, t0, t1, t, q<{UNROLL}>;
 ld.param.u64 row, [p_row]; ld.param.u64 s, [p_source]; ld.param.u64 out, [p_out]; ld.param.u32 times, [p_times]; ld.param.u32 rank, [p_rank];
 mov.u32 i, %tid.x; and.b32 lane, i, {LANES - 1}; shr.u32 warp, i, 5; mul.wide.u32 t, {"lane" if self.source == "block" else "i"}, 16; add.u64 s, s, t; mul.wide.u32 t, lane, 4; add.u64 row, row, t;
 ld.global.u32 a, [row]; ld.global.u32 n, [row+{4 * LANES}]; ld.global.u32 i, [row+{8 * LANES}]; setp.ne.u32 on, i, 0; ld.global.u32 b, [row+{12 * LANES}];
 mov.u32 base, memory; mad.lo.u32 a, warp, {self.window}, a; add.u32 a, a, base; add.u32 b, b, base; setp.ne.u32 ignore, n, 0; mov.u32 total, 0; mov.u32 me, 0;
 {times("mov.b32 r{r}, lane; mov.b32 r1{r}, lane;")} {times("mov.u64 q{r}, 0;")}
 {"mov.u32 me, %cluster_ctarank; mapa.shared::cluster.u32 a, a, rank; mapa.shared::cluster.u32 b, b, rank;" if self.cluster else ""}
 setp.eq.u32 first, me, 0;
 {self.before}
 mov.u32 i, 0;
 {meet}
 @!first bra done;
 mov.u64 t0, %clock64;
again:
 {times(self.body)}
 {times(self.keep)} {self.each}
 {f"add.u64 s, s, {FAR * UNROLL};" if self.source == "far" else ""}
 add.u32 i, i, 1; setp.lt.u32 more, i, times; @more bra again;
 {self.after}
 {"" if self.cluster else "bar.sync 0;"}
 mov.u64 t1, %clock64; sub.u64 t1, t1, t0; st.global.u64 [out], t1; st.global.u32 [out+8], total;
done:
 {"nanosleep.u32 20000;" if self.cluster else ""}
 {meet}
 ret;
}}
"""


_WAIT = "cp.async.wait_all;"
_KEEP = "xor.b32 total, total, r{r};"
_BARRIERS = "mbarrier.init.shared.b64 [a], 1048575;"


def _on_barriers() -> Iterator[Timed]:
    """Operations on a barrier object other than arriving and waiting; `barrier_nothing` counts a launch without any."""
    yield Timed("barrier_nothing", "")
    yield Timed("barrier_init", "@on mbarrier.init.shared.b64 [a], 7;")
    for name, body in (
        ("inval", "inval.shared.b64 [a]"),
        ("expect_tx", "expect_tx.relaxed.cta.shared::cta.b64 [a], 0"),
        ("complete_tx", "complete_tx.relaxed.cta.shared::cta.b64 [a], 0"),
        ("arrive_expect_tx", "arrive.expect_tx.shared::cta.b64 _, [a], 0"),
        ("arrive_drop", "arrive_drop.shared.b64 _, [a]"),
        ("arrive_count", "arrive.shared.b64 q{r}, [a], b"),
        ("arrive_count_sink", "arrive.shared::cluster.b64 _, [a], b"),
        ("arrive_no_complete", "arrive.noComplete.shared.b64 q{r}, [a], b"),
        ("arrive_drop_no_complete", "arrive_drop.noComplete.shared.b64 q{r}, [a], b"),
        ("arrive_drop_expect_tx", "arrive_drop.expect_tx.shared.b64 q{r}, [a], 0"),
    ):
        keep = "cvt.u32.u64 r{r}, q{r}; " + _KEEP if "q{r}" in body else ""
        yield Timed(f"barrier_{name}", f"@on mbarrier.{body};", before=_BARRIERS + " add.u32 b, n, 1;", keep=keep)
    for name, how in (("copies", ".noinc"), ("copies_counted", "")):
        yield Timed(f"barrier_{name}", f"@on cp.async.mbarrier.arrive{how}.shared.b64 [a];", _WAIT, before=_BARRIERS)


def _cluster() -> Iterator[Timed]:
    for name, body, keep in (
        ("ld", "@on ld.volatile.shared::cluster.b32 r{r}, [a];", _KEEP),
        ("ld_v2", "@on ld.volatile.shared::cluster.v2.b32 {r{r}, r1{r}}, [a];", _KEEP),
        ("ld_v4", "@on ld.volatile.shared::cluster.v4.b32 {r{r}, r1{r}, r2{r}, r3{r}}, [a];", _KEEP),
        ("st", "@on st.volatile.shared::cluster.b32 [a], r{r};", ""),
        ("st_v4", "@on st.volatile.shared::cluster.v4.b32 [a], {r{r}, r1{r}, n, n};", ""),
        ("atom", "@on atom.shared::cluster.add.u32 r{r}, [a], n;", _KEEP),
        ("red", "@on red.shared::cluster.add.u32 [a], n;", ""),
        ("st_async", "@on st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [a], r{r}, [b];", ""),
        (
            "st_async_v4",
            "@on st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [a], {r{r}, r1{r}, n, n}, [b];",
            "",
        ),
    ):
        # data that was sent has arrived once a load of the same place has returned
        after = "" if keep else "@on ld.shared::cluster.b32 r0, [a]; xor.b32 total, total, r0;"
        before = ""
        if name.startswith("st_async"):
            before = (
                "setp.eq.u32 more, lane, 0; setp.eq.and.u32 more, me, rank, more; @more mbarrier.init.shared.b64"
                " [base], 1048575;"
            )
        yield Timed(f"cluster_{name}", body, after, before, cluster=True, keep=keep)
    # each block creates its own barriers at these places
    make = (
        "and.b32 b, a, 0x00ffffff; and.b32 n, base, 0xff000000; or.b32 b, b, n; mbarrier.init.shared.b64 [b], 1048575;"
    )
    for name, body in (
        ("arrive", "arrive.release.cluster.shared::cluster.b64 _, [a]"),
        ("arrive_expect_tx", "arrive.expect_tx.release.cluster.shared::cluster.b64 _, [a], 0"),
        ("arrive_complete_tx", "complete_tx.relaxed.cluster.shared::cluster.b64 [a], 0"),
    ):
        yield Timed(f"cluster_{name}", f"@on mbarrier.{body};", before=make, cluster=True)


def _circumstances() -> Iterator[Timed]:
    """cp.async.cg with variations of its sources, destinations and waits."""
    for source in ("warp", "block", "far"):
        for waits in (False, True):
            for window in (WINDOW, 0):
                body = "@on cp.async.cg.shared.global [a], [s" + ("+{far}" if source == "far" else "") + "], 16;"
                yield Timed(
                    f"cg_{source}{'_waits' if waits else ''}{'' if window else '_onto'}",
                    body,
                    _WAIT,
                    warps=WARPS,
                    keep="",
                    source=source,
                    window=window,
                    each=_WAIT if waits else "",
                )


KERNELS = {
    one.name: one
    for one in (
        Timed("ca", "@on cp.async.ca.shared.global [a], [s], 16;", _WAIT, warps=WARPS),
        Timed("cg", "@on cp.async.cg.shared.global [a], [s], 16;", _WAIT, warps=WARPS),
        Timed("cg_l2_128", "@on cp.async.cg.shared.global.L2::128B [a], [s], 16;", _WAIT, warps=WARPS),
        Timed("cg_size", "@on cp.async.cg.shared.global [a], [s], 16, n;", _WAIT, warps=WARPS),
        Timed("cg_ignore", "@on cp.async.cg.shared.global [a], [s], 16, ignore;", _WAIT, warps=WARPS),
        Timed("local_ld", "@on ld.volatile.shared.b32 r{r}, [a];", keep=_KEEP),
        Timed(
            "local_st", "@on st.volatile.shared.b32 [a], r{r};", "@on ld.shared.b32 r0, [a]; xor.b32 total, total, r0;"
        ),
        Timed(
            "arrive",
            "@on mbarrier.arrive.shared.b64 q{r}, [a];",
            before=_BARRIERS,
            keep="cvt.u32.u64 r{r}, q{r}; " + _KEEP,
        ),
        Timed("arrive_sink", "@on mbarrier.arrive.shared::cluster.b64 _, [a];", before=_BARRIERS),
        Timed(
            "test_wait",
            "@on mbarrier.test_wait.parity.shared.b64 p{r}, [a], 0;",
            before=_BARRIERS,
            keep="selp.b32 r{r}, 1, 0, p{r}; " + _KEEP,
        ),
        Timed(
            "try_wait",
            "@on mbarrier.try_wait.parity.shared.b64 p{r}, [a], 1;",
            before=_BARRIERS,
            keep="selp.b32 r{r}, 1, 0, p{r}; " + _KEEP,
        ),
        *_on_barriers(),
        *_circumstances(),
        *_cluster(),
    )
}


def ptx() -> str:
    head = f".version 8.6\n.target {ARCH}\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n"
    return (
        head + "".join(one.ptx for one in KERNELS.values()) + "".join(_product(one) for one in tensor.PRODUCTS.values())
    )


# --- wgmma ----------------------------------------------------------------------------------------


def _product(product: tensor.Product) -> str:
    """A sequence of products into the same sums, 4 x UNROLL before each wait."""
    count = product.n // 2
    one = next(line for line in product.ptx.splitlines() if "mma_async" in line)
    zeros = " ".join(f"mov.f32 f{i}, 0f00000000;" for i in range(count))
    keep = " ".join(f"add.f32 total, total, f{i};" for i in range(count))
    return f"""
.visible .entry timed_{product.name}(.param .u64 p_row, .param .u64 p_source, .param .u64 p_out, .param .u32 p_times, .param .u32 p_rank) .maxntid {tensor.THREADS}, 1, 1 {{
 .reg .pred yes, more; .reg .b32 base, r<4>, i, times; .reg .f32 f<{count}>, total; .reg .b64 row, out, da, db, start, t0, t1;
 ld.param.u64 row, [p_row]; ld.param.u64 out, [p_out]; ld.param.u32 times, [p_times]; mov.u32 base, memory; ld.global.u64 da, [row]; ld.global.u64 db, [row+8];
 shr.u32 base, base, 4; cvt.u64.u32 start, base; add.u64 da, da, start; add.u64 db, db, start; mov.u32 i, 0;
 mov.b32 r0, 0; mov.b32 r1, 0; mov.b32 r2, 0; mov.b32 r3, 0; mov.f32 total, 0f00000000; setp.eq.u32 yes, r0, 0;
 {zeros}
 bar.sync 0;
 mov.u64 t0, %clock64;
again:
 wgmma.fence.sync.aligned;
{chr(10).join([one] * 4 * UNROLL)}
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 0;
 add.u32 i, i, 1; setp.lt.u32 more, i, times; @more bra again;
 mov.u64 t1, %clock64; sub.u64 t1, t1, t0; st.global.u64 [out], t1;
 {keep}
 st.global.f32 [out+8], total;
 ret;
}}
"""


# --- launches ---------------------------------------------------------------------------------------


def launches() -> Iterator[dict[str, Any]]:
    yield from _copies()
    for one in tensor.products():
        yield {**one, "kernel": f"timed_{one['kernel']}", "pattern": f"swizzle {one['swizzle']}"}
    yield from _accesses()


def _one(
    kernel: str,
    pattern: str,
    addresses: list[int],
    active: int = EVERYONE,
    values: list[int] | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {
        "kernel": kernel,
        "pattern": pattern,
        "addresses": addresses,
        "active": active,
        "values": values or [0] * LANES,
        **more,
    }


def _copies() -> Iterator[dict[str, Any]]:
    random = Random(SEED)
    straight = [16 * lane for lane in range(LANES)]
    strides = {f"stride{s}": [s * lane for lane in range(LANES)] for s in (16, 32, 48, 64, 80, 96, 128, 144, 256, 512)}
    for name, row in strides.items():
        for kernel in ("ca", "cg", "cg_l2_128"):
            yield _one(kernel, name, row)
        for one in _circumstances():
            for blocks in (1, BLOCKS):
                yield _one(one.name, name, row, blocks=blocks)
    for k in range(1, LANES + 1):  # k pairs in class 0, and k spread over as many groups as needed
        for spread in (False, True):
            lines = random.sample(range(0, WINDOW // LINE, 4), k)
            order = [lane % 4 * 8 + lane // 4 for lane in range(LANES)] if spread else range(LANES)
            to = list(straight)
            for i, lane in enumerate(order):
                to[lane] = lines[min(i, k - 1)] * LINE + lane % 8 * 16
            yield _one("cg", f"lines of one class, {'spread' if spread else 'in order'}", to)
    for name, units in destinations(random, 16, 40):
        units = [u % (WINDOW // 16) for u in units]
        yield _one("cg", name, [16 * u for u in units])
    for name, row in strides.items():
        for zeros in (0xFFFF_FFFF, 0xFFFF, 0x5555_5555, 0xFF, 0x0101_0101, 1):
            yield _one("cg", f"{name}, the others off", row, EVERYONE & ~zeros)
            yield _one(
                "cg_size", f"{name}, zeros", row, values=[0 if zeros >> lane & 1 else 16 for lane in range(LANES)]
            )
            yield _one("cg_ignore", f"{name}, ignored", row, values=[zeros >> lane & 1 for lane in range(LANES)])
            yield _one(
                "cg_size", f"{name}, halves", row, values=[8 if zeros >> lane & 1 else 16 for lane in range(LANES)]
            )


def _accesses() -> Iterator[dict[str, Any]]:
    """Words, then vectors, with strides and on one word; accesses to the other block's memory and its own, barriers."""
    for name, one in KERNELS.items():
        if one.warps > 1:
            continue
        width = 16 if "v4" in name else 8 if any(word in name for word in ("v2", "arrive", "wait", "barrier")) else 4
        words = [width * s for s in (1, 2, 4, 8, 16, 32)] + [132]
        rows = {f"stride{step}": [step * lane for lane in range(LANES)] for step in words if step % width == 0}
        rows |= {
            "same": [0] * LANES,
            "pairs": [lane // 2 * width for lane in range(LANES)],
            "quarters": [lane % 8 * width for lane in range(LANES)],
            "reversed": [(LANES - 1 - lane) * width for lane in range(LANES)],
        }
        for pattern, row in rows.items():
            for active in (EVERYONE, 0xFFFF, 1) if pattern == f"stride{width}" else (EVERYONE,):
                for rank in RANKS if one.cluster else ("own",):
                    yield _one(name, pattern, [1024 + a for a in row], active, whose=rank)


def build(folder: Path) -> None:
    from ptxaudit.frontend.compile.ptxas import assemble

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "timing.cubin").write_bytes(assemble(ptx(), ARCH).cubin)


# --- on the GPU -------------------------------------------------------------------------------------


class Runner:
    """Launches kernels on the first GPU."""

    def __init__(self, folder: Path) -> None:
        from bench.profiled import Gpu

        self.gpu = gpu = Gpu()
        self.functions = gpu.kernels(folder / "timing.cubin")
        limit = gpu.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        for function in self.functions.values():
            gpu.call(gpu.driver.cuFuncSetAttribute, function, limit, SHARED)
        self.source, self.out, self.row = gpu.allocate(), gpu.allocate(), gpu.allocate()

    def launch(self, one: dict[str, Any], trips: int) -> int:
        """The cycles between the two readings of the clock."""
        import numpy

        gpu = self.gpu
        if one["kernel"] in KERNELS:
            kernel = KERNELS[one["kernel"]]
            lanes = [one["addresses"], one["values"], [one["active"] >> lane & 1 for lane in range(LANES)], [0] * LANES]
            gpu.write(self.row, numpy.array(lanes, numpy.uint32))
            threads, blocks = LANES * kernel.warps, 2 if kernel.cluster else one.get("blocks", 1)
        else:
            start = one.get("start", 0)
            gpu.write(
                self.row,
                numpy.array(
                    [
                        tensor.descriptor(place + start, one["leading"], one["stride"], one["swizzle"])
                        for place in (0, tensor.B_START)
                    ],
                    numpy.uint64,
                ),
            )
            threads, blocks = tensor.THREADS, 1
        raw = (ctypes.c_uint64 * 5)(self.row, self.source, self.out, trips, RANKS[one.get("whose", "own")])
        places = (ctypes.c_void_p * 5)(*(ctypes.addressof(raw) + 8 * i for i in range(5)))
        gpu.call(
            gpu.driver.cuLaunchKernel,
            self.functions[one["kernel"]],
            blocks,
            1,
            1,
            threads,
            1,
            1,
            SHARED,
            0,
            ctypes.addressof(places),
            0,
        )
        gpu.call(gpu.driver.cuCtxSynchronize)
        return int(gpu.read(self.out, "uint64", 1)[0])


def repeated(one: dict[str, Any]) -> int:
    """How often a trip of the kernel's loop issues the instruction."""
    return 4 * UNROLL if one["kernel"] not in KERNELS else UNROLL * KERNELS[one["kernel"]].warps


def chosen(only: str) -> list[dict[str, Any]]:
    """The launches of these kernels (globs separated by commas), in order."""
    return [one for one in launches() if any(fnmatchcase(one["kernel"], glob) for glob in only.split(","))]


def time_all(folder: Path, only: str = "*") -> list[dict[str, Any]]:
    """Times every launch: cycles of one more instruction of each."""
    runner, timed = Runner(folder), []
    for one in chosen(only):
        try:
            few, many = (min(runner.launch(one, trips) for _ in range(REPEATS)) for trips in TRIPS)
        except RuntimeError as error:  # no launch can succeed after it
            print(f"{one['kernel']}, {one['pattern']}: {error}; the launches from there on are left out")
            break
        timed.append({**one, "cycles": round((many - few) / (TRIPS[1] - TRIPS[0]) / repeated(one), 2)})
    return timed


def launch_all(folder: Path, only: str = "*") -> None:
    """Launches each kernel with one trip, for the profiler to count."""
    runner = Runner(folder)
    for one in chosen(only):
        runner.launch(one, 1)
    print(f"{len(chosen(only))} launches")
