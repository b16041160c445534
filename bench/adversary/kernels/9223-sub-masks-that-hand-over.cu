// launch 1 32 n=1
// launch 2 64 n=3
// launch 1 64 n=2
// Halves, quarters and odd sets of a warp exchange indices through shared memory, ordered by __syncwarp of nested sub-masks.
extern "C" __global__ void k9223(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ volatile unsigned hand[64];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    volatile unsigned* h = hand + w * 32;
    h[l] = l;
    __syncwarp();
    if (l < 16) {
        h[l ^ 1] = l * 2; __syncwarp(0xFFFFu);
        unsigned a = h[l]; acc += s[(a * 4) & 1023]; __syncwarp(0xFFFFu);
        if (l & 4) { h[l ^ 8] = a + 1; __syncwarp(0xF0F0u); s[(h[l] * 3) & 1023] = a; __syncwarp(0xF0F0u); h[l] = l & 7; }
        else { h[l] = a * 5; __syncwarp(0x0F0Fu); acc += s[(h[(l & 8) | 3] + l * 8) & 1023]; }
        __syncwarp(0xFFFFu);
        s[(h[15 - l] * 2 + l) & 1023] = 1;
    } else {
        for (unsigned d = 8; d; d >>= 1) { unsigned v = h[l ^ d]; __syncwarp(0xFFFF0000u); h[l] = v + d; __syncwarp(0xFFFF0000u); if (l & d) acc += s[(v * 2) & 1023]; }
    }
    __syncwarp();
    unsigned k = h[(l * 7 + n) & 31];
    __syncwarp();
    s[(k * l) & 1023] = acc;
    const unsigned odd = 0x92492492u;
    if (odd >> l & 1) { __syncwarp(odd); h[l] = k + n; __syncwarp(odd); acc += s[(h[l == 1 ? 31 : l - 3] * 4) & 1023]; }
    else acc += s[(l * 6) & 1023];
    __syncwarp();
    acc += s[(h[l] * 16 + l) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
