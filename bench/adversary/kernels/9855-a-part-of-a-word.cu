// launch 1 64 n=200
// launch 2 95 n=3
// launch 4 33 n=77
// launch 2 5x7x3 n=129
// stores of 1, 2 and 16 bytes into words that are read whole, and words of which only the bytes that did not
// change are read: the byte beside the stored one, the other half, the low half under a stored high byte
static __device__ void st16(void* p, unsigned v) {
    asm volatile("{ .reg .b16 h; cvt.u16.u32 h, %1; st.global.u16 [%0], h; }" :: "l"(p), "r"(v) : "memory");
}
static __device__ unsigned ld16(const void* p) {
    unsigned v;
    asm volatile("{ .reg .b16 h; ld.global.u16 h, [%1]; cvt.u32.u16 %0, h; }" : "=r"(v) : "l"(p) : "memory");
    return v;
}
static __device__ int ld8s(const void* p) {
    int v;
    asm volatile("ld.global.s8 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
extern "C" __global__ void k9855(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = 1023 - i;
    __syncthreads();
    unsigned w = (blockIdx.x * nt + t) * 8;
    volatile unsigned* g = out + w;
    volatile unsigned char* c = (volatile unsigned char*)(out + w);
    c[l & 3] = (unsigned char)(l * 3 + n);                        // word 0, another byte in each lane
    acc += s[g[0] & 1023];
    acc += s[(c[(l + 1) & 3] * 4 + l) & 1023];                    // the byte beside it
    st16((void*)(c + 4 + 2 * (l & 1)), l * 5 + 1);                // word 1, one half
    acc += s[(ld16((void*)(c + 6 - 2 * (l & 1))) * 2) & 1023];    // the other half
    acc += s[((g[1] >> 8) ^ g[1]) & 1023];
    if (l & 2) *(uint4*)(out + w + 4) = make_uint4(l, l * 2, l * 33, n);
    acc += s[g[4 + (l & 3)] & 1023];                              // stored only in lanes whose l & 3 is 2 or 3
    c[11] = (unsigned char)(n ^ l);                               // the top byte of word 2
    acc += s[(ld16((void*)(c + 8)) * 2 + 1) & 1023];              // its low half: as before
    acc += s[(g[2] >> 22) & 1023];
    acc += s[((g[3] >> 3) * 4) & 1023];                           // never written
    c[18] = (unsigned char)l;
    acc += s[(ld16((void*)(c + 16)) + ld16((void*)(c + 18)) * 2) & 1023];
    unsigned char* d = (unsigned char*)src + 4 * w;               // src: bytes from 8 on of each 32
    *(uint4*)(d + 16) = *(uint4*)(d + 0);
    st16(d + 10, n * 7 + l);
    volatile unsigned* h = (volatile unsigned*)src + w;
    acc += s[(h[4 + (l & 1)] * 2) & 1023] + s[(h[l & 1] + 1) & 1023];
    unsigned long long two = *(volatile unsigned long long*)(d + 8);
    acc += s[(unsigned)(two >> 12) & 1023] + s[(unsigned)(two >> 32) & 1023];
    acc += s[(unsigned)(ld8s(d + 10) * 4) & 1023];                // may be negative
    g[3] = acc;
}
