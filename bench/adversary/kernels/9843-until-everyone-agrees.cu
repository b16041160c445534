// launch 1 32 n=3
// launch 2 5x7x3 n=7
// launch 1 75 n=0
// launch 3 64 n=12
// Loops that go on by vote; masks that shrink from trip to trip; shuffles of changing widths in the two halves of a
// warp; shuffles' predicate as a choice of address; groups by __match_any_sync that take turns.
__device__ __forceinline__ unsigned up(unsigned m, unsigned v, unsigned d, unsigned w, unsigned& in) {
    unsigned r = v, p = 1;
    asm volatile("{\n .reg .pred q;\n shfl.sync.up.b32 %0|q, %2, %3, %4, %5;\n selp.u32 %1, 1, 0, q;\n}"
                 : "=r"(r), "=r"(p) : "r"(v), "r"(d), "r"((32 - w) << 8), "r"(m));
    in = p;
    return r;
}
extern "C" __global__ void k9843(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048], z[2048];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, rem = T - (t & ~31u), acc = 0;
    unsigned live = rem >= 32 ? ~0u : (1u << rem) - 1;
    for (unsigned i = t; i < 2048; i += T) { s[i] = i * 9 & 2047; z[i] = 0; }
    __syncthreads();
    // Collatz; who is at 1 goes round 4, 2, 1 until all are at 1 in the same trip, or too late
    unsigned c = t + 1 + n, trips = 0;
    do {
        acc += s[(c * 2 + trips) & 2047];
        c = c & 1 ? 3 * c + 1 : c >> 1;
        ++trips;
    } while (__any_sync(live, c != 1) && trips < 90);
    acc += s[(c * l + trips) & 2047];
    // the mask shrinks; each takes the value of the next that is still in
    unsigned m = live, v = l * 5 + n, k = 0;
    for (;;) {
        unsigned stay = __ballot_sync(m, v % 7 != 3);
        if (v % 7 == 3) { acc += s[(v * 16 + k) & 2047]; break; }
        m = stay;
        if (++k > 18) break;
        unsigned above = m & ~((2u << l) - 1), from = __ffs(above ? above : m) - 1;
        v = __shfl_sync(m, v, from) * 3 + (l & 1) + k;
        z[(t * 4 + k * 2) & 2047] = v;
        acc += s[(v * 4 + from) & 2047];
    }
    __syncwarp(live);
    acc += s[(k * l * 2 + __popc(m)) & 2047];
    // halves of a warp with shuffles of their own, widths by trip
    unsigned x = l * 3 + 1, in = 0;
    if (l < 16) {
        for (unsigned w = 16; w >= 2; w >>= 1) {
            x += up(live & 0xffff, x, w / 2, w, in);
            acc += s[(in ? x * 2 : l * 32) & 2047];
        }
    } else {
        unsigned w = 4;
        do {
            x = __shfl_sync(live & 0xffff0000u, x, (l & (w - 1)) / 2 + 3 * w, w) ^ w;
            if (!__all_sync(live & 0xffff0000u, x & 1)) acc += s[(x * 8 + w) & 2047];
            w = w * 2 > 16 ? 2 : w * 2;
        } while (w != 4);
    }
    __syncwarp(live);
    acc += s[(x + in * 32 * l) & 2047];
    // groups take turns; the sum of a group is an address
    unsigned key = (t * t + n) % 5, g = __match_any_sync(live, key), left = live;
    while (left) {
        unsigned lead = __ffs(left) - 1, mine = __shfl_sync(live, key, lead) == key;
        if (mine) {
            unsigned sum = __reduce_add_sync(g, l), rank = __popc(g & ((1u << l) - 1));
            acc += s[(sum + rank * (key + 1) * 2) & 2047];
            if (rank & 1) __nanosleep(20);
            __syncwarp(g);
            z[(rank * 8 + key + (__activemask() >> l & 1)) & 2047] = sum;
        }
        left &= ~__ballot_sync(live, mine);
    }
    // until the votes of a warp agree, on values that a predicate alters
    unsigned y = t * 7 + n, rounds = 0;
    int same;
    do {
        if (y & 8) y -= l & 6; else y += 5;
        unsigned b = __ballot_sync(live, y & 4);
        acc += s[(__popc(b) * l + rounds) & 2047];
        __match_all_sync(live, y >> 5 & 3, &same);
    } while (!same && ++rounds < 15);
    acc += s[(y * 2 + rounds) & 2047];
    out[(blockIdx.x * T + t) & 1023] = acc + z[t & 2047];
}
