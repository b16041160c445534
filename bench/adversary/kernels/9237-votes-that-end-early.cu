// launch 1 32 n=4
// launch 2 64 n=7
// launch 1 33 n=9
// Loops that end by any, all, unanimous and counted votes; a lane that would still go on is dragged along, one that is done stores.
extern "C" __global__ void k9237(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 29 + (k >> 4)) & 63; }
    __syncthreads();
    unsigned full = __activemask(), x = q[l], rounds = 0, active = full;
    while (!__all_sync(full, x < n)) {
        rounds++;
        if (x < n) { s[(l * 2 + rounds * 32) & 1023] = x; continue; }
        acc += s[(l * (x & 7)) & 1023];
        x = x > 40 ? x - 13 : x >> 1;
    }
    s[(l * rounds) & 1023] = x;
    for (unsigned i = 0; i < 8; i++) {
        unsigned b = __ballot_sync(full, q[(l * 3 + i) & 1023] > 8 * i);
        if (__popc(b) < 8) break;
        if (b >> l & 1) acc += s[(l * 3 + i) & 1023]; else if (__popc(b) & 1) s[(l * 4) & 1023] = b;
        if (!(b & 2)) { acc += s[(l * 16 + i) & 1023]; i++; }
    }
    unsigned mine = q[l + 7] & 7;
    while (active) {
        bool done = mine == 0 || !(active >> l & 1);
        if (!done) { mine--; acc += s[(l * (mine + 2)) & 1023]; }
        active = __ballot_sync(full, !done);
        if (__popc(active) == 3) { s[(l * 8) & 1023] = active; break; }
    }
    unsigned u; asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %1, 3; vote.sync.uni.pred q, p, %2; selp.u32 %0, 3, 6, q; }" : "=r"(u) : "r"(mine), "r"(full));
    acc += s[(l * u) & 1023];
    s[(l * __popc(active)) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
