// launch 1 64 n=1
// launch 1 37 n=4
// launch 2 32 n=9
// Routines that are not inlined, called with pointers to global and local memory from several sites, by lane, through tables, recursively.
__device__ __noinline__ unsigned dot(const unsigned* a, const unsigned* b, unsigned k) { unsigned s = 0; for (unsigned i = 0; i < 3; i++) s += a[i * k] * b[i]; return s; }
__device__ __noinline__ void fill(unsigned* p, unsigned v, unsigned k) { p[0] = v; p[k] = v + 1; ((unsigned char*)p)[k * 8] = 3; }
__device__ __noinline__ uint4 wide(const uint4* p) { return p[1]; }
__device__ __noinline__ unsigned deep(const unsigned* p, unsigned k) { return k == 0 ? p[0] : p[k] + deep(p + 3, k - 1); }
__device__ unsigned one(const unsigned* p) { return p[2]; } __device__ unsigned two(const unsigned* p) { return p[9] + p[33]; }
typedef unsigned (*F)(const unsigned*); __device__ F const table[2] = {one, two};
extern "C" __global__ void k9634(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0, own[16]; __align__(16) unsigned vec[16];
    for (unsigned i = 0; i < 16; i++) { own[i] = i * t; vec[i] = i; }
    acc += dot(src + g, src + g * 2, 7) + dot(own + (t & 3), src + t, n & 3) + dot(src + n, own, 1) + dot(own, own + 4, 2);
    if (t & 1) acc += dot(src + g * 4, src, 3);
    fill(out + g * 4, acc, 2); fill(own + (n & 3), acc, 3); fill(t & 2 ? own + (t & 7) : out + 2048 + g * 5, acc, 1);
    acc += wide((const uint4*)src + g).x + wide((uint4*)vec + (t & 1)).y + deep(src + t, n & 3) + deep(src + n, t & 3);
    acc += table[n & 1](src + g) + table[t & 1](src + g * 2);
    out[8192 + g] = acc + own[t & 15];
}
