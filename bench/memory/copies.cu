#include "accesses.cuh"

// Asynchronous copies into shared memory: source elements s apart, destination consecutive.
#define ASYNC(name, op, size, more, T) KERNEL(name) {                                                                       \
    __shared__ __align__(16) char tile[256 * size];                                                                         \
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * size);                                            \
    asm volatile(op " [%0], [%1], " #size more ";" :: "r"(to), "l"(in + (size_t)TID * s * size), "r"(n) : "memory");        \
    asm volatile("cp.async.wait_all;" ::: "memory");                                                                        \
    __syncthreads();                                                                                                        \
    output<T>(out)[TID] = *reinterpret_cast<T*>(tile + (threadIdx.x ^ 1) * size);                                           \
}
ASYNC(async_4, "cp.async.ca.shared.global", 4, "", float)
ASYNC(async_8, "cp.async.ca.shared.global", 8, "", float2)
ASYNC(async_16, "cp.async.ca.shared.global", 16, "", float4)
ASYNC(async_cg, "cp.async.cg.shared.global", 16, "", float4)
ASYNC(async_cg_128, "cp.async.cg.shared.global.L2::128B", 16, "", float4)
ASYNC(async_part, "cp.async.ca.shared.global", 16, ", %2", float4)
ASYNC(async_cg_part, "cp.async.cg.shared.global", 16, ", %2", float4)

// Rows of a tile: 8 lanes a row of s floats.
KERNEL(async_rows) {
    __shared__ __align__(16) float tile[64][36];
    int row = threadIdx.x / 8, column = threadIdx.x % 8 * 4;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[row][column]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(input<float>(in) + row * s + column) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(input<float>(in) + row * s + column + n) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    output<float>(out)[TID] = tile[row][threadIdx.x % 8];
}
KERNEL(async_some) {
    __shared__ __align__(16) float tile[1024];
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 4);
    if (threadIdx.x % 4 != 3) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(input<float4>(in) + TID * s) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    output<float>(out)[TID] = tile[threadIdx.x];
}

// Copies that pass by the L1 in the lanes that n has a bit for.
#define GUARDED(name, op) KERNEL(name) {                                                                                    \
    __shared__ __align__(16) char tile[256 * 16];                                                                           \
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 16);                                              \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p " op " [%0], [%1], 16; }"                                        \
                 :: "r"(to), "l"(in + (size_t)TID * s * 16), "r"((unsigned)n >> (threadIdx.x & 31) & 1) : "memory");        \
    asm volatile("cp.async.wait_all;" ::: "memory");                                                                        \
    __syncthreads();                                                                                                        \
    output<float4>(out)[TID] = *reinterpret_cast<float4*>(tile + (threadIdx.x ^ 1) * 16);                                   \
}
GUARDED(guarded_ca, "cp.async.ca.shared.global")
GUARDED(guarded_cg, "cp.async.cg.shared.global")
GUARDED(guarded_cg_128, "cp.async.cg.shared.global.L2::128B")
