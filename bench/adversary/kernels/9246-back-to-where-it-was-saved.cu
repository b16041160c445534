// launch 1 32 n=3
// launch 2 64 n=5
// launch 1 43 n=2
// setjmp without setjmp: a saved context is restored by lane when a nested call reports failure; retries change the path taken.
struct Context { unsigned a, b, tries, label; };
__device__ __noinline__ unsigned attempt(Context* at, unsigned* s, const unsigned* q, unsigned l, unsigned deep) {
    at->a += q[(l + deep * 8) & 1023];
    s[(l * 2 + deep * 32) & 1023] = at->a;
    if (at->a % 7 == at->tries) return deep + 1;
    if (deep < 3) { unsigned r = attempt(at, s, q, l + 1, deep + 1); if (r) return r; at->b++; }
    else if (at->b & 1) return 9;
    s[(l * 4 + at->b) & 1023] = deep;
    return 0;
}
extern "C" __global__ void k9246(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 13 + 5) & 31; }
    __syncthreads();
    Context now = { l & 3, 0, 0, 0 }, saved[3];
    for (unsigned i = 0; i < 3; i++) saved[i] = now;
    unsigned jumps = 0;
again:
    switch (now.label) {
    case 0: saved[0] = now; if (attempt(&now, s, q, l, 0)) { now.tries++; if (now.tries < 3) { Context was = saved[0]; was.tries = now.tries; was.label = 1; now = was; jumps++; goto again; } }
    case 1: saved[1] = now; now.b += n; acc += s[(l * (now.b & 7)) & 1023];
            if (unsigned r = attempt(&now, s, q, l * 2, 2)) { if (++jumps < 6) { unsigned keep = now.tries + 1; now = saved[r % 2]; now.tries = keep; now.label = r > 3 ? 2 : 1; goto again; } }
    case 2: s[(l * 8 + jumps) & 1023] = now.a; if (jumps++ < 4 && (now.a & 1)) { now.a >>= 1; now.label = jumps & 1 ? 2 : 1; goto again; }
    }
    acc += s[(l * jumps) & 1023];
    s[(l * (now.a & 31) + now.b) & 1023] = jumps;
    acc += s[(saved[1].a * 4 + l) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
