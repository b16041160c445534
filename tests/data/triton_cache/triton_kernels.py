"""The Triton kernels whose cache entries lie beside this file: `python triton_kernels.py` compiles them."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def transpose(x, y, n, scale, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + i[:, None] * n + j[None, :])
    tl.store(y + j[:, None] * n + i[None, :], tl.trans(tile) * scale)


@triton.jit
def both_ways(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    place = x + tl.program_id(0) * n * n + i[:, None] * n + i[None, :]
    tile = tl.load(place)
    tl.store(y + i[:, None] * n + i[None, :], tile + tl.trans(tile))


if __name__ == "__main__":
    target = GPUTarget("cuda", 90, 32)
    one = {"x": "*fp32", "y": "*fp32", "n": "i32", "scale": "fp32", "B": "constexpr"}
    triton.compile(ASTSource(transpose, one, {"B": 32}), target=target, options={"num_warps": 4})
    two = {"x": "*fp32", "y": "*fp32", "n": "i32", "B": "constexpr"}
    triton.compile(ASTSource(both_ways, two, {"B": 64}), target=target, options={"num_warps": 8})
