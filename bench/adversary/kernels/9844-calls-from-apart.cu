// launch 1 32 n=2
// launch 2 5x5x3 n=5
// launch 1 100 n=9
// Calls in diverged code: not inlined with generic pointers to either of two shared arrays (or to a local one), by
// pointer to function, virtual with the objects (and their table pointers) in shared memory, recursion by lane.
struct Shape {
    unsigned a;
    __device__ Shape(unsigned v) : a(v) {}
    __device__ virtual unsigned at(const unsigned* p, unsigned x) const = 0;
    __device__ virtual unsigned next(unsigned x) const { return x * 3 + a; }
};
struct Flat : Shape {
    __device__ Flat(unsigned v) : Shape(v) {}
    __device__ unsigned at(const unsigned* p, unsigned x) const override { return p[(x + a) & 1023]; }
};
struct Steep : Shape {
    __device__ Steep(unsigned v) : Shape(v) {}
    __device__ unsigned at(const unsigned* p, unsigned x) const override { return p[(x * 4) & 1023] ^ a; }
    __device__ unsigned next(unsigned x) const override { return (x >> 1) + a * 8; }
};
struct Round : Steep {
    __device__ Round(unsigned v) : Steep(v + 1) {}
    __device__ unsigned at(const unsigned* p, unsigned x) const override { return p[(x * 32 + next(x)) & 1023]; }
};
__device__ __noinline__ unsigned walk(const unsigned* p, unsigned i, unsigned step, unsigned& where) {
    unsigned sum = 0;
    do { sum += p[i & 1023]; i += step; where += i; } while (i < 200 + step);
    where = i - where;
    return sum;
}
__device__ __noinline__ unsigned climb(const unsigned* p, unsigned i, int depth, unsigned* seen) {
    *seen += p[i & 1023] & 1;
    if (depth <= 0) return i + 1;
    unsigned a = climb(p, i * 2 + 1, depth - 1, seen);
    if (i & 1) a += climb(p, (i >> 1) + a, depth - 2, seen);
    *seen ^= p[(a * 4) & 1023];
    return a & 1023;
}
__device__ __noinline__ unsigned odd(unsigned x, unsigned fuel, const unsigned* p, unsigned& acc);
__device__ __noinline__ unsigned even(unsigned x, unsigned fuel, const unsigned* p, unsigned& acc) {
    acc += p[(x * 2) & 1023];
    if (!fuel) return x;
    return (x & 2 ? odd(x * 3 + 1, fuel - 1, p, acc) : even(x + 6, fuel - 1, p, acc)) ^ 1;
}
__device__ __noinline__ unsigned odd(unsigned x, unsigned fuel, const unsigned* p, unsigned& acc) {
    acc ^= p[(x * 8 + fuel) & 1023];
    if (!fuel) return x + 2;
    unsigned r = x & 4 ? even(x >> 1, fuel - 1, p, acc) : odd(x + 5, fuel - 1, p, acc);
    return r + (x & 7);
}
__device__ __noinline__ unsigned twice(unsigned x) { return x * 2; }
__device__ __noinline__ unsigned swirl(unsigned x) { return x ^ (x >> 2) * 5; }
__device__ __noinline__ unsigned wide(unsigned x) { return (x * 33) % 97; }
template <class F> __device__ __noinline__ unsigned each(unsigned from, unsigned to, F g) {
    unsigned r = 0;
    for (unsigned i = from; i != to; ++i) { if (i % 5 == 3) continue; r = g(i, r); }
    return r;
}
extern "C" __global__ void k9844(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], v[1028];
    __shared__ __align__(16) unsigned char room[128 * 16];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0, seen = 0;
    for (unsigned i = t; i < 1028; i += T) { s[i & 1023] = (i & 1023) * 7 & 1023; v[i] = i ^ 341; }
    Shape* own = (Shape*)(room + 16 * t);
    if (l % 3 == 0) new (own) Flat(t & 7);
    else if (l % 3 == 1) new (own) Steep(l);
    else new (own) Round(n);
    __syncthreads();
    // the callee is the same, the array is not; the local word's address is handed on
    unsigned where = l, got;
    if (l & 4) got = walk(s, t * 2, 31 + l, where); else got = walk(v + (l & 3), l, 17 + n, where);
    acc += got + s[(where * 2) & 1023];
    // by pointer: by lane, then one for the warp
    unsigned (*fn[3])(unsigned) = {twice, swirl, wide};
    unsigned x = t + n;
    for (unsigned k = 0; k < 5; ++k) {
        unsigned (*h)(unsigned) = fn[k < 3 ? (l + k * (l >> 3)) % 3 : ((t >> 5) + k) % 3];
        x = h(x) & 0xffff;
        acc += s[(x + k) & 1023];
    }
    // virtual: own objects, then those of a neighbour, in a loop whose trips differ
    for (unsigned k = 0; k < 2 + (l & 3); ++k) {
        const Shape* o = (const Shape*)(room + 16 * ((t * (k + 1)) % T));
        acc += o->at(k & 1 ? s : v, x);
        x = o->next(x) & 1023;
    }
    acc += v[(x * 2) & 1023];
    // recursion: depth by lane, in one branch only
    unsigned top = l;
    if (l % 5 != 2) top = climb(l & 8 ? s : v, l + n, 2 + (int)(l % 3), &seen);
    acc += s[top & 1023] + seen;
    top = l & 1 ? odd(t, 3 + (l >> 3), s, acc) : even(l * 2, 2 + (l & 3), v, acc);
    acc += v[(top * 4 + l) & 1023];
    // a closure over the loop's own state, by reference and by value
    unsigned carry = l + 1, last = 0;
    acc += each(l & 7, 9 + (l >> 2), [&, n](unsigned i, unsigned r) {
        last = carry;
        carry = carry * 5 + n + i;
        return r + s[(carry * 2 + last) & 1023];
    });
    acc += v[(last * 8 + carry) & 1023];
    out[(blockIdx.x * T + t) & 1023] = acc;
}
