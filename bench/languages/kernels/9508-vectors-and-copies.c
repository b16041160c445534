// launch 1 64 n=3
// launch 1 48 n=1
#include "prelude.h"
static SHARED u32x4 v[256];
static SHARED u8 bytes[2048];
typedef struct __attribute__((packed)) { u8 tag; u32 value; u16 more; } Packed;
typedef struct { u32 w[5]; } Five;
KERNEL void k9508(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID;
    u32x4 x = {t, t * 2, n, 7};
    v[(t * 2) & 255] = x;
    v[(t ^ 5) & 255].yz = x.xw;
    __syncthreads();
    u32x4 y = v[(t * n) & 255] + v[t].wzyx;
    ((SHARED u32 *)v)[y.x & 1023] = y[t & 3];
    SHARED Packed *p = (SHARED Packed *)bytes + t;
    p->tag = t; p->value = y.y; p->more = t * 3;
    __syncthreads();
    u32 a = ((SHARED Packed *)bytes)[(t * 3) & 63].value;
    SHARED Five *five = (SHARED Five *)v;
    Five local = five[t & 31];
    local.w[t % 5] += a;
    five[(t + n) & 63] = local;
    __builtin_memcpy(bytes + 24 * (t & 31), bytes + 1024 + t * 8, 24);
    __builtin_memset(bytes + 1000 + (t & 31) * 12, t, 12);
    __builtin_memcpy(bytes + (t & 15), local.w, n + 3);
    u64 wide; __builtin_memcpy(&wide, (SHARED void *)(bytes + t * 9), 8);
    out[t] = (u32)wide + y.z + v[t].x;
}
