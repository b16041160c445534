// launch 1 32 n=3
// launch 2 64 n=5
// launch 1 46 n=4
// Branches on what atomics return, where any order gives the same: own words, own bits of shared words, and words set once.
extern "C" __global__ void k9250(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned own[64], bits[8], once[16];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 5) & 15; }
    __syncthreads();
    if (t < 64) own[t] = t & 3;
    if (t < 8) bits[t] = 0x11111111u << (t & 3);
    if (t < 16) once[t] = 0;
    __syncthreads();
    unsigned old = atomicAdd(&own[t & 63], n);
    if (old & 1) acc += s[(l * 4 + old) & 1023];
    unsigned had = atomicOr(&bits[(l & 3) + (w & 1) * 4], 1u << l) >> l & 1;
    if (had) s[(l * 8) & 1023] = had; else acc += s[(l * 3) & 1023];
    for (unsigned i = 0; i < 6; i++) {
        old = atomicInc(&own[t & 63], 4 + (l & 1));
        if (old == 0) { acc += s[(l * 2 + i * 32) & 1023]; continue; }
        if (old > 4) { s[(l * 16 + i) & 1023] = old; break; }
        acc += s[(l * old) & 1023];
    }
    old = atomicExch(&own[t & 63], l * 2);
    s[(l * old) & 1023] = acc;
    if (atomicCAS(&own[t & 63], (l & 5) * 2, 7) == l * 2 && own[t & 63] == 7) acc += s[(l * 32) & 1023];
    had = atomicXor(&bits[(l & 3) + (w & 1) * 4], 3u << (l & 30) & 1u << l) >> l & 1;
    while (had < 3 && atomicSub(&own[t & 63], 3) < 64) { had++; s[(l + had * 33) & 1023] = had; }
    acc += s[(l * had) & 1023];
    if (l < 16 && w == 0 && atomicCAS(&once[l], 0, l + 1) == 0) acc += s[(l * 6) & 1023];
    unsigned low = atomicMin(&own[t & 63], 5), top = atomicMax(&own[t & 63], q[l]);
    s[(l * (low & 7) + top * 4) & 1023] = acc;
    acc += s[(own[t & 63] * 2 + l) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
