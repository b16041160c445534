"""A Numba-CUDA program, recorded while a profiler counts (bench/recorded/measure.py).

python numba_program.py        on a GPU, with numba-cuda
"""

import numpy
from numba import cuda, float32, float64, int32

TILE, PITCH = 32, 33


@cuda.jit(lineinfo=True)
def transpose(x, y):
    tile = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    for part in range(0, TILE, 8):
        tile[row + part, column] = x[cuda.blockIdx.y * TILE + row + part, cuda.blockIdx.x * TILE + column]
    cuda.syncthreads()
    for part in range(0, TILE, 8):
        y[cuda.blockIdx.x * TILE + row + part, cuda.blockIdx.y * TILE + column] = tile[column, row + part]


@cuda.jit(lineinfo=True)
def padded(x, y):
    tile = cuda.shared.array((TILE, PITCH), float64)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    for part in range(0, TILE, 8):
        tile[row + part, column] = x[cuda.blockIdx.y * TILE + row + part, cuda.blockIdx.x * TILE + column]
    cuda.syncthreads()
    for part in range(0, TILE, 8):
        y[cuda.blockIdx.x * TILE + row + part, cuda.blockIdx.y * TILE + column] = tile[column, row + part]


@cuda.jit(lineinfo=True)
def summed(x, out):
    partial = cuda.shared.array(128, float32)
    lane = cuda.threadIdx.x
    total = float32(0)
    for at in range(cuda.blockIdx.x * 128 + lane, x.shape[0], cuda.gridDim.x * 128):
        total += x[at]
    partial[lane] = total
    cuda.syncthreads()
    step = 1
    while step < 128:
        if lane % (2 * step) == 0:
            partial[lane] += partial[lane + step]
        cuda.syncthreads()
        step *= 2
    if lane == 0:
        out[cuda.blockIdx.x] = partial[0]


@cuda.jit(lineinfo=True)
def counted(keys, out):
    bins = cuda.shared.array(64, int32)
    lane = cuda.threadIdx.x
    if lane < 64:
        bins[lane] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, keys[cuda.blockIdx.x * 128 + lane] % 64, 1)
    cuda.syncthreads()
    if lane < 64:
        cuda.atomic.add(out, lane, bins[lane])


@cuda.jit(lineinfo=True)
def strided(x, y, by):
    row = cuda.shared.array(0, float32)
    lane = cuda.threadIdx.x
    row[lane * by] = x[cuda.blockIdx.x * 64 + lane]
    cuda.syncthreads()
    y[cuda.blockIdx.x * 64 + lane] = row[(63 - lane) * by]


def main():
    random = numpy.random.default_rng(20)
    for kernel, kind in ((transpose, "float32"), (padded, "float64")):
        x = cuda.to_device(random.standard_normal((128, 96)).astype(kind))
        kernel[(3, 4), (32, 8)](x, cuda.to_device(numpy.zeros((96, 128), kind)))
    x = cuda.to_device(random.standard_normal(5000).astype("float32"))
    summed[6, 128](x, cuda.to_device(numpy.zeros(6, "float32")))
    keys = cuda.to_device((numpy.arange(1024) * 7 % 251).astype("int32"))
    counted[8, 128](keys, cuda.to_device(numpy.zeros(64, "int32")))
    for by in (1, 2, 3, 8):
        strided[4 + by, 64, 0, 64 * by * 4](x, cuda.to_device(numpy.zeros(64 * 16, "float32")), int32(by))
    cuda.synchronize()


if __name__ == "__main__":
    main()
