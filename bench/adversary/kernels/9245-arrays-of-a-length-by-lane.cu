// launch 1 32 n=3
// launch 2 64 n=6
// launch 1 40 n=1
// alloca by lane in a function and in a loop: lists of indices whose lengths differ by lane; pointers into them survive calls.
__device__ __noinline__ unsigned fill(unsigned* a, unsigned count, unsigned seed) { unsigned m = 0; for (unsigned i = 0; i < count; i++) { a[i] = (seed * (i + 1)) & 31; m = a[i] > m ? a[i] : m; } return m; }
__device__ __noinline__ unsigned use(unsigned* s, unsigned l, unsigned count) {
    unsigned* a = (unsigned*)__builtin_alloca(count * 4 + 4);
    unsigned m = fill(a, count + 1, l + 3), v = 0;
    for (unsigned i = count + 1; i-- > 0;) { v += s[(a[i] * 32 + l) & 1023]; if (a[i] == m) s[(l * 2 + i) & 1023] = m; }
    if (count > 2) { unsigned* b = (unsigned*)__builtin_alloca(32); b[count & 7] = a[count / 2]; v += s[(l * b[count & 7]) & 1023]; }
    s[(l * 3) & 1023] = v;
    return m;
}
extern "C" __global__ void k9245(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 5) & 15; }
    __syncthreads();
    unsigned count = 1 + (l & 3) + (n & 1);
    unsigned m = use(s, l, count);
    s[(l * m) & 1023] = m;
    unsigned* list[3];
    for (unsigned i = 0; i < 3; i++) {
        list[i] = (unsigned*)__builtin_alloca(8 * ((l >> i & 1) + 1));
        list[i][0] = q[l + i]; list[i][l >> i & 1] = i * 4 + (l & 7);
    }
    acc += s[(list[l % 3][0] * 4) & 1023];
    for (unsigned i = 0; i < n; i++) { unsigned* p = list[(i + l) % 3]; s[(p[0] * l + i * 32) & 1023] = i; p[0] ^= 1; if (p[0] > 12) break; }
    acc += s[(list[1][0] * 8 + l) & 1023];
    if (l & 4) acc += use(s, l + 1, m & 3);
    acc += s[(l * list[2][0]) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
