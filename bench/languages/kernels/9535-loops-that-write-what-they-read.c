// launch 1 64 n=800
// launch 1 32 n=1500
#include "prelude.h"
static SHARED u32 s[1024];
static SHARED u32 next[64];
KERNEL void k9535(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0, at = t & 63;
    FILL(s, 1024, i);
    FILL(next, 64, (i * 5 + 3) & 63);
    for (u32 i = 0; i < n; i++) {
        at = next[at];
        a += s[at * 16];
        if (i % 50 == 49 && t < 32) next[t] = next[t + 32] ^ 1;
        __nvvm_bar_warp_sync(ALL);
        a += s[(next[t & 31] * 32 + t) & 1023];
        __syncthreads();
    }
    u32 mine[4] = {t, 1, 2, 3};
    for (u32 i = 0; i < n; i++) {
        mine[i & 3] += mine[(i + 1) & 3];
        a += s[mine[(i + 2) & 3] & 1023];
    }
    for (u32 i = 0; i < n; i += 3) {
        u32 ticket = __atomic_fetch_add(&s[1000 + (t & 7)], 1, __ATOMIC_RELAXED);
        a += s[ticket & 15];
    }
    out[t] = a;
}
