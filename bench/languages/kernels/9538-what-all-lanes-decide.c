// launch 1 64 n=100
// launch 1 96 n=300
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9538(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0, left = n + t;
    FILL(s, 1024, i);
    while (__nvvm_vote_any_sync(ALL, left > 3)) {
        u32 low = __nvvm_redux_sync_umin(left, ALL);
        a += s[(low * 2 + t) & 1023];
        if (left > 3) { left -= left / 4; a += s[left & 1023]; }
        else a ^= s[t * 2];
    }
    for (u32 w = __nvvm_vote_ballot_sync(ALL, src[t] & 2); w; w &= w - 1) {
        u32 lane = __builtin_ctz(w);
        a += s[lane * 33 & 1023] + s[SHFL(ALL, t * 5, lane) & 1023] + s[(t ^ lane) * 4];
    }
    for (u32 round = 0; round < n; round++)
        for (u32 d = 16; d; d >>= 1) a += s[(__nvvm_shfl_sync_bfly_i32(ALL, t, d, 31) * round) & 1023];
    u32 todo = ALL;
    while (todo) {
        u32 key = SHFL(ALL, t % 5, __builtin_ctz(todo));
        u32 same = __nvvm_vote_ballot_sync(ALL, key == t % 5);
        if (key == t % 5) a += s[t * key & 1023];
        todo &= ~same;
    }
    out[t] = a;
}
