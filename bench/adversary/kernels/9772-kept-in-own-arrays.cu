// launch 1 64 n=5
// launch 1 33 n=7
// Indices that live in local arrays: rotated, sorted, permuted, spilled under few registers; structs by value through calls.
struct Bag { unsigned v[6]; float g; unsigned char c[8]; };
__device__ __noinline__ Bag shift(Bag b, unsigned k) { unsigned x = b.v[k % 6]; b.v[k % 6] = b.v[(k + 1) % 6]; b.v[(k + 1) % 6] = x + 1; b.c[k & 7] = x; return b; }
__device__ __noinline__ unsigned many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, unsigned i, unsigned j, unsigned k, unsigned m, unsigned o, unsigned* s) { return s[(a + b * 2 + c * 3 + d) & 1023] + s[(e * g + h) & 1023] + s[(i ^ j ^ k ^ m ^ o) & 1023]; }
extern "C" __global__ void k9772(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned ring[12]; Bag b;
    for (unsigned i = 0; i < 12; i++) ring[i] = i * l;
    for (unsigned i = 0; i < 6; i++) b.v[i] = t + i; for (unsigned i = 0; i < 8; i++) b.c[i] = i;
    for (unsigned k = 0; k < n; k++) { unsigned a = ring[k % 12]; ring[(k * 5 + 3) % 12] = a + ring[(k + t) % 12]; acc += s[a & 1023] + s[ring[k] * 2 & 1023]; b = shift(b, k + l); acc += s[b.v[k % 6] * 8 & 1023]; }
    acc += s[b.c[l & 7] * 4] + many(t, 1, 2, n, l, 3, w, ring[1], ring[2], 5, b.v[0], 9, s);
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
