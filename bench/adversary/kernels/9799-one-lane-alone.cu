// launch 1 64 n=3
// launch 1 33 n=2
// Waterfalls: lanes that agree with the first active one go together, until none is left; loops by leader of a changing mask.
extern "C" __global__ void k9799(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned key = src[t * 3] % (n + 3), m = __activemask();
    for (;;) {
        unsigned first = __shfl_sync(m, key, __ffs(m) - 1), same = __ballot_sync(m, key == first);
        if (key == first) { acc += s[(key * 32 + l) & 1023] + s[(__popc(same) * l) & 1023]; break; }
        m &= ~same;
    }
    __syncwarp(__activemask());
    for (unsigned left = __match_any_sync(__activemask(), key); left; left &= left - 1) {
        unsigned who = __ffs(left) - 1;
        if (l == who) acc += s[(l * 16 + key) & 1023];
        acc += s[(who * 32 + key) & 1023];
    }
    bool todo = l % n != 0;
    while (__any_sync(__activemask(), todo)) { if (todo) { unsigned k = __activemask(); if (l == __ffs(k) - 1) { acc += s[(l * 8) & 1023]; todo = false; } } else break; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
