"""A typical CuPy program, recorded while a profiler counts (bench/recorded/measure.py).

    python cupy_program.py        on a GPU, with cupy

Raw kernels, a module of templates, a JIT kernel and a fused one.
"""

import cupy
import cupyx.jit
import numpy

SOURCE = r"""
template <int Pitch> __device__ void turned(const float* in, float* out, int n) {
    __shared__ float tile[32][Pitch];
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T, int Pitch> __global__ void transpose(const T* in, T* out, int n) { turned<Pitch>(in, out, n); }

template <typename T> struct pair { T first, second; };

template <typename T> __global__ void exchanged(const pair<T>* in, pair<T>* out) {
    __shared__ pair<T> cells[256];
    cells[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    pair<T> other = cells[threadIdx.x ^ 1];
    out[blockIdx.x * 256 + threadIdx.x] = pair<T>{cells[(3 * threadIdx.x) & 255].second, other.first};
}
"""

HISTOGRAM = r"""
extern "C" __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}
"""

REVERSED = r"""
extern "C" __global__ void reversed(const double* in, double* out, int stride) {
    extern __shared__ double row[];
    row[threadIdx.x * stride] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = row[(blockDim.x - 1 - threadIdx.x) * stride];
}
"""


@cupyx.jit.rawkernel()
def rolled(x, y, by):
    row = cupyx.jit.shared_memory(cupy.float32, 128)
    lane = cupyx.jit.threadIdx.x
    row[(lane * 4) % 127] = x[cupyx.jit.blockIdx.x * 128 + lane]
    cupyx.jit.syncthreads()
    y[cupyx.jit.blockIdx.x * 128 + lane] = row[(lane + by) % 128]


@cupy.fuse()
def lengths(x, y):
    return cupy.sqrt(cupy.sum(x * x + y * y, axis=1))


def main():
    random = numpy.random.default_rng(20)
    single = cupy.asarray(random.standard_normal((256, 256)).astype("float32"))
    out = cupy.asarray(numpy.zeros((256, 256), "float32"))
    names = ["transpose<float, 32>", "transpose<float, 33>", "exchanged<float>", "exchanged<double>"]
    module = cupy.RawModule(code=SOURCE, options=("-std=c++17", "-lineinfo"), name_expressions=names)
    for name in names[:2]:
        module.get_function(name)((8, 8), (32, 32), (single, out, numpy.int32(256)))
    module.get_function(names[2])((4,), (256,), (single, out))
    module.get_function(names[3])((4,), (256,), (single, out))
    data = cupy.asarray((numpy.arange(8192) * 7 % 251).astype("uint8"))
    counts = cupy.asarray(numpy.zeros(256, "uint32"))
    histogram = cupy.RawKernel(HISTOGRAM, "histogram", options=("-lineinfo",))
    histogram((4,), (256,), (data, counts, numpy.int32(8192)))
    backwards = cupy.RawKernel(REVERSED, "reversed", options=("-lineinfo",))
    doubles = cupy.asarray(random.standard_normal(1024))
    for stride in (1, 2, 3):
        backwards(
            (2 + stride,), (64,), (doubles, cupy.asarray(numpy.zeros(1024)), numpy.int32(stride)), shared_mem=64 * 3 * 8
        )
    rolled((4,), (128,), (single.ravel(), out.ravel(), numpy.uint32(5)))
    lengths(single, out)
    cupy.cuda.runtime.deviceSynchronize()


if __name__ == "__main__":
    main()
