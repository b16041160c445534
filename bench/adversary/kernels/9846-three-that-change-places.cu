// launch 1 32 n=4
// launch 2 5x7x3 n=11
// launch 1 90 n=100
// launch 3 33 n=0
// Values carried over trips: rotations of three (registers and pointers), the trip before last, Fibonacci, gcd (by
// division and binary), xorshift, LCG of 64 bits, remainders by lane; first trips that see what no later trip sees.
extern "C" __global__ void k9846(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048], buf[3][512];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 2048; i += T) { s[i] = i * 11 & 2047; if (i < 1536) buf[i / 512][i % 512] = i; }
    __syncthreads();
    // Euclid, the remainders and quotients as addresses; cofactors are signed
    unsigned a = t * 30 + 84 + n, b = l * 18 + 48;
    int u0 = 1, u1 = 0;
    while (b) {
        unsigned q = a / b, r = a % b;
        int u2 = u0 - (int)q * u1;
        u0 = u1; u1 = u2;
        a = b; b = r;
        acc += s[(q * 32 + r) & 2047] + s[(unsigned)(u1 * 4 - (int)l) & 2047];
    }
    acc += s[(a * l) & 2047];
    // binary gcd with swap
    unsigned x = 3 * l + 1 + (n << 3), y = 105 + t, twos = 0;
    while (x != y) {
        if (!(x & 1) && !(y & 1)) { x >>= 1; y >>= 1; ++twos; }
        else if (!(x & 1)) x >>= __ffs(x) - 1;
        else if (!(y & 1)) y >>= 1;
        else {
            if (x < y) { x ^= y; y ^= x; x ^= y; }
            x = (x - y) / 2;
            acc += s[(x * 2 + y * 8) & 2047];
            if (!x) break;
        }
    }
    acc += s[(x * 4 + y * l + twos) & 2047];
    // three buffers change places; in some lanes only two do; last is of the trip before
    unsigned *p = buf[0], *q = buf[1] + l, *r = buf[2] + 2 * l, last = n, older = 1;
    for (unsigned k = 0; k < 7 + (l & 1); ++k) {
        unsigned at = (last + older * l) & 255;
        acc += p[at] + q[(at * 2) & 127];
        r[(k & 3) * 8] = at;
        older = last;
        last = k ? at + (l ^ k) : 500;
        unsigned* o = p;
        if ((l + k) % 3) { p = q; q = r; r = o; } else { p = r; r = o; }
    }
    __syncthreads();
    // Fibonacci by lane with a jump back; the pair is kept in one word of 64 bits
    unsigned long long fib = ((unsigned long long)(l + 1) << 32) | (n + 1);
    for (unsigned k = 0; k < 40; k += (unsigned)(fib >> 33 & 3) + 1) {
        unsigned lo = (unsigned)fib, hi = (unsigned)(fib >> 32);
        fib = ((unsigned long long)(lo + hi) << 32) | hi;
        acc += s[(hi ^ lo << 1) & 2047];
        if (hi > 100000) fib = fib >> 7 & 0x1ff000001ffull;
    }
    // xorshift whose shifts depend on the trip, and a 64-bit LCG whose high word counts
    unsigned xs = t * 2654435761u + 1;
    unsigned long long g = t + blockIdx.x;
    unsigned prev = 0;
    for (unsigned k = 0; k < 12 + (xs >> 29); ++k) {
        xs ^= xs << (13 - (k & 3)); xs ^= xs >> 17; xs ^= xs << (5 + (prev & 3));
        g = g * 6364136223846793005ull + 1442695040888963407ull;
        unsigned now = __umulhi(xs, 2048);
        acc += s[now] + s[(unsigned)(g % (l * 1000003ull + 64)) & 2047];
        if (prev > now) acc += s[(prev - now) * 2 & 2047];
        prev = now;
    }
    // carries of a chain of words, carried on to the next trip
    unsigned c0 = 0xfffffff0u + l, c1 = 0xffffffffu - (l & 1), c2 = l * 3;
    for (unsigned k = 0; k < 5; ++k) {
        asm volatile("add.cc.u32 %0, %0, %3;\n addc.cc.u32 %1, %1, %0;\n addc.u32 %2, %2, %2;"
                     : "+r"(c0), "+r"(c1), "+r"(c2) : "r"(l * 0x08000001u + k));
        acc += s[(c1 >> 3) & 2047] + s[c2 * 4 & 2047];
        unsigned o = c0; c0 = c1; c1 = c2; c2 = o;
    }
    // complement of the predicate of the trip before
    bool was = l & 2;
    unsigned w = l;
    for (unsigned k = 0; k < 9; ++k) {
        bool is = (w * 3 + k) % 5 < 2;
        if (was != is) w += 7; else if (!was) w = w * 2 + 1; else continue;
        was = !is;
        acc += s[(w * 16 + k) & 2047];
    }
    out[(blockIdx.x * T + t) & 1023] = acc + buf[2][t];
}
