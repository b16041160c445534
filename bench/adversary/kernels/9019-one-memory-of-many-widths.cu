// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 37 n=2
// Words written in parts and read whole, or written whole and read in parts; unaligned copies: all are indices.
extern "C" __global__ void k9019(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned char m[4096];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) { s[k] = k; ((unsigned*)m)[k] = 0; }
    __syncthreads();
    m[t * 4] = t; m[t * 4 + 1] = t >> 3; m[t * 4 + 2] = 0;
    acc += s[((unsigned*)m)[t] & 1023];
    ((unsigned short*)m)[t * 2] = t * 40; ((unsigned short*)m)[t * 2 + 1] = n;
    acc += s[(((unsigned*)m)[t] * 5 + 1) & 1023];
    ((unsigned*)m)[t] = t * 0x01020304u;
    acc += s[(m[t * 4 + 2] * 4) & 1023];
    acc += s[(((signed char*)m)[t * 4 + 3] + ((short*)m)[t * 2]) & 1023];
    __syncthreads();
    ((unsigned long long*)m)[t] = (unsigned long long)t << 29 | t;
    acc += s[(((unsigned*)m)[t * 2 + 1] * 8 + ((unsigned*)m)[t * 2]) & 1023];
    __syncthreads();
    ((uint4*)m)[t & 255] = make_uint4(t, t * 2, t * 3, t * 4);
    ((unsigned short*)m)[(t & 255) * 8 + 3] = 7;
    acc += s[((unsigned*)m)[(t & 255) * 4 + 1] & 1023];
    acc += s[((unsigned long long*)m)[(t & 255) * 2 + 1] >> 32 & 1023];
    __syncthreads();
    unsigned long long w = t * 0x0101010101010101ull + n;
    memcpy(m + t * 12 + 3, &w, 8);
    unsigned v; memcpy(&v, m + t * 12 + 5, 4);
    acc += s[(v ^ v >> 7) & 1023];
    m[t * 12 + 6] = 1;
    memcpy(&v, m + t * 12 + 4, 4);
    acc += s[(v >> 3) & 1023];
    if (t & 1) ((unsigned short*)(m + t * 12))[2] = t; else m[t * 12 + 4] = t;
    acc += s[(*(unsigned*)(m + t * 12 + 4) >> 2) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
