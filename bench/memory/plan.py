"""The launches: kernels of this folder, each with blocks, numbers, addresses of its memory, and indices.

    Planned("loads", "strided_u32", (2, 1), (256, 1), n=0, s=4, at=(0, 16), indices="")

`python -m bench.memory build FOLDER` compiles the kernels and writes the plan beside them; measuring does not need
this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

SEED = 19
THREADS = 256


@dataclass(frozen=True)
class Planned:
    """One launch.

    at: byte offsets in an allocation to which `in` and `out` point; indices: a name in `indices_of`.
    """

    source: str
    kernel: str
    grid: tuple[int, int] = (2, 1)
    block: tuple[int, int] = (THREADS, 1)
    n: int = 0
    s: int = 0
    at: tuple[int, int] = (0, 0)
    indices: str = ""


def indices_of(name: str) -> np.ndarray:
    """(1024,) int32, which a kernel reads as `idx`."""
    i = np.arange(1024)
    random = np.random.default_rng(SEED)
    found = {
        "": i * 0,
        "identity": i,
        "reversed": 511 - i,
        "pairs": i // 2,
        "one": i * 0 + 5,
        "sevens": i * 7 % 1024,
        "random": random.integers(0, 1024, 1024),
        "permuted": random.permutation(1024),
        "near": i + random.integers(0, 4, 1024),
        "some": np.where(random.random(1024) < 0.4, -1, random.integers(0, 1024, 1024)),
        "few": random.integers(0, 6, 1024),
        "lines": random.permutation(32)[i // 32 % 32] * 32 + i % 32,
    }
    return found[name].astype(np.int32)


def planned() -> list[Planned]:
    """Every launch, by source and kernel."""
    return [*_copies(), *_shapes(), *_told(), *_operators(), *_atomics(), *_asynchronous(), *_local()]


def _copies() -> Iterator[Planned]:
    for kernel, width in (
        ("copy_u8", 1),
        ("copy_u16", 2),
        ("copy_u32", 4),
        ("copy_u64", 8),
        ("copy_v2", 8),
        ("copy_v4", 16),
        ("copy_d2", 16),
    ):
        for at in ((0, 0), (width, 0), (16, 32), (96, 16 + width)):
            yield Planned("loads", kernel, at=(at[0] // width * width, at[1] // width * width))
    for kernel, steps in (
        ("strided_u8", (2, 5, 33)),
        ("strided_u16", (3, 16)),
        ("strided_u32", (2, 3, 7, 8, 32, 33)),
        ("strided_u64", (2, 3, 17)),
        ("strided_v4", (2, 3, 9)),
    ):
        yield from (Planned("loads", kernel, s=s) for s in steps)
    yield Planned("loads", "strided_u32", s=2, at=(4, 20))
    yield Planned("loads", "strided_u32", s=0)
    yield Planned("loads", "strided_v4", s=0)


def _shapes() -> Iterator[Planned]:
    """Blocks with partial warps, guards, loops, tiles."""
    for block in (1, 7, 33, 48, 100):
        yield Planned("loads", "copy_u32", (3, 1), (block, 1))
        yield Planned("loads", "copy_v4", (3, 1), (block, 1))
    yield from (Planned("loads", "guarded", n=n) for n in (1, 5, 300, 511))
    yield from (Planned("loads", "guarded_v4", n=n) for n in (3, 259))
    yield from (
        Planned("loads", kernel, s=3, n=100)
        for kernel in ("even_lanes", "first_half", "one_lane", "everyone_reads_one", "pairs_read_one", "warps_read_one")
    )
    yield from (Planned("loads", "backwards", n=n) for n in (512, 515))
    yield from (Planned("loads", "offset_by", n=n, s=s) for n, s in ((1, 3), (9, 8), (31, 24)))
    yield from (Planned("loads", kernel) for kernel in ("window", "triples", "one_of_five", "all_of_five", "pixels"))
    yield Planned("loads", "triples", at=(4, 12))
    yield Planned("loads", "pixels", at=(1, 2))
    yield from (
        Planned("loads", kernel, (2, 2), (32, 8), n=n)
        for kernel in ("transposed_write", "transposed_tile")
        for n in (64, 65, 72)
    )
    yield from (Planned("loads", "stencil", (2, 3), (32, 8), n=n, s=s) for n, s in ((64, 24), (61, 20)))
    yield from (Planned("loads", "product", (2, 2), block, n=64, s=16) for block in ((16, 16), (32, 8), (8, 8)))
    yield from (Planned("loads", "grid_stride", n=n) for n in (2048, 3001))
    yield from (Planned("loads", "grid_stride_v4", n=n) for n in (1500,))
    yield from (
        Planned("loads", kernel, n=n) for kernel in ("rows_of_threads", "rows_of_threads_v4") for n in (4, 12, 32)
    )
    yield from (Planned("loads", "swizzled", s=s) for s in (1, 5, 40))


def _told() -> Iterator[Planned]:
    for kernel in ("gather_u8", "gather_u16", "gather_u32", "gather_u64", "gather_v4"):
        yield from (Planned("loads", kernel, indices=name) for name in ("random", "sevens"))
    yield from (
        Planned("loads", "gather_u32", indices=name)
        for name in ("identity", "reversed", "pairs", "one", "permuted", "near", "lines")
    )
    yield from (
        Planned("loads", kernel, indices=name)
        for kernel in ("scatter_u32", "scatter_v4")
        for name in ("permuted", "reversed", "few")
    )
    yield Planned("loads", "gather_if", indices="some")
    yield Planned("loads", "gather_u32", (3, 1), (45, 1), indices="random", at=(4, 4))


def _operators() -> Iterator[Planned]:
    for kernel in (
        "load_ca",
        "load_cg",
        "load_cs",
        "load_lu",
        "load_cv",
        "load_nc",
        "load_nc_no_allocate",
        "load_prefetch",
        "load_volatile",
        "load_relaxed",
        "load_acquire",
        "load_evict_first",
        "load_nc_v4",
        "store_wb",
        "store_cg",
        "store_cs",
        "store_wt",
        "store_volatile",
        "store_release",
        "store_u8",
    ):
        yield from (Planned("loads", kernel, s=s, n=7) for s in (1, 3))
    yield from (Planned("loads", kernel, (1, 1), s=s, n=3) for kernel in ("generic", "generic_atomic") for s in (0, 1))
    yield from (Planned("loads", "variable", s=s) for s in (1, 5))


def _atomics() -> Iterator[Planned]:
    kernels = (
        "red_add_s32",
        "red_inc_s32",
        "red_max_s32",
        "red_and_u32",
        "red_add_u64",
        "red_max_u64",
        "red_add_f32",
        "red_add_f64",
        "red_add_f16x2",
        "red_add_v2",
        "red_add_v4",
    )
    for kernel in kernels:
        yield from (Planned("atomics", kernel, n=3, s=s) for s in (0, 1, 2, 9))
    for kernel in ("red_add_s32", "red_add_f32"):
        yield from (
            Planned("atomics", kernel, (1, 1), (block, 1), n=3, s=s)
            for block in (1, 2, 5, 32)
            for s in (0, 1, 3, 8, 32)
        )
        yield Planned("atomics", kernel, n=3, s=1, at=(0, 20))
    yield from (
        Planned("atomics", kernel, (1, 1), (32, 1), s=s)
        for kernel in ("red_mod", "red_mod_f32")
        for s in (2, 3, 4, 8, 16, 24, 31)
    )
    yield from (
        Planned("atomics", kernel, (1, 1), (64, 1), indices=name)
        for kernel in ("red_told", "red_told_f32", "atom_told")
        for name in ("random", "few", "pairs", "one", "sevens", "reversed")
    )
    yield from (Planned("atomics", "red_some", s=s) for s in (0, 1, 4))
    yield from (Planned("atomics", "red_guarded", n=n, s=1) for n in (7, 300))
    yield Planned("atomics", "red_transposed", (2, 1), (8, 32), n=33, s=8)
    for kernel in (
        "atom_add_s32",
        "atom_exch_s32",
        "atom_cas_s32",
        "atom_cas_u64",
        "atom_add_f32",
        "atom_add_f64",
        "atom_add_u64",
    ):
        yield from (Planned("atomics", kernel, n=3, s=s) for s in (0, 1, 5))


def _asynchronous() -> Iterator[Planned]:
    for kernel, width in (
        ("async_4", 4),
        ("async_8", 8),
        ("async_16", 16),
        ("async_cg", 16),
        ("async_cg_128", 16),
        ("async_part", 16),
        ("async_cg_part", 16),
    ):
        yield from (Planned("copies", kernel, s=s, n=width) for s in (1, 2, 5))
        yield Planned("copies", kernel, s=1, n=width, at=(width * 3, 0))
        yield Planned("copies", kernel, (1, 1), (40, 1), s=3, n=width)
    yield from (Planned("copies", kernel, s=1, n=n) for kernel in ("async_part", "async_cg_part") for n in (0, 4, 12))
    yield Planned("copies", "async_16", s=0)
    yield Planned("copies", "async_4", s=8)
    yield from (Planned("copies", "async_rows", n=4096, s=s) for s in (32, 36, 40, 64))
    yield from (Planned("copies", "async_some", s=s) for s in (1, 3))
    yield from (
        Planned("copies", kernel, n=lanes - (lanes >> 31 << 32), s=s)
        for kernel in ("guarded_ca", "guarded_cg", "guarded_cg_128")
        for lanes in (0xFFFFFFFF, 0xFFFF, 0x000000FF, 0x11111111, 0x77777777, 0x80000001, 0x10, 0)
        for s in (1, 2, 8)
    )


def _local() -> Iterator[Planned]:
    for kernel in (
        "array_uniform",
        "array_by_lane",
        "array_of_bytes",
        "array_of_doubles",
        "array_of_vectors",
        "array_guarded",
    ):
        yield from (Planned("local", kernel, n=n, s=s) for n, s in ((3, 1), (8, 5)))
    yield Planned("local", "array_by_lane", (1, 1), (45, 1), n=2, s=3)
    yield from (Planned("local", "array_by_data", n=4, indices=name) for name in ("one", "random"))
    yield from (
        Planned("local", kernel, (2, 1), (block, 1), n=3)
        for kernel in ("spills", "spills_some", "spills_to_shared")
        for block in (96, 1024)
    )
    yield from (Planned("local", "recursive", n=n, s=s) for n, s in ((2, 0), (3, 1)))
    yield Planned("local", "by_pointer", n=9, s=4)
