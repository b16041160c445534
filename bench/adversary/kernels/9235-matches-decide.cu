// launch 1 32 n=3
// launch 2 64 n=6
// launch 1 32 n=12
// match.any and match.all of 32 and 64 bits inside branches: the masks decide who stores, how often groups loop, and where.
extern "C" __global__ void k9235(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * k + 3) & 15; }
    __syncthreads();
    unsigned same = __match_any_sync(~0u, q[l] % n);
    acc += s[(__popc(same) * l) & 1023];
    if (l == (unsigned)__ffs(same) - 1) s[(l * 4) & 1023] = same;
    unsigned rank = __popc(same & ((1u << l) - 1));
    for (unsigned i = 0; i <= rank; i++) { if ((same >> i & 1) && i != l) continue; acc += s[(l * 2 + i * 32) & 1023]; }
    __syncwarp();
    int p = 0;
    unsigned half = l & 16 ? 0xFFFF0000u : 0x0000FFFFu;
    unsigned whole = __match_all_sync(~0u, n, &p);
    s[(l * (p ? __popc(whole) & 5 : 7)) & 1023] = p;
    if (l & 16) { unsigned m = __match_any_sync(0xFFFF0000u, (unsigned long long)(l & 3) << 33 | (l & 4) << 1); acc += s[(m >> 16 & 255) * 2]; s[(l * __popc(m)) & 1023] = m; }
    else { unsigned m = __match_all_sync(0x0000FFFFu, l >> 4, &p); if (p) acc += s[(l * 8 + __popc(m)) & 1023]; else s[(l * 3) & 1023] = m; }
    __syncwarp();
    unsigned key = q[l + 40], left = half;
    while (left) {
        unsigned m = __match_any_sync(half, key & left ? 1u : 0u);
        if (m >> l & 1 && key & 1) acc += s[(__popc(m) * 32 + l) & 1023];
        left = left & (left - 1); left &= 0x11111111u * (half & 15 ? 1 : 0) | 0x10010000u; key >>= 1;
    }
    s[(l * (key + 2)) & 1023] = acc;
    float x = (float)(l & 2) - 1.0f; x *= l & 8 ? 0.0f : f;
    unsigned z = __match_any_sync(~0u, x);
    acc += s[(l * __popc(z)) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
