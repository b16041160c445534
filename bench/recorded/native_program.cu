// A program of CUDA C++: what passes through the driver is recorded (bench/recorded/measure.py).
//
//     nvcc -lineinfo -o native_program native_program.cu && ./native_program        on a GPU

#include <cstdio>
#include <vector>

template <typename T, int Pitch> __global__ void transpose(const T* in, T* out, int n) {
    __shared__ T tile[32][Pitch];
    for (int part = threadIdx.y; part < 32; part += blockDim.y)
        tile[part][threadIdx.x] = in[(blockIdx.y * 32 + part) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int part = threadIdx.y; part < 32; part += blockDim.y)
        out[(blockIdx.x * 32 + part) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][part];
}

__global__ void histogram(const unsigned char* in, unsigned* out, int n) {
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}

__global__ void reversed(const double* in, double* out, int stride) {
    extern __shared__ double row[];
    row[threadIdx.x * stride] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = row[(blockDim.x - 1 - threadIdx.x) * stride];
}

int main() {
    float* single;
    double* doubles;
    unsigned char* bytes;
    unsigned* counts;
    cudaMalloc(&single, 2 * 128 * 128 * sizeof(double));
    cudaMalloc(&doubles, 2048 * sizeof(double));
    cudaMalloc(&bytes, 8192);
    cudaMalloc(&counts, 256 * sizeof(unsigned));
    cudaMemset(single, 0, 2 * 128 * 128 * sizeof(double));
    cudaMemset(doubles, 0, 2048 * sizeof(double));
    cudaMemset(counts, 0, 256 * sizeof(unsigned));
    std::vector<unsigned char> data(8192);
    for (int i = 0; i < 8192; ++i) data[i] = i * 7 % 251;
    cudaMemcpy(bytes, data.data(), data.size(), cudaMemcpyHostToDevice);

    transpose<float, 32><<<dim3(4, 4), dim3(32, 8)>>>(single, single + 128 * 128, 128);
    transpose<float, 33><<<dim3(4, 4), dim3(32, 8)>>>(single, single + 128 * 128, 128);
    transpose<double, 33><<<dim3(2, 2), dim3(32, 16)>>>((double*)single, (double*)single + 64 * 64, 64);
    histogram<<<4, 256>>>(bytes, counts, 8192);
    for (int stride = 1; stride <= 3; ++stride)
        reversed<<<2 + stride, 64, 64 * stride * sizeof(double)>>>(doubles, doubles + 1024, stride);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
