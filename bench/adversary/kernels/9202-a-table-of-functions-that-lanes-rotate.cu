// launch 1 32 n=2
// launch 2 64 n=5
// launch 1 37 n=3
// A table of function pointers in shared memory is rotated and swapped by lanes between calls; each lane then calls its entry.
typedef unsigned (*Way)(unsigned*, unsigned, unsigned);
__device__ __noinline__ unsigned by1(unsigned* s, unsigned i, unsigned v) { s[(i * 2) & 1023] = v; return s[i & 1023]; }
__device__ __noinline__ unsigned by2(unsigned* s, unsigned i, unsigned v) { unsigned a = 0; for (unsigned k = 0; k < (v & 3); k++) a += s[(i * 4 + k) & 1023]; return a; }
__device__ __noinline__ unsigned by3(unsigned* s, unsigned i, unsigned v) { return i & 1 ? s[(i * 8) & 1023] : by1(s, i * 3, v); }
__device__ __noinline__ unsigned by4(unsigned* s, unsigned i, unsigned v) { if (i % 3 == 0) return 1; s[(i * 16) & 1023] = v; return 2; }
extern "C" __global__ void k9202(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ Way way[8];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k & 7; }
    __syncthreads();
    if (t == 0) { way[0] = way[4] = by1; way[1] = way[6] = by2; way[2] = way[5] = by3; way[3] = way[7] = by4; }
    __syncthreads();
    for (unsigned i = 0; i < n; i++) {
        acc += way[(l >> 2) & 7](s, l + i * 32, l & 3);
        __syncthreads();
        Way mine = 0;
        if (t < 8) mine = way[(t + 1 + (i & 1)) & 7];
        __syncthreads();
        if (t < 8) way[t ^ (i & 1)] = mine;
        __syncthreads();
    }
    acc += way[n & 7](s, l, 3);
    Way pick = (l & 1) ? way[0] : way[q[n]];
    if (pick == by2) acc += s[(l * 32) & 1023];
    else if (pick) acc += pick(s, l * 5, l);
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
