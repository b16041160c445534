// launch 1 40 n=1
// launch 2 7x9 n=3
// launch 1 97 n=2
// launch 3 13 n=5
// Short last warps with masks computed from the block size: shuffles down, ballots, named barriers rounded up, tails of loops.
extern "C" __global__ void k9259(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024], part[8];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, nt = blockDim.x * blockDim.y, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k * 7 & 63; }
    if (t < 8) part[t] = 0;
    __syncthreads();
    unsigned warps = (nt + 31) >> 5, live = w == warps - 1 && (nt & 31) ? nt & 31 : 32, mask = live == 32 ? ~0u : (1u << live) - 1;
    acc += s[(l * live) & 1023];
    unsigned v = q[l];
    for (unsigned d = 16; d; d >>= 1) { unsigned x = __shfl_down_sync(mask, v, d); if (l + d < live) { v += x; acc += s[(v * 2) & 1023]; } }
    if (l == 0) part[w] = v;
    unsigned b = __ballot_sync(mask, (l ^ n) & 2);
    s[(l * __popc(b)) & 1023] = b;
    asm volatile("bar.sync %0, %1;" :: "r"(1), "r"(warps * 32) : "memory");
    if (w == 0) {
        unsigned x = l < warps ? part[l] : 0;
        for (unsigned d = 1; d < warps; d <<= 1) { unsigned y = __shfl_xor_sync(mask, x, d); if ((l ^ d) < live) x += y; }
        if (l == 0) part[7] = x;
    } else if (live == 32) acc += s[(l * 8) & 1023]; else s[(l * 16) & 1023] = live;
    __syncthreads();
    unsigned sum = part[7];
    acc += s[(l * (sum & 31)) & 1023];
    for (unsigned i = t; i < 100; i += nt) { unsigned m = __activemask(); s[(i * 4 + (m & 1)) & 1023] = i; if (i > 64) acc += s[(l * __popc(m)) & 1023]; }
    if (l >= live / 2) acc += s[((l - live / 2) * 33 + (31 - l) * 32) & 1023];
    else if (t + 32 >= nt) s[(l * 5) & 1023] = acc;
    if (threadIdx.y == 2) acc += s[(threadIdx.x * 32) & 1023];
    s[(l * (live & 7)) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
