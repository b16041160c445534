// launch 1 64 n=6
// launch 1 35 n=13
// launch 2 32 n=20
// Stacks, insertion sorts and queues in local memory, with a depth and a number of trips that differ by lane.
extern "C" __global__ void k9620(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    unsigned stack[32], top = 0, sorted[16]; unsigned short queue[16]; unsigned head = 0, tail = 0;
    for (unsigned i = 0; i < (t & 7) + n / 2; i++) stack[top++ & 31] = i * t;
    while (top > (t & 3)) { acc += stack[--top & 31]; if (acc & 1 && t & 8) break; }
    for (unsigned i = 0; i < 12; i++) { unsigned v = src[(g * 12 + i) & 1023], j = i; while (j > 0 && sorted[j - 1] > v) { sorted[j] = sorted[j - 1]; j--; } sorted[j] = v; }
    for (unsigned i = 0; i < n; i++) { queue[tail++ & 15] = (unsigned short)(i + t); if ((i + t) % 3 == 0) acc += queue[head++ & 15]; }
    for (unsigned i = t & 15; i < 12; i += 3) acc += sorted[i];
    out[g] = acc + queue[t & 15 & (n - 1)] + stack[t & 3];
}
