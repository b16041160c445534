// launch 1 64 n=3
// launch 1 37 n=9
#include "prelude.h"
static SHARED u32 s[256];
static SHARED u64 d[64];
static SHARED u8 b[256];
static SHARED u16 h[128];
static SHARED float fl[64];
KERNEL void k9512(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 256, 0);
    FILL(d, 64, 1);
    FILL(b, 256, 0);
    FILL(h, 128, 0);
    FILL(fl, 64, 0.0f);
    a += __atomic_fetch_add(&s[t * 2 & 255], n, __ATOMIC_RELAXED);
    __atomic_fetch_or(&s[t & 15], 1u << (t & 31), __ATOMIC_SEQ_CST);
    a += __atomic_fetch_max(&s[(t * 32 + t / 8) & 255], t, __ATOMIC_ACQ_REL);
    a += __atomic_exchange_n(&d[t & 31], t, __ATOMIC_RELAXED);
    a += __atomic_fetch_add(&d[t & 7], 3, __ATOMIC_RELAXED);
    __syncthreads();
    a += __atomic_fetch_add(&b[t * 3 & 255], 1, __ATOMIC_RELAXED);
    a += __atomic_fetch_xor(&h[t], t, __ATOMIC_RELAXED);
    a += __atomic_fetch_nand(&s[t + 128 & 255], t, __ATOMIC_RELAXED);
    u32 expected = 0;
    a += __atomic_compare_exchange_n(&s[64 + t & 255], &expected, t, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    a += (u32)__nvvm_atom_add_gen_f((float *)&fl[t & 63], 1.0f);
    a += __nvvm_atom_inc_gen_ui((u32 *)&s[t & 31], 5) + __nvvm_atom_dec_gen_ui((u32 *)&s[t * 4 & 255], 9);
    __syncthreads();
    out[t] = a + s[a & 255] + b[t] + h[t & 127];
}
