// launch 1 64 n=3
// launch 1 32 n=5
// Members of one struct in shared memory that are written through the ends of their neighbours; then they decide.
struct All { unsigned a[32]; unsigned short b[32]; unsigned char c[64]; unsigned d[64]; };
extern "C" __global__ void k9782(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ All all;
    for (unsigned i = t; i < sizeof(All) / 4; i += T) ((unsigned*)&all)[i] = i;
    __syncthreads();
    unsigned* p = all.a;
    p[32 + (t & 15)] = (t & 15) * 0x20001u + n; __syncthreads();
    acc += s[all.b[(t * 2) & 31] * 8 & 1023] + s[all.b[t & 31] & 1023];
    *(unsigned short*)(all.c + (t & 31) * 2) = (unsigned short)(t & 31) * 257; __syncthreads();
    acc += s[all.c[t & 63] * 4];
    unsigned* q = all.d; q[-1 - (int)(t & 7)] = 5; __syncthreads();
    acc += s[all.c[63 - (t & 31)] * l & 1023] + s[(all.c[40] + all.d[t & 63]) & 1023];
    *((unsigned char*)&all.d[t & 63] + 1) = 1; __syncthreads();
    acc += s[(all.d[t & 63] + l) & 1023] + s[((const unsigned short*)all.d)[t] & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
