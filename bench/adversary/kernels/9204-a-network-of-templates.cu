// launch 1 32 n=1
// launch 2 64 n=2
// launch 1 64 n=3
// A bitonic network unrolled by recursive templates sorts keys in shared memory; swaps are predicated; sorted keys are addresses.
template <unsigned K, unsigned J> struct Step {
    template <class F> __device__ static void run(unsigned t, F&& g) { g(t, K, J); if constexpr (J > 1) Step<K, J / 2>::run(t, g); else if constexpr (K < 64) Step<K * 2, K>::run(t, g); }
};
template <unsigned D, class F> __device__ unsigned tree(unsigned i, F g) { if constexpr (D == 0) return g(i); else return i & (1u << D) ? tree<D - 1>(i ^ D, g) : tree<D - 1>(i + D * 3, g) + 1; }
extern "C" __global__ void k9204(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned key[64];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    for (unsigned k = t; k < 64; k += nt) key[k] = (k * 37 + n * 11 + (k >> 3)) % 97;
    __syncthreads();
    Step<2, 1>::run(t, [&](unsigned i, unsigned k, unsigned j) {
        for (unsigned a = i; a < 64; a += nt) {
            unsigned b = a ^ j;
            if (b > a) {
                unsigned x = key[a], y = key[b];
                if ((x > y) == !(a & k)) { key[a] = y; key[b] = x; s[(a * 2 + k) & 1023] = j; }
            }
        }
        __syncthreads();
    });
    acc += s[(key[t & 63] * 4) & 1023];
    if (key[t & 63] != key[(t + 1) & 63]) s[(t * key[63 - (t & 63)]) & 1023] = 1;
    acc += tree<4>(l, [&](unsigned i) { return s[(i * 8) & 1023]; });
    s[(tree<3>(l * 5 & 31, [&](unsigned i) { return i * (key[i & 63] & 3); }) * 2) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
