// launch 1 64 n=3
// launch 1 40 n=5
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9511(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i * 3);
    u32 m = __nvvm_activemask();
    u32 x = __nvvm_shfl_sync_down_i32(m, t * 5, n, 31), y = __nvvm_shfl_sync_bfly_i32(m, t, 9, 0x181f);
    u32 z = __nvvm_shfl_sync_up_i32(m, x, 1, 0), v = __nvvm_vote_ballot_sync(m, src[t] & 1);
    a += s[x & 1023] + s[y * 4 & 1023] + s[z & 1023] + s[__builtin_popcount(v) * 31 & 1023];
    a += s[__builtin_popcount(v & ((1u << (t & 31)) - 1)) * 32];
    u32 peers = __nvvm_match_any_sync_i32(m, (t / 3) & 3);
    a += s[__builtin_ctz(peers) * 32] + s[__builtin_popcount(peers) + t];
    if (t & 2) {
        u32 k = __nvvm_activemask();
        a += s[__builtin_popcount(k) * 5 + (t & 7) * 32] + s[SHFL(k, t, __builtin_ctz(k)) * 9 & 1023];
        if (__nvvm_vote_any_sync(k, t == 6)) a += s[t * 2]; else a -= s[t];
    }
    __nvvm_bar_warp_sync(m);
    u32 first = __nvvm_fns(m, 0, (t & 7) + 1);
    a += s[first * 32 & 1023] + s[__nvvm_redux_sync_umax(t & 15, m) * 2 + t] + s[__nvvm_redux_sync_xor(src[t], m) & 1023];
    out[t] = a;
}
