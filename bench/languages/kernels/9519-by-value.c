// launch 1 64 n=3
// launch 3 32x3 n=5
#include "prelude.h"
static SHARED u32 s[2048];
typedef struct { u32 pitch, at[4]; SHARED u32 *base; } View;
NOINLINE u32 load(View v, u32 r, u32 c) { v.at[c & 3] += r; return v.base[(v.pitch * r + v.at[c & 3]) & 1023]; }
NOINLINE View moved(View v, u32 by) { v.base += by; v.at[by & 3] = v.pitch; return v; }
KERNEL void k9519(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID + TIDY * NTID, a = 0;
    for (u32 i = t; i < 2048; i += NTID * __nvvm_read_ptx_sreg_ntid_y()) s[i] = i;
    __syncthreads();
    View v = {33, {1, 2, 3, t}, s}, w = {32, {t, 0, n, 1}, s + 64};
    for (u32 i = 0; i < n; i++) {
        a += load(v, TID, i) + load(w, i, TID);
        if (t & 1) v = moved(w, t & 31); else w = moved(v, i);
    }
    s[(v.pitch * TID + TIDY) & 1023] = a;
    out[t] = a + v.base[t & 511];
}
