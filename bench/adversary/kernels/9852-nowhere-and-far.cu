// launch 1 64 n=4
// launch 2 96 n=300
// launch 1 33 n=7
// pointers that are null or become so, offsets that wrap back into an array, stores by data beside tables that are read
extern "C" __global__ void k9852(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], u[512];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i;
    for (unsigned i = t; i < 512; i += nt) u[i] = 511 - i;
    __syncthreads();
    unsigned* p = n > 100 ? out : nullptr;
    if (p) p[(src[t] * 3) & 1023] = t;
    acc += s[(src[(t * 4) & 1023] * 8) & 1023];
    unsigned long long base = 0, add = (unsigned long long)out;
    unsigned* q = (unsigned*)(base + add + 4 * (unsigned long long)((t + 512) & 1023));
    q[-256] = 5;                                             // behind a null pointer in 64 bits: the array again
    acc += s[(src[(l * 5 + 2) & 1023] * 4) & 1023];
    unsigned* g = (src[l] & 1) ? s + l * 8 : (unsigned*)((char*)u + l * 16);
    acc += *g;
    g[1] = t;
    __syncthreads();
    acc += s[(u[(l * 3) & 511] * 2) & 1023];
    const unsigned* end = src + 1024;
    acc += s[(*(end - 1 - (l * 9 & 1023)) * 2) & 1023];
    int back = -(int)(l * 4);
    acc += s[512 + back] + s[(unsigned)(512 + back * 3) & 1023];
    unsigned huge = 0xfffffff0u + (l & 15) + (l >> 4 << 4);
    acc += s[(huge + 16 + l) & 1023];
    acc += *(unsigned*)((char*)s + (((unsigned long long)(l * 64) + 0x100000000ull) & 0xffffffffull & 4092));
    out[(blockIdx.x * nt + t) & 1023] = acc;
}
