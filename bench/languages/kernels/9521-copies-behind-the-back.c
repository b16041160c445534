// launch 1 64 n=3
// launch 1 48 n=2
#include "prelude.h"
static SHARED u32x4 s[512];
KERNEL void k9521(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID;
    SHARED u32 *w = (SHARED u32 *)s;
    const __attribute__((address_space(1))) u32 *g = (const __attribute__((address_space(1))) u32 *)src;
    __nvvm_cp_async_ca_shared_global_4(w + t * 2, g + t);
    __nvvm_cp_async_ca_shared_global_8(w + 512 + t * 4, g + 2 * t);
    __nvvm_cp_async_ca_shared_global_16(w + 1024 + t * 8, g + 4 * t);
    __nvvm_cp_async_commit_group();
    if (t % 3) __nvvm_cp_async_ca_shared_global_4(w + 300 + t, g + t * n);
    __nvvm_cp_async_wait_all();
    __syncthreads();
    u32 a = w[t * 2] + w[512 + (w[t * 4 & 127] & 255)];
    a += s[256 + t * 2].z + w[300 + (t * 32 & 63)];
    out[t] = a;
}
