// launch 1 64 n=2
// launch 2 128 n=7
// launch 1 140 n=5
// In each round other lanes of a warp spin at an mbarrier (nanosleep) while the rest wait to meet them; then all store with conflicts. Nothing but the branch makes them meet.
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

extern "C" __global__ void k9974(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned long long go[2], done[2];
    __shared__ unsigned s[128 * 8], mail[2], rounds_of_all;
    const unsigned t = threadIdx.x, warp = t / 32, lane = t % 32, warps = (blockDim.x + 31) / 32;
    if (t < 2) { init(sa(go + t), 1); init(sa(done + t), warps - 1); }
    if (t == 0) rounds_of_all = 5 + src[n * 111 + blockIdx.x] % 6;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    const unsigned rounds = rounds_of_all;
    if (warp == warps - 1) {
        if (lane == 0)
            for (unsigned r = 0; r < rounds; r++) {
                wait(sa(done + (r & 1)), (r >> 1 & 1) ^ 1);
                mail[r & 1] = src[r * 99 + n];
                __nanosleep(300 + 200 * (r % 3));
                arrive(sa(go + (r & 1)));
            }
        return;
    }
    unsigned acc = lane;
    for (unsigned r = 0; r < rounds; r++) {
        const unsigned bar = sa(go + (r & 1)), parity = r >> 1 & 1, many = 1u << r % 4;
        if (((lane ^ r) & 5) == 1) {
            if (!passed(bar, parity)) {
                unsigned ns = 20;
                do { __nanosleep(ns); ns += 10; } while (!passed(bar, parity));
            }
            acc += mail[r & 1];
        }
        s[t * many] = acc + r;
        if (lane % 8 < 3 + (r & 3)) {
            acc ^= s[t * many] << 1;
        } else {
            while (!passed(bar, parity)) __nanosleep(40);
            acc += 5;
        }
        *(uint2*)(s + (t * many & ~1u)) = make_uint2(r, r + 1);
        __syncwarp();
        acc += s[(t ^ 1) * many] + s[(t & ~31u) * many + (acc & 31)];
        __syncwarp();
        if (lane == 0) arrive(sa(done + (r & 1)));
        asm volatile("bar.sync 1, %0;" :: "r"((warps - 1) * 32) : "memory");
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
