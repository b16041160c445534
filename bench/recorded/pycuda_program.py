"""A PyCUDA program, recorded while a profiler counts (bench/recorded/measure.py).

python pycuda_program.py        on a GPU, with pycuda and nvcc
"""

import numpy
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = r"""
struct cell { float weight; int at; };

__global__ void swizzled(const float4* in, float4* out, int mask) {
    __shared__ float4 tile[256];
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    tile[row * 8 + (column ^ (row & mask))] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    int other = threadIdx.x / 32, lane = threadIdx.x % 32;
    out[blockIdx.x * 256 + threadIdx.x] = tile[lane * 8 + (other ^ (lane & mask))];
}

__global__ void gathered(const int* where, const cell* in, cell* out) {
    extern __shared__ cell cells[];
    cells[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = cells[where[threadIdx.x]];
}
"""


def main():
    module = SourceModule(SOURCE, options=["-lineinfo"])
    swizzled, gathered = module.get_function("swizzled"), module.get_function("gathered")
    data = gpuarray.to_gpu(numpy.arange(8192, dtype="float32"))
    out = gpuarray.empty(8192, "float32")
    for blocks, mask in ((2, 0), (3, 1), (4, 7)):
        swizzled(data.gpudata, out.gpudata, numpy.int32(mask), block=(256, 1, 1), grid=(blocks, 1))
    for threads, times in ((64, 5), (128, 3)):
        where = gpuarray.to_gpu((numpy.arange(threads) * times % threads).astype("int32"))
        gathered(
            where.gpudata, data.gpudata, out.gpudata, block=(threads, 1, 1), grid=(threads // 16, 1), shared=8 * threads
        )
    pycuda.autoinit.context.synchronize()


if __name__ == "__main__":
    main()
