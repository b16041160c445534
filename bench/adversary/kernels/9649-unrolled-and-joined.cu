// launch 1 64 n=4
// launch 1 47 n=9
// launch 2 32 n=16
// Adjacent members that a compiler joins to vectors, unrolled loops over eight elements, strided halves, loads hoisted out of conditions.
extern "C" __global__ void k9649(unsigned* __restrict__ out, const unsigned* __restrict__ src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; const uint4* p = (const uint4*)src; const unsigned long long* q = (const unsigned long long*)__builtin_assume_aligned(src, 16);
    uint4 a = p[g * 2], b = p[g * 2 + 1]; acc += a.x + a.y + b.z + b.w + (unsigned)(q[g * 2] + q[g * 2 + 1]);
    const unsigned* r = (const unsigned*)__builtin_assume_aligned(src + g * 8, 32);
    #pragma unroll
    for (int i = 0; i < 8; i++) acc += r[i] * (i + 1);
    #pragma unroll
    for (int i = 0; i < 8; i++) acc += src[i * 64 + g] + src[g * 8 + i * 2];
    #pragma unroll 4
    for (unsigned i = 0; i < n; i++) acc += src[i * 32 + t] ^ src[t * n + i];
    if (acc & 1) acc += src[g + 5]; else acc += src[g + 6]; acc += t < n ? src[g * 3] : src[g * 3 + 1]; unsigned* o = (unsigned*)__builtin_assume_aligned(out + g * 8, 16);
    #pragma unroll
    for (int i = 0; i < 8; i++) o[i] = acc + i;
    if (t & 1) { out[8192 + g] = acc; out[8193 + g] = 1; }
}
