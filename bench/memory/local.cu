#include "accesses.cuh"

// Arrays in local memory.
KERNEL(array_uniform) {
    float a[32];
    for (int k = 0; k < 32; k++) a[k] = input<float>(in)[TID + k];
    for (int k = 0; k < n; k++) a[(k * s) & 31] += a[(k + s) & 31];
    output<float>(out)[TID] = a[s & 31];
}
KERNEL(array_by_lane) {
    float a[32];
    for (int k = 0; k < 32; k++) a[k] = input<float>(in)[TID + k];
    for (int k = 0; k < n; k++) a[(k + threadIdx.x * s) & 31] += k;
    output<float>(out)[TID] = a[(threadIdx.x * s + n) & 31];
}
KERNEL(array_by_data) {
    int a[32];
    for (int k = 0; k < 32; k++) a[k] = input<int>(in)[TID + k];
    for (int k = 0; k < n; k++) a[idx[TID + k] & 31] += k;
    output<int>(out)[TID] = a[(idx[TID] + n) & 31];
}
KERNEL(array_of_bytes) {
    unsigned char a[64];
    for (int k = 0; k < 64; k++) a[k] = in[TID + k];
    for (int k = 0; k < n; k++) a[(k + threadIdx.x * s) & 63] += k;
    out[TID] = a[(threadIdx.x * s + n) & 63];
}
KERNEL(array_of_doubles) {
    double a[16];
    for (int k = 0; k < 16; k++) a[k] = input<double>(in)[TID + k];
    for (int k = 0; k < n; k++) a[(k + threadIdx.x * s) & 15] += k;
    output<double>(out)[TID] = a[(threadIdx.x * s + n) & 15];
}
KERNEL(array_of_vectors) {
    float4 a[16];
    for (int k = 0; k < 16; k++) a[k] = input<float4>(in)[TID + k];
    for (int k = 0; k < n; k++) a[(k + threadIdx.x * s) & 15].x += k;
    output<float4>(out)[TID] = a[(threadIdx.x * s + n) & 15];
}
KERNEL(array_guarded) {
    float a[32];
    for (int k = 0; k < 32; k++) a[k] = input<float>(in)[TID + k];
    if (threadIdx.x % 3) for (int k = 0; k < n; k++) a[(k + threadIdx.x * s) & 31] += k;
    output<float>(out)[TID] = a[(threadIdx.x * s + n) & 31];
}

// More registers than there are: spills.
template <int COUNT> __device__ void heavy(const char* in, char* out, int n) {
    float v[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) v[k] = input<float>(in)[TID + k * 32];
    for (int t = 0; t < n; t++) {
#pragma unroll
        for (int k = 0; k < COUNT; k++) v[k] = v[k] * v[(k * 7 + 1) % COUNT] + v[(k + 3) % COUNT];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < COUNT; k++) sum += v[k] * (k + 1);
    output<float>(out)[TID] = sum;
}
extern "C" __global__ void __launch_bounds__(1024, 2) spills(char* in, char* out, const int* idx, int n, int s) { heavy<48>(in, out, n); }
extern "C" __global__ void __launch_bounds__(1024, 1) spills_some(char* in, char* out, const int* idx, int n, int s) { heavy<96>(in, out, n); }
extern "C" __global__ void __launch_bounds__(1024, 2) spills_to_shared(char* in, char* out, const int* idx, int n, int s) {
    asm volatile(".pragma \"enable_smem_spilling\";");
    heavy<40>(in, out, n);
}

// Frames of calls.
__device__ __noinline__ int deep(int depth, int seed) { int here[4] = {seed, depth, seed ^ depth, 1}; return depth ? deep(depth - 1, seed + here[seed & 3]) + here[depth & 3] : seed; }
KERNEL(recursive) { output<int>(out)[TID] = deep(n & 3, (int)threadIdx.x * s); }
__device__ __noinline__ void fill(float* a, int count, float x) { for (int k = 0; k < count; k++) a[k] = x * k; }
KERNEL(by_pointer) { float a[16]; fill(a, n, (float)TID); output<float>(out)[TID] = a[s & 15]; }
