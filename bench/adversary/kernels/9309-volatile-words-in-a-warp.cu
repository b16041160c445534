// launch 1 32 n=1
// launch 1 64 n=5
// launch 3 32 n=30
// Volatile accesses that the compiler keeps in order: a warp's lanes write and read each other's words, thrice; the last read is the index.
extern "C" __global__ void k9309(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ volatile unsigned v[128];
    __shared__ volatile unsigned char b[256];
    unsigned t = threadIdx.x, l = t & 31, w = t & ~31u, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    v[t] = t * n;
    b[t * 2] = (unsigned char)t; b[t * 2 + 1] = (unsigned char)(t ^ 21);
    __syncthreads();
    unsigned first = v[w + (l ^ 1)];
    __syncwarp();
    v[w + (l * 5 & 31)] = first + 3;
    __syncwarp();
    unsigned second = v[t];
    if (l & 4) { v[t] = v[t] * 2; v[t] += l; }
    __syncwarp();
    unsigned third = v[w + 31 - l];
    acc += s[(first * 4) & 1023];
    acc += s[(second + third * 8) & 1023];
    b[w * 2 + l] = b[w * 2 + l * 2];
    __syncwarp();
    acc += s[(b[w * 2 + (l ^ 16)] * 33) & 1023];
    for (unsigned i = 0; i < 3; i++) {
        unsigned x = v[t];
        __syncwarp();
        v[w + ((l + 1 + i) & 31)] = x ^ i;
        __syncwarp();
        if (v[t] % 3 == i) acc += s[(v[t] * 2 + i) & 1023];
        __syncwarp();
    }
    volatile unsigned* p = l < 16 ? v + t : (volatile unsigned*)s + t * 2;
    *p = n + t;
    unsigned last = *p;
    *(volatile unsigned short*)p = (unsigned short)(last * 3);
    last = *p;
    __syncthreads();
    s[last & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
