"""Small programs compiled to machine code for tests, each once per run."""

from __future__ import annotations

from functools import cache

from ptxaudit.frontend.artifacts.cubin import Cubin, read_cubin
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.sass.disassemble import Line, disassemble

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121")
# The facts that the lifter states about a function in machine code.
STATED = {
    "explicit_reconvergence": True,
    "absolute_shared": True,
    "unique_places": True,
}

PROLOGUE = """.version 9.0
.target {arch}
.address_size 64
"""


@cache
def ptx_of(source: str, arch: str = "sm_90", options: tuple[str, ...] = (), name: str | None = None) -> str:
    """The PTX of a source for an architecture, without its machine code, which takes half of NVRTC's time."""
    virtual = arch.replace("sm_", "compute_")
    return compile_source(source + "\n", virtual, options=options, name=name).ptx  # a line break marks it as text


@cache
def from_cuda(source: str, arch: str = "sm_90", options: tuple[str, ...] = (), front: tuple[str, ...] = ()) -> bytes:
    """options: of ptxas; front: of NVRTC."""
    return assemble(ptx_of(source, arch, front), arch, options).cubin


@cache
def from_ptx(body: str, arch: str = "sm_90", options: tuple[str, ...] = ()) -> bytes:
    """body: everything after `.address_size`."""
    return assemble(PROLOGUE.format(arch=arch) + body, arch, options).cubin


@cache
def lines_of(data: bytes) -> tuple[Cubin, dict[str, tuple[Line, ...]]]:
    cubin = read_cubin(data, "test.cubin")
    return cubin, disassemble([cubin])[0]


# A kernel with many features: calls, a jump table, division, double precision, shuffles, spills.
EVERYTHING = r"""
struct Big { int x[40]; };
__constant__ int table[4] = {3, 1, 4, 1};
__device__ int global_table[16];
__device__ __noinline__ int row_sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i * 3]; return s; }
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void everything(Big big, int *out, int n, long long wide, unsigned long long divisor, float f, double d)
{
  __shared__ int s[256];
  int t = threadIdx.x, v = out[t];
  s[t] = v;
  __syncthreads();
  switch (n & 7) { case 0: v += 3; break; case 1: v *= n; break; case 2: v = s[t ^ 5]; break; case 3: v -= t; break;
                   case 4: v = __popc(v); break; case 5: v ^= 77; break; default: v = fib(n); }
  if (t & n) for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  s[(wide / (long long)divisor) & 255] = row_sum(s, n) + table[t & 3] + big.x[n & 31];
  global_table[t & 15] = (int)(f / (float)n) + (int)(d * n) + __ballot_sync(~0u, v > 3);
  __syncthreads();
  atomicAdd(&s[n], 2);
  out[t] = s[t] + v + (int)(divisor % (unsigned long long)(n | 1));
}
"""
