// launch 2 96 n=700
// launch 1 128 n=11
// launch 3 32 n=2
// Loops in which lanes return from the kernel (by lane, by data, in a nest), others go on in do-whiles with counters that they change, then meet at __syncthreads with their mates gone; ldmatrix while all are still there.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k10030(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(128) unsigned tab[32 + 31 * 48];
    __shared__ alignas(16) uint4 quads[32 + 7 * 24];
    const unsigned t = threadIdx.x, lane = t & 31, cell = (blockIdx.x * blockDim.x + t) & 4095;
    for (unsigned i = t; i < 32 + 31 * 48; i += blockDim.x) tab[i] = i * 3;
    for (unsigned i = t; i < 32 + 7 * 24; i += blockDim.x) quads[i] = make_uint4(i, i + 1, i * 2, i * 5);
    __syncthreads();
    unsigned acc = 0, a = 0, b = 0, c = 0, d = 0;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(sa(quads + lane)) : "memory");
    acc += a ^ b ^ c ^ d;
    const unsigned own = src[(t * 11 + n + blockIdx.x * 5) & 4095];
    for (unsigned r = 0; r < 14; r++) {
        acc += tab[lane + 31 * r];
        if ((own >> 1) % 19 == r) { out[cell] = acc + tab[lane + 31 * (r + 1)]; return; }
        if ((lane + r) % 4 == 3) { acc ^= quads[lane + 7 * r].z; continue; }
        unsigned k = lane & 3;
        do {
            acc += tab[lane + 31 * (r + k)];
            if (lane == 21 && r == 6) return;
            if ((acc >> 1) % 5 == k % 5) break;
            k += 1 + ((own >> k) & 1);
        } while (k < 7);
        if (k >= 8) { r++; continue; }
        if (src[(t * 3 + r * 99) & 4095] % 31 == 30) { out[cell] = acc; return; }
        acc += quads[lane + 7 * r].x;
    }
    for (unsigned r = own & 3; ; r += 1 + (lane & 1)) {
        acc += tab[lane + 31 * (r - (own & 3))];
        if (r > 12) break;
        if (r == 9 && lane % 11 == 4) { out[cell] = acc * 3; return; }
        if (r & 2) continue;
        acc ^= 9;
    }
    __syncthreads();
    acc += tab[t] + quads[lane].w;
    out[cell] = acc;
}
