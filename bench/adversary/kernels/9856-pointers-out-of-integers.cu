// launch 1 64 n=5
// launch 2 96 n=300
// launch 4 33 n=14
// launch 3 5x7x3 n=9
// out + (src - out), out ^ src that alternates trip by trip, offsets back from the end, pointers kept in local and
// in shared memory, a generic pointer that is shared in odd and global in even lanes: which array a store changes
// is not plain to see
extern "C" __global__ void k9856(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned u[256];
    __shared__ unsigned long long tab[32];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, base = blockIdx.x * 1024, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 5;
    for (unsigned i = t; i < 256; i += nt) u[i] = i * 2;
    unsigned long long o = (unsigned long long)out, x = o ^ (unsigned long long)src, p = o;
    if (t < 32) tab[t] = (t % 3 == 0 ? x : 0) ^ o;                // src in each third slot, out in the others
    __syncthreads();
    unsigned c0 = base + t, c1 = c0 + 256, c2 = c0 + 512, c3 = c0 + 768;
    long long d = (long long)src - (long long)out;
    for (unsigned r = 0; r < (n & 7) + 2; r++) {
        volatile unsigned* a = (volatile unsigned*)p;
        acc += s[(a[c0] * 2) & 1023];                             // initial in the first two trips
        a[c0] = a[c1] + r * l;
        p ^= x;
        acc += s[((volatile unsigned*)p)[c1] & 1023];             // never written
    }
    unsigned* end = out + 4096;
    if ((t & 3) == 1) end[(int)c3 - 4096] = t * 4 + n;
    acc += s[((volatile unsigned*)out)[c3] & 1023];
    *(volatile unsigned*)((char*)out + d + 4 * (long long)c2) = l * 8;      // this is src
    acc += s[src[c2] & 1023] + s[(*((volatile unsigned*)out + c2) * 4) & 1023];
    unsigned* g = (t & 1) ? u + t : out + c2;
    *g = t * 16 + l;
    acc += s[*((volatile unsigned*)out + c2) & 1023] + s[((volatile unsigned*)u)[t] & 1023];
    unsigned* loc[3] = {out, (unsigned*)src, end - 4096 + 256};
    volatile unsigned* q = loc[(l + n) % 3];
    acc += s[(q[c0] + 7) & 1023];                                 // changed, changed, not changed
    volatile unsigned* y = (volatile unsigned*)tab[(t + n) & 31];
    y[c3] = y[c3] * 2 + 1;                                        // out or src
    acc += s[y[c3] & 1023];
    acc += s[(((volatile unsigned*)((unsigned long long)y ^ x))[c3] + 2) & 1023];
    out[c3] = acc;
}
