// launch 1 64 n=3
// launch 1 40 n=5
// elect.sync with partial masks, redux of all kinds under masks, vote.uni, and what the elected lane writes for the others.
extern "C" __global__ void k9753(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned said[4];
    unsigned full = w < T / 32 ? ~0u : 0xffu, leader; int pick;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.b32 %1, 1, 0, p; }" : "=r"(leader), "=r"(pick) : "r"(full));
    if (pick) { said[w] = leader * 5 + n; acc += s[(l * 32 + w) & 1023]; }
    __syncwarp(full);
    acc += s[(said[w] * l) & 1023];
    if (l & 1) {
        unsigned m = full & 0xaaaaaaaa, a, b, c;
        asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.b32 %1, 1, 0, p; }" : "=r"(leader), "=r"(pick) : "r"(m));
        asm volatile("redux.sync.xor.b32 %0, %1, %2;" : "=r"(a) : "r"(l * n), "r"(m));
        asm volatile("redux.sync.min.s32 %0, %1, %2;" : "=r"(b) : "r"((int)l - 5), "r"(m));
        asm volatile("redux.sync.and.b32 %0, %1, %2;" : "=r"(c) : "r"(l | 16), "r"(m));
        acc += s[(a * l + leader) & 1023] + s[(b * 8 + l) & 1023] + s[c * 32 & 1023];
        if (pick) acc += s[a & 1023];
    }
    unsigned u;
    asm volatile("{ .reg .pred p, q; setp.lt.u32 q, %1, 32; vote.sync.uni.pred p, q, %2; selp.u32 %0, 1, 0, p; }" : "=r"(u) : "r"(t), "r"(full));
    acc += s[u ? t * 2 : t * 4];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
