// launch 1 128 n=1
// launch 2 64 n=2
// launch 1 100 n=3
// bar.sync with barrier number and count from registers: pairs of warps, then other pairs, then one barrier per warp in loops by warp.
__device__ __forceinline__ void meet(unsigned id, unsigned count) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory"); }
extern "C" __global__ void k9224(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned box[128];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned warps = (nt + 31) / 32;
    for (unsigned k = t; k < 128; k += nt) box[k] = k & 7;
    __syncthreads();
    box[t] = l * 2 + w;
    meet(1 + (w >> 1), 64);
    unsigned mate = box[(t ^ 32) & 127];
    acc += s[(mate * 4) & 1023];
    meet(1 + (w >> 1), 64);
    if (warps == 4) {
        box[t] = mate + (w & 1);
        meet(5 + (w & 1), 64);
        unsigned far = box[t ^ 64];
        s[(far * 3 + l) & 1023] = w;
        meet(5 + (w & 1), 64);
        acc += s[(box[(t ^ 64) & ~31u | (l & 16)] * l) & 1023];
        meet(5 + (w & 1), 64);
    }
    for (unsigned i = 0; i < w + n; i++) {
        box[t] = (l * (i + 2)) & 31;
        meet(8 + w, 32);
        unsigned v = box[(t & ~31u) | ((l + i) & 15)];
        acc += s[(v * 8 + i) & 1023];
        if (w & 1) meet(8 + w, 32);
        else __syncwarp();
    }
    asm volatile("barrier.sync.aligned 15, %0;" :: "r"(warps * 32) : "memory");
    s[(l * (box[(t + 32) % nt] & 15)) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
