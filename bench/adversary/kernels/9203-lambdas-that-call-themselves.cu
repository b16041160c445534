// launch 1 32 n=4
// launch 2 64 n=2
// launch 1 50 n=6
// Recursive generic lambdas that capture counters by reference, and a fold over a pack of lambdas with short circuits.
template <class F> struct Fix { F g; template <class... A> __device__ unsigned operator()(A... a) { return g(*this, a...); } };
template <class F> __device__ Fix<F> fix(F g) { return { g }; }
template <class... F> __device__ bool any(unsigned i, F... g) { return (g(i) || ...); }
template <class... F> __device__ unsigned all(unsigned i, F... g) { unsigned c = 0; (void)((g(i) && ++c) && ...); return c; }
extern "C" __global__ void k9203(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 5 + 1) & 31; }
    __syncthreads();
    unsigned calls = 0, deepest = 0;
    auto walk = fix([&](auto& self, unsigned lo, unsigned hi, unsigned depth) -> unsigned {
        calls++; if (depth > deepest) deepest = depth;
        if (hi - lo <= 2 + (l & 3)) return s[(lo * 4 + hi) & 1023];
        unsigned mid = (lo + hi) / 2;
        unsigned v = l < mid ? self(lo, mid, depth + 1) : self(mid, hi, depth + 1);
        s[(l * 2 + depth * 32) & 1023] = v;
        return v + depth;
    });
    acc += walk(0u, 32u, 0u);
    acc += s[(l * calls) & 1023];
    s[(l + deepest * 33) & 1023] = acc;
    unsigned made = 0;
    auto less = [&](unsigned i) { made += 1; acc += s[(i * 2) & 1023]; return q[i] < n * 4; };
    auto even = [&](unsigned i) { made += 2; s[(i * 4) & 1023] = made; return !(q[i] & 1); };
    auto far = [&](unsigned i) { made += 4; acc += s[(i * 8 + made) & 1023]; return i > 16; };
    for (unsigned i = 0; i < 3; i++) {
        if (any((l + i) & 31, less, even, far)) acc += s[(l * made) & 1023];
        made += all((l * 3 + i) & 31, far, less, even);
    }
    s[(made * l) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
