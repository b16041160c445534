"""A typical Triton program, recorded while a profiler counts (bench/recorded/measure.py).

    python triton_program.py        on a GPU, with torch

A matrix product with three configurations for the autotuner, one without tensor cores, attention, a transpose, and
operations on rows. Each distinct launch happens a fixed number of times, in an order that does not depend on time.
"""

import numpy
import torch
import triton
import triton.language as tl


def tried_once(call, quantiles=None):
    """Replaces triton.testing.do_bench: calls each configuration once, and makes the first one the best."""
    call()
    tried_once.calls = getattr(tried_once, "calls", 0) + 1
    return [float(tried_once.calls)] * len(quantiles or [0.5])


@triton.autotune(
    configs=[
        triton.Config({"M": 64, "N": 64, "K": 32}, num_warps=4, num_stages=3),
        triton.Config({"M": 32, "N": 64, "K": 64}, num_warps=4, num_stages=2),
        triton.Config({"M": 16, "N": 32, "K": 32}, num_warps=2, num_stages=2),
    ],
    key=["n"],
    do_bench=tried_once,
)
@triton.jit
def product(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (at + inner)[None, :])
        right = tl.load(b + (at + inner)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def plain_product(a, b, c, n, k, M: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * M + tl.arange(0, M)
    inner = tl.arange(0, K)
    total = tl.zeros((M, M), tl.float32)
    for at in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (at + inner)[None, :])
        right = tl.load(b + (at + inner)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def attention(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    inner = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + inner[None, :])
    largest = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for at in range(0, length, N):
        places = at + tl.arange(0, N)
        key = tl.load(k + places[:, None] * D + inner[None, :])
        score = tl.dot(query, tl.trans(key)) * scale
        now = tl.maximum(largest, tl.max(score, 1))
        part = tl.exp(score - now[:, None])
        fade = tl.exp(largest - now)
        weight = weight * fade + tl.sum(part, 1)
        value = tl.load(v + places[:, None] * D + inner[None, :])
        total = tl.dot(part.to(tl.float16), value, total * fade[:, None])
        largest = now
    tl.store(out + rows[:, None] * D + inner[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def transpose(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + i[:, None] * n + j[None, :])
    tl.store(y + j[:, None] * n + i[None, :], tl.trans(tile))


@triton.jit
def softmax(x, y, columns, B: tl.constexpr):
    places = tl.arange(0, B)
    there = places < columns
    row = tl.load(x + tl.program_id(0) * columns + places, mask=there, other=float("-inf"))
    part = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * columns + places, part / tl.sum(part, 0), mask=there)


@triton.jit
def running_sum(x, y, B: tl.constexpr):
    places = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + places, tl.cumsum(tl.load(x + places), 0))


@triton.jit
def column_sum(x, y, n, M: tl.constexpr, N: tl.constexpr):
    places = tl.arange(0, M)[:, None] * n + tl.program_id(0) * N + tl.arange(0, N)[None, :]
    tl.store(y + tl.program_id(0) * N + tl.arange(0, N), tl.sum(tl.load(x + places), 0))


@triton.jit
def count(x, out, B: tl.constexpr, BINS: tl.constexpr):
    values = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    tl.atomic_add(out + tl.arange(0, BINS), tl.histogram(values, BINS))


def on_gpu(array):
    return torch.from_numpy(array).cuda()


def main():
    random = numpy.random.default_rng(20)
    half = lambda *shape: on_gpu(random.standard_normal(shape).astype("float16"))
    single = lambda *shape: on_gpu(random.standard_normal(shape).astype("float32"))
    n, k = 256, 128
    a, b, c = half(n, k), half(k, n), half(n, n)
    for _ in range(2):
        product[lambda meta: (n // meta["M"], n // meta["N"])](a, b, c, n, k)
    x, y, z = single(n, k), single(k, n), single(n, n)
    plain_product[n // 32, n // 32](x, y, z, n, k, 32, 16, num_warps=4)
    query, key, value, out = (half(128, 64) for _ in range(4))
    attention[(2,)](query, key, value, out, 128, 0.125, 64, 32, 64, num_warps=4)
    transpose[4, 4](z, single(n, n), n, 64, num_warps=4)
    transpose[8, 8](a, half(n, n), 128, 16, num_warps=1)
    transpose[2, 2](on_gpu(random.integers(0, 100, (256, 256), "uint8")), half(n, n), n, 128, num_warps=8)
    for columns in (1000, 1024):
        softmax[(8,)](single(8, columns), single(8, columns), columns, 1024, num_warps=4)
    running_sum[(4,)](single(4096), single(4096), 1024, num_warps=4)
    column_sum[(4,)](single(64, 128), single(128), 128, 64, 32, num_warps=4)
    count[(2,)](
        on_gpu((numpy.arange(2048) % 61).astype("int32")), on_gpu(numpy.zeros(64, "int32")), 1024, 64, num_warps=4
    )
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
