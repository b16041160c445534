// launch 1 32 n=6
// launch 2 64 n=9
// launch 1 31 n=4
// Protothreads: each lane keeps three suspended routines in a local array and resumes one per round, chosen by data.
struct Task { unsigned line, i, j, value; };
__device__ __forceinline__ void acc_(unsigned* s, unsigned l, unsigned i) { s[(l * 2 + i) & 1023] += i; }
#define BEGIN switch (x.line) { case 0:
#define YIELD(v) do { x.value = (v); x.line = __LINE__; return true; case __LINE__:; } while (0)
#define END } x.line = 0; return false
__device__ bool first(Task& x, unsigned* s, const unsigned* q, unsigned l) {
    BEGIN;
    for (x.i = 0; x.i < 2 + (l & 1); x.i++) {
        acc_(s, l, x.i); YIELD(q[(l * 2 + x.i) & 1023] + x.i);
        for (x.j = x.i; x.j < 2; x.j++) { s[(l * 4 + x.j * 32) & 1023] = x.i;
            YIELD(x.j); }
    }
    END;
}
__device__ bool second(Task& x, unsigned* s, unsigned l) {
    BEGIN;
    x.i = l & 3;
    while (x.i) { x.i--;
        YIELD(x.i * 5); }
    s[(l * 8) & 1023] = x.value;
    YIELD(7);
    END;
}
extern "C" __global__ void k9207(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 3 + (k >> 5)) & 1; }
    __syncthreads();
    Task own[3] = {}; unsigned ended = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned k = (q[(l * 7 + i) & 1023] + i * l) % 3;
        Task& x = own[k];
        bool more = k == 1 ? second(x, s, l) : first(x, s, q, l + k);
        if (!more) { ended++; s[(l + ended * 64) & 1023] = i; continue; }
        acc += s[(l * (x.value & 7)) & 1023];
    }
    s[(l * (own[0].i + own[1].i * 2 + own[2].j * 4)) & 1023] = acc;
    if (ended) acc += s[(l * ended) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
