// launch 2 64 n=20
// launch 1 96 n=47
// Coroutines by switch, resumed inside loops: one kind called and one inlined, two of each a lane, resumed in a loop with two doors in an order that differs by lane.
struct Co { unsigned at, i, j, v; };
__device__ __forceinline__ unsigned body(Co& c, volatile unsigned* a, volatile unsigned* b, unsigned lane) {
    switch (c.at) {
    case 0:
        for (c.i = 0; c.i < 30; c.i++) {
            a[lane + 31 * c.i] = c.v;
            c.at = 1;
            return c.v >> 3;
    case 1:
            c.j = c.v >> 11 & 3;
            while (c.j) {
                b[32 * lane + ((c.i + c.j) & 31)] += c.v;
                if (c.v & 64) { c.at = 2; return c.j; }
    case 2:
                c.v = c.v * 69069 + 7;
                c.j--;
                if ((c.v >> 20 & 7) == 5) break;
            }
            if (c.v & 0x1000) continue;
            c.at = 3;
            return c.v >> 7;
    case 3:
            c.v += a[lane + 31 * c.i] * 0 + 12345 + c.i;
        }
        c.at = 4;
    default:
        return b[32 * lane + (c.i & 31)] | 1u << 31;
    }
}
__device__ __noinline__ unsigned step(Co* c, volatile unsigned* a, volatile unsigned* b, unsigned lane) { return body(*c, a, b, lane); }

extern "C" __global__ void k10093(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1100], u[3 * 1024];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned *const a = s + (t >> 5) * 1100, *const b = u + (t >> 5) * 1024;
    for (unsigned i = 0; i < 32; i++) b[i * 32 + lane] = i;
    __syncthreads();
    const unsigned own = src[(t * 3 + n) & 4095] + blockIdx.x;
    Co p = {0, 0, 0, own}, q = {0, 0, 0, own * 7}, x = {0, 0, 0, own ^ 99}, y = {(own & 1) * 2, 0, 2, own + 5};
    unsigned k = 0, acc = 0;
    if (own & 2) goto second;
first:
    acc += step(&p, a, b, lane);
    if (p.v & 32) acc ^= body(x, a, b, lane);
    if ((p.v >> 9) % 3 == 0 && k < n) { k++; goto first; }
second:
    acc = acc * 3 + body(y, a, b, lane);
    if (y.v & 16) acc += step(&q, a, b, lane);
    k++;
    if (k >= n || p.at == 4 || y.at == 4) goto away;
    if (q.v & 256) goto second;
    goto first;
away:
    acc += step(q.v & 1 ? &p : &q, a, b, lane);
    out[blockIdx.x * 96 + t] = acc + x.v + k;
}
