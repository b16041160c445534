// Every kind of atomic on shared memory, at known and at unknown locations.

#include <cuda_fp16.h>

template <typename T, int Spread>
__device__ void spread(T* out, T value) {
    __shared__ T cells[256];
    int t = threadIdx.x;
    cells[t] = 0;
    __syncthreads();
    atomicAdd(&cells[t * Spread % 256], value);
    __syncthreads();
    out[t] = cells[t];
}

extern "C" __global__ void add_int_1(int* out) { spread<int, 1>(out, 3); }
extern "C" __global__ void add_int_2(int* out, int value) { spread<int, 2>(out, value); }
extern "C" __global__ void add_float_1(float* out, float value) { spread<float, 1>(out, value); }
extern "C" __global__ void add_double_1(double* out, double value) { spread<double, 1>(out, value); }
extern "C" __global__ void add_long_1(unsigned long long* out, unsigned long long value) { spread<unsigned long long, 1>(out, value); }

extern "C" __global__ void operations(int* out, int n) {
    __shared__ int cells[64];
    __shared__ unsigned words[64];
    int t = threadIdx.x;
    if (t < 64) { cells[t] = 0; words[t] = 0; }
    __syncthreads();
    int i = t * n % 64;
    int old = atomicMax(&cells[i], t) + atomicMin(&cells[63 - i], -t) + atomicExch(&cells[i ^ 1], t);
    old += atomicOr(&words[i], 1u << t % 32) + atomicAnd(&words[i / 2], ~1u) + atomicXor(&words[i % 8], t) + atomicInc(&words[5], 9) + atomicDec(&words[t % 4], 7);
    old += atomicCAS(&cells[t / 2], t, t + 1);
    __syncthreads();
    out[t] = old + cells[t % 64] + words[t % 64];
}

extern "C" __global__ void count_bits(const unsigned* in, unsigned* out) {
    __shared__ unsigned total, ones[32];
    int t = threadIdx.x;
    if (t < 32) ones[t] = 0;
    if (t == 0) total = 0;
    __syncthreads();
    unsigned word = in[t];
    atomicAdd(&total, __popc(word));
    for (int bit = 0; bit < 32; bit++) if (word >> bit & 1) atomicAdd(&ones[bit], 1u);
    __syncthreads();
    if (t < 32) out[t] = ones[t] + total;
}

extern "C" __global__ void exchange_64(unsigned long long* out) {
    __shared__ unsigned long long slots[32];
    int t = threadIdx.x;
    if (t < 32) slots[t] = t;
    __syncthreads();
    unsigned long long old = atomicExch(&slots[t * 3 % 32], (unsigned long long)t);
    old += atomicCAS(&slots[t % 32], 5ull, 6ull);
    old += atomicMax(&slots[t / 2 % 32], (unsigned long long)t);
    __syncthreads();
    out[t] = old + slots[t % 32];
}

extern "C" __global__ void half_sums(__half2* out, float value) {
    __shared__ __half2 sums[32];
    int t = threadIdx.x;
    if (t < 32) sums[t] = __float2half2_rn(0);
    __syncthreads();
    atomicAdd(&sums[t % 32], __float2half2_rn(value));
    __syncthreads();
    if (t < 32) out[t] = sums[t];
}

// A lock that a warp leader takes.
extern "C" __global__ void locked(int* out) {
    __shared__ int lock, value;
    if (threadIdx.x == 0) { lock = 0; value = 0; }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) { }
        value += threadIdx.x;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = value;
}

// Union-find with path halving in shared memory.
extern "C" __global__ void components(const int2* edges, int* out, int count) {
    __shared__ int parent[256];
    int t = threadIdx.x;
    parent[t] = t;
    __syncthreads();
    for (int e = t; e < count; e += 256) {
        int a = edges[e].x & 255, b = edges[e].y & 255;
        while (true) {
            while (parent[a] != a) a = parent[a];
            while (parent[b] != b) b = parent[b];
            if (a == b) break;
            if (a < b) { int swap = a; a = b; b = swap; }
            if (atomicCAS(&parent[a], a, b) == a) break;
        }
    }
    __syncthreads();
    out[t] = parent[t];
}
