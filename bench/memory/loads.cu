#include "accesses.cuh"

// Copies of each width: one load and one store, consecutive.
#define COPY(name, T) KERNEL(name) { output<T>(out)[TID] = input<T>(in)[TID]; }
COPY(copy_u8, unsigned char)
COPY(copy_u16, unsigned short)
COPY(copy_u32, unsigned)
COPY(copy_u64, unsigned long long)
COPY(copy_v2, float2)
COPY(copy_v4, float4)
COPY(copy_d2, double2)

// Elements s apart.
#define STRIDED(name, T) KERNEL(name) { output<T>(out)[TID * s] = input<T>(in)[TID * s]; }
STRIDED(strided_u8, unsigned char)
STRIDED(strided_u16, unsigned short)
STRIDED(strided_u32, unsigned)
STRIDED(strided_u64, unsigned long long)
STRIDED(strided_v4, float4)

KERNEL(guarded) { int i = TID; if (i < n) output<float>(out)[i] = input<float>(in)[i] * 2; }
KERNEL(guarded_v4) { int i = TID; if (i < n) output<float4>(out)[i] = input<float4>(in)[i]; }
KERNEL(even_lanes) { int i = TID; if (!(threadIdx.x & 1)) output<float>(out)[i] = input<float>(in)[i]; }
KERNEL(first_half) { int i = TID; if ((threadIdx.x & 31) < 16) output<float4>(out)[i] = input<float4>(in)[i]; }
KERNEL(one_lane) { int i = TID; if ((threadIdx.x & 31) == s) output<double>(out)[i] = input<double>(in)[i]; }
KERNEL(everyone_reads_one) { output<float>(out)[TID] = input<float>(in)[n + blockIdx.x * s]; }
KERNEL(pairs_read_one) { output<float>(out)[TID] = input<float>(in)[TID / 2]; }
KERNEL(warps_read_one) { output<float4>(out)[TID] = input<float4>(in)[TID / 32 * s]; }
KERNEL(backwards) { output<float>(out)[n - 1 - (int)TID] = input<float>(in)[n - 1 - (int)TID]; }
KERNEL(offset_by) { output<float>(out)[TID + s] = input<float>(in)[TID + n]; }
KERNEL(window) { float sum = 0; for (int k = 0; k < 5; k++) sum += input<float>(in)[TID + k]; output<float>(out)[TID] = sum; }

struct Triple { float x, y, z; };
struct Five { float a, b, c, d, e; };
struct Bytes3 { unsigned char r, g, b; };
KERNEL(triples) { Triple t = input<Triple>(in)[TID]; output<Triple>(out)[TID] = {t.z, t.x, t.y}; }
KERNEL(one_of_five) { output<Five>(out)[TID].c = input<Five>(in)[TID].b; }
KERNEL(all_of_five) { Five f = input<Five>(in)[TID]; f.a += 1; output<Five>(out)[TID] = f; }
KERNEL(pixels) { Bytes3 p = input<Bytes3>(in)[TID]; output<Bytes3>(out)[TID] = {p.b, p.g, p.r}; }

KERNEL(transposed_write) {
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += blockDim.y) { int y = blockIdx.y * 32 + threadIdx.y + k; output<float>(out)[x * n + y] = input<float>(in)[y * n + x]; }
}
KERNEL(transposed_tile) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += blockDim.y) tile[threadIdx.y + k][threadIdx.x] = input<float>(in)[(blockIdx.y * 32 + threadIdx.y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += blockDim.y) output<float>(out)[(blockIdx.x * 32 + threadIdx.y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
KERNEL(stencil) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < s - 1) {
        const float* p = input<float>(in) + y * n + x;
        output<float>(out)[y * n + x] = p[0] + p[-1] + p[1] + p[-n] + p[n];
    }
}
KERNEL(product) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < s; k++) sum += input<float>(in)[row * s + k] * input<float>(in)[(k + n) * n + column];
    output<float>(out)[row * n + column] = sum;
}
KERNEL(grid_stride) { for (int i = TID; i < n; i += gridDim.x * blockDim.x) output<float>(out)[i] = input<float>(in)[i] + 1; }
KERNEL(grid_stride_v4) { for (int i = TID; i < n; i += gridDim.x * blockDim.x) output<float4>(out)[i] = input<float4>(in)[i]; }
KERNEL(rows_of_threads) { float sum = 0; for (int k = 0; k < n; k++) sum += input<float>(in)[TID * n + k]; output<float>(out)[TID] = sum; }
KERNEL(rows_of_threads_v4) {
    float4 sum = {};
    for (int k = 0; k < n / 4; k++) { float4 v = input<float4>(in)[TID * (n / 4) + k]; sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w; }
    output<float4>(out)[TID] = sum;
}
KERNEL(swizzled) { int i = TID; output<float4>(out)[i ^ (i >> 3 & 7)] = input<float4>(in)[i ^ s]; }

// Places that the launch tells.
#define GATHER(name, T) KERNEL(name) { output<T>(out)[TID] = input<T>(in)[idx[TID]]; }
GATHER(gather_u8, unsigned char)
GATHER(gather_u16, unsigned short)
GATHER(gather_u32, unsigned)
GATHER(gather_u64, unsigned long long)
GATHER(gather_v4, float4)
KERNEL(scatter_u32) { output<unsigned>(out)[idx[TID]] = input<unsigned>(in)[TID]; }
KERNEL(scatter_v4) { output<float4>(out)[idx[TID]] = input<float4>(in)[TID]; }
KERNEL(gather_if) { int at = idx[TID]; if (at >= 0) output<float>(out)[TID] = input<float>(in)[at]; }

// Cache operators and orders.
#define LOAD(name, op, T, c, kind) KERNEL(name) { T v; asm volatile(op " %0, [%1];" : "=" c(v) : "l"(input<T>(in) + TID * s)); output<T>(out)[TID] = v; }
LOAD(load_ca, "ld.global.ca.u32", unsigned, "r", )
LOAD(load_cg, "ld.global.cg.u32", unsigned, "r", )
LOAD(load_cs, "ld.global.cs.u32", unsigned, "r", )
LOAD(load_lu, "ld.global.lu.u32", unsigned, "r", )
LOAD(load_cv, "ld.global.cv.u32", unsigned, "r", )
LOAD(load_nc, "ld.global.nc.u32", unsigned, "r", )
LOAD(load_nc_no_allocate, "ld.global.nc.L1::no_allocate.u32", unsigned, "r", )
LOAD(load_prefetch, "ld.global.L2::128B.u32", unsigned, "r", )
LOAD(load_volatile, "ld.volatile.global.u32", unsigned, "r", )
LOAD(load_relaxed, "ld.relaxed.gpu.global.u32", unsigned, "r", )
LOAD(load_acquire, "ld.acquire.gpu.global.u64", unsigned long long, "l", )
LOAD(load_evict_first, "ld.global.L1::evict_first.u64", unsigned long long, "l", )
#define STORE(name, op, T, c) KERNEL(name) { asm volatile(op " [%0], %1;" :: "l"(output<T>(out) + TID * s), c((T)n)); }
STORE(store_wb, "st.global.wb.u32", unsigned, "r")
STORE(store_cg, "st.global.cg.u32", unsigned, "r")
STORE(store_cs, "st.global.cs.u32", unsigned, "r")
STORE(store_wt, "st.global.wt.u32", unsigned, "r")
STORE(store_volatile, "st.volatile.global.u64", unsigned long long, "l")
STORE(store_release, "st.release.gpu.global.u32", unsigned, "r")
STORE(store_u8, "st.global.u8", unsigned, "r")
KERNEL(load_nc_v4) { float4 v; asm volatile("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(input<float4>(in) + TID * s)); output<float4>(out)[TID] = v; }

// Generic addresses.
KERNEL(generic) {
    __shared__ float tile[256];
    tile[threadIdx.x] = n;
    __syncthreads();
    volatile float* p = s ? output<float>(out) : tile;
    p[threadIdx.x] = p[threadIdx.x ^ 1] + 1;
}
KERNEL(generic_atomic) {
    __shared__ int counts[256];
    counts[threadIdx.x] = n;
    __syncthreads();
    int* p = s ? output<int>(out) : counts;
    output<int>(in)[TID] = atomicAdd(p + threadIdx.x / 2, 5);
}
__device__ float table[1024];
KERNEL(variable) { output<float>(out)[TID] = table[(TID * s) & 1023]; }
