// launch 1 64 n=1
// launch 2 160 n=6
// launch 1 371 n=3
// Each lane waits for as many of four barriers as its index says (lanes of another warp arrive at them after unlike sleeps), then all lanes store vectors with conflicts.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(unsigned bar, unsigned count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory"); }
__device__ __forceinline__ void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory"); }
__device__ __forceinline__ bool passed(unsigned bar, unsigned parity) {
    unsigned ok;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(bar), "r"(parity) : "memory");
    return ok;
}
__device__ __forceinline__ void wait(unsigned bar, unsigned parity) {
    if (passed(bar, parity)) return;
    unsigned ns = 16;
    do { __nanosleep(ns); if (ns < 256) ns *= 2; } while (!passed(bar, parity));
}

extern "C" __global__ void k9975(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned long long go[4 * 5], done;
    __shared__ alignas(16) uint4 s[352 * 2];
    __shared__ unsigned plan[8];
    const unsigned t = threadIdx.x, warp = __shfl_sync(0xffffffffu, t / 32, 0), lane = t % 32, warps = (blockDim.x + 31) / 32;
    if (t < 4) init(sa(go + t * 5), 1);
    if (t == 4) init(sa(&done), warps - 1);
    if (t < 8) plan[t] = src[n * 45 + blockIdx.x * 21 + t * 19];
    for (unsigned i = t; i < 704; i += blockDim.x) s[i] = make_uint4(i, i + 1, i + 2, i + 3);
    __syncthreads();
    const unsigned rounds = 4 + plan[0] % 5;
    if (warp == warps - 1) {
        if (lane < 4)
            for (unsigned r = 0; r < rounds; r++) {
                wait(sa(&done), (r & 1) ^ 1);
                __nanosleep(150 * (lane * 3 + r & 3));
                arrive(sa(go + lane * 5));
            }
    } else {
        unsigned acc = t;
        for (unsigned r = 0; r < rounds; r++) {
            const unsigned parity = r & 1, last = plan[r & 7] & 1 ? lane & 3 : lane >> 3;
            for (unsigned j = 0; j < last; j++) {
                unsigned tries = 0;
                while (!passed(sa(go + j * 5), parity)) __nanosleep(16 + 16 * (tries++ & 3));
                acc += j;
            }
            s[t * (1 + (r & 1))] = make_uint4(acc, r, lane, acc ^ r);
            const unsigned which = lane % 7 & 3;
            for (;;) {
                if (passed(sa(go + which * 5), parity)) break;
                if (lane & 1) __nanosleep(30);
            }
            __syncwarp();
            acc += ((const unsigned*)s)[t * 4 * (1 + (r & 1)) + (acc & 3)] & 7;
            const uint4 v = s[(t ^ 3) * (1 + (r & 1))];
            acc += v.x ^ v.w;
            __syncwarp();
            ((unsigned*)s)[t * 8 + (r & 7)] = acc;
            // Whoever has not yet seen the last barrier waits for it before the warp says that it is through.
            if (lane % 4 == 3) while (!passed(sa(go + 15), parity)) __nanosleep(50);
            __syncwarp();
            if (lane < 4) while (!passed(sa(go + lane * 5), parity)) __nanosleep(25);
            __syncwarp();
            if (lane == 0) arrive(sa(&done));
            asm volatile("bar.sync 3, %0;" :: "r"((warps - 1) * 32) : "memory");
        }
        out[blockIdx.x * blockDim.x + t] = acc;
    }
}
