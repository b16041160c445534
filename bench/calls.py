"""Kernels that call through tables, virtual functions and themselves, by lane, warp and parameter, to be measured.

python -m bench.calls FOLDER                                         a plan, as bench.adversary makes them
python -m bench.adversary.gpu run FOLDER -o OUT                      on the GPU machine
python -m bench.adversary compare FOLDER OUT --telling told          the claims against the counters
python -m bench.adversary keep FOLDER OUT -o tests/data/calls_sm90 CUBIN…
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.adversary import builds, plan

BUILDS = ("nvrtc-O3", "nvcc-O3", "nvcc-G", "nvcc-rdc", "nvcc-O0")
LAUNCHES = (((2, 1, 1), (64, 1, 1), 1), ((1, 1, 1), (41, 1, 1), 2))  # grid, block, n

KERNEL = """
extern "C" __global__ void {name}(unsigned* out, unsigned n, int m) {{
    __shared__ int s[1024]; int t = threadIdx.x;
    for (int i = t; i < 1024; i += blockDim.x) s[i] = i * 7 & 255; __syncthreads();
    {body}
    out[blockIdx.x * blockDim.x + t & 4095] = s[t * 2 & 1023];
}}
"""
TYPE = """
typedef int (*F)(int*, int);
"""
RETURNING = """
__device__ __noinline__ int f0(int* s, int t) { return s[t * 2 & 1023]; }
__device__ __noinline__ int f1(int* s, int t) { s[t * 4 & 1023] = t; return s[t & 31] & 3; }
"""
ENDING = """
__device__ __noinline__ int f2(int* s, int t) { if (t & 4) asm volatile("exit;"); return s[t * 3 & 1023]; }
"""
PARTING = """
__device__ __noinline__ int f3(int* s, int t) { if (t & 1) s[t * 8 & 1023] = 1; else s[t] += 2;
    return s[t * 2 & 1023]; }
"""
VIRTUAL = """
struct A { __device__ virtual int f(int* s, int t) { return s[t * 2]; } int x; };
struct B : A { __device__ int f(int* s, int t) override { s[t * 4 & 1023] = x; return 3; } };
__device__ __noinline__ int use(A* a, int* s, int t) { int v = a->f(s, t); s[t & 511] += v; return v; }
"""
FACTORIAL = """
__device__ __noinline__ int fact(int* s, int n, int t) { s[t * 2 & 1023] += n; if (n <= 1) return 1;
    int r = n * fact(s, n - 1, t); s[t] = r; return r; }
"""
TREE = """
__device__ __noinline__ int tree(int* s, int lo, int hi, int t) { if (hi - lo < 2) { s[lo + 32 * t & 1023] = t;
    return lo; } int m = lo + hi >> 1; int a = tree(s, lo, m, t); s[m * 2 + t & 1023] += a;
    if (t & 1) return a + tree(s, m, hi, t); return a; }
"""
EACH_OTHER = """
struct N; typedef int (*G)(int*, int, int);
__device__ int g0(int* s, int n, int t); __device__ int g1(int* s, int n, int t);
static __constant__ G both[2] = {g0, g1};
__device__ __noinline__ int g0(int* s, int n, int t) { s[t * 2 & 1023] = n; if (n == 0) return 1;
    return both[(n ^ t) & 1](s, n - 1, t) + 1; }
__device__ __noinline__ int g1(int* s, int n, int t) { int v = s[t * 4 & 1023]; if (n == 0) return 2;
    v = both[n & 1](s, n - 1, t); s[t & 511] = v; return v; }
"""

# name -> (the text before the kernel, the body of the kernel)
KERNELS: dict[int, tuple[str, str]] = {
    900: (
        TYPE + RETURNING + "static __device__ F table[2] = {f0, f1};",
        "int v = table[t & 1](s, t); s[t * 2 + v & 1023] = v;",
    ),
    902: (
        TYPE + RETURNING + ENDING + "static __constant__ F table[3] = {f0, f1, f2};",
        "int v = table[t % 3](s, t); s[t * 2 & 1023] = v; v = s[t * 5 & 1023]; s[t] = v;",
    ),
    904: (
        TYPE + RETURNING + ENDING + PARTING + "static __device__ F table[4] = {f0, f1, f2, f3};",
        "int v = table[t >> 3 & 3](s, t); s[t * 2 & 1023] = v; __syncwarp(__activemask()); s[t] = v;",
    ),
    906: (
        VIRTUAL,
        "A a; B b; a.x = 1; b.x = 2; A* p = (t & 3) == 1 ? &a : (A*)&b; int v = use(p, s, t); s[t * 2 & 1023] = v;",
    ),
    908: (FACTORIAL, "int v = fact(s, (t & 3) + 1, t); s[t * 3 & 1023] = v & 255;"),
    910: (TREE, "int v = tree(s, 0, 8, t); s[t * 2 + v & 1023] = v;"),
    912: (
        TYPE + RETURNING + PARTING + "static __device__ F table[3] = {f0, f1, f3};",
        "int v = 0; for (int i = 0; i < 4; i++) { v += table[(t + i) % 3](s, t + i & 511); s[t + i & 1023] = v; }",
    ),
    914: (EACH_OTHER, "int v = both[t & 1](s, 3, t); s[t * 2 + v & 1023] = v;"),
    916: (
        TYPE + RETURNING + PARTING + "static __device__ F table[3] = {f0, f1, f3};",
        "int v = table[n % 3](s, t); s[t * 2 & 1023] = v; s[t] = v;",
    ),
    918: (
        TYPE + RETURNING + ENDING + "static __device__ F table[3] = {f0, f1, f2};",
        "__shared__ F mine[2]; if (t < 2) mine[t] = table[t + 1]; __syncthreads(); "
        "int v = mine[t >> 1 & 1](s, t); s[t * 2 & 1023] = v; __syncthreads(); s[t] = v;",
    ),
}


def write(folder: Path) -> None:
    """Compiles every kernel in every build."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, Any]] = []
    with tarfile.open(folder / plan.CUBINS, "w:xz") as cubins, tarfile.open(folder / plan.PTX, "w:xz") as texts:
        for seed, (before, body) in KERNELS.items():
            name = f"k{seed}"
            text = before + KERNEL.format(name=name, body=body)
            for build in BUILDS:
                built = builds.compile_build(
                    SimpleNamespace(seed=seed, name=name, source=lambda text=text: text), build
                )
                cubin = f"{name}.{build}.cubin"
                plan.add(cubins, cubin, built.cubin)
                plan.add(texts, cubin.replace(".cubin", ".ptx"), built.ptx.encode())
                entries += [_entry(seed, name, cubin, built, *launch) for launch in LAUNCHES]
    plan.store(folder, entries)


def _entry(seed: int, name: str, cubin: str, built: builds.Built, grid: tuple, block: tuple, n: int) -> dict[str, Any]:
    number = lambda name, value: {"name": name, "kind": "number", "size": 4, "value": value}
    return {
        "seed": seed,
        "build": built.build,
        "features": ["calls"],
        "cubin": cubin,
        "kernel": name,
        "grid": list(grid),
        "block": list(block),
        "cluster": [0, 0, 0],
        "dynamic_shared": 0,
        "symbols": {},
        "compiler": built.compiler,
        "arch": built.arch,
        "parameters": [{"name": "out", "kind": "buffer", "size": 8, "value": "out"}, number("n", n), number("m", 1)],
        "buffers": {"out": {"type": "uint32", "count": 4096, "step": 1, "shift": 31, "modulo": 2147483648, "low": 0}},
    }


if __name__ == "__main__":
    write(Path(sys.argv[1]))
