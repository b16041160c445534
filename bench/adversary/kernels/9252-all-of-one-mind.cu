// launch 3 32 n=2
// launch 2x2 64 n=5
// launch 4 41 n=0
// Branches and loops on parameters, block numbers and loaded words, nested; each path has its own stride and barrier.
__constant__ unsigned short stride[8] = { 1, 2, 4, 6, 8, 16, 32, 33 };
extern "C" __global__ void k9252(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k * 2 + 1; }
    __syncthreads();
    unsigned b = blockIdx.x + blockIdx.y * gridDim.x, g = gridDim.x * gridDim.y;
    if (n > 3) { acc += s[(l * stride[n & 7]) & 1023]; if (b & 1) { __syncthreads(); s[(l * 4) & 1023] = b; } else __syncthreads(); }
    else if (n) { s[(l * stride[b & 7]) & 1023] = n; __syncthreads(); }
    for (unsigned i = b; i < 6; i += g) {
        unsigned v = src[i * 100 + n];
        if (v & 1) { acc += s[(l * stride[v & 7]) & 1023]; if (v & 2) continue; }
        else if (i == 4) break;
        s[(l * stride[(v >> 1) & 7] + i) & 1023] = i;
    }
    unsigned x = src[b * 8 + (unsigned)f];
    while (x) { if (x & 1) acc += s[(l * (x & 15)) & 1023]; else if (x % 6 == 0) __syncthreads(); x >>= 1; }
    if (f > 1.25f && b != 1) { if (f * (float)n > 5.0f) acc += s[(l * 5) & 1023]; else s[(l * 10) & 1023] = acc; }
    switch (b * 3 % 4) {
    case 0: if (q[n] == 2 * n + 1) acc += s[(l * 12) & 1023]; break;
    case 1: for (unsigned i = 0; i < n; i++) acc += s[(l * i) & 1023]; break;
    case 2: if (__builtin_expect(w == 1, 0)) { s[(l * 24) & 1023] = 1; break; } [[fallthrough]];
    default: acc += s[(l * stride[q[b] & 7]) & 1023];
    }
    const unsigned* p = n & 1 ? src : q;
    if (p[b + 1] > 2) s[(l * p[b + 2]) & 1023] = acc;
    acc += s[(l * (b + 2)) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
