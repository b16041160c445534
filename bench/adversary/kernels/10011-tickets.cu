// launch 1 32 n=2
// launch 2 96 n=45
// launch 2 128 n=1111
// Atomics whose results are indices: tickets under a guard from src, atomicInc and atomicDec that wrap (once from above the limit), CAS loops, exchange chains, push and pop; which lane gets which is open, the set of addresses in a warp is not.
extern "C" __global__ void k10011(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[33 * 32], cnt[4 * 8], stack[4][33], turn[4], top, taken[128];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5;
    unsigned* const c = cnt + warp * 8;
    for (unsigned i = t; i < 33 * 32; i += blockDim.x) s[i] = i * 5;
    for (unsigned i = t; i < 128; i += blockDim.x) taken[i] = i;
    for (unsigned i = t; i < 32; i += blockDim.x) cnt[i] = i % 8 == 2 ? 9 : i % 8 == 3 ? 1 : i % 8 == 4 ? 32 : 0;
    for (unsigned i = t; i < 4 * 33; i += blockDim.x) stack[i / 33][i % 33] = 0;
    if (t == 0) top = src[n & 4095] & 3;
    __syncthreads();
    const unsigned v = src[(t * 7 + n) & 4095];
    unsigned acc = 0;
    if (v & 1) {
        const unsigned ticket = atomicAdd(c, 1);
        acc += s[ticket * 32];
        if (ticket >= 3) acc += s[1];
        acc ^= s[ticket & ~7u];
    }
    __syncwarp();
    const unsigned total = c[0];
    if (lane < total) acc += s[lane * 32];
    for (unsigned i = 0; i < total / 5; i++) acc += s[(lane << i) & 1023];
    const unsigned inc = atomicInc(c + 1, 6 + (src[n & 4095] & 1));
    acc += s[inc * 32];
    const unsigned dec = atomicDec(c + 2, 4);
    acc += s[dec * 32];
    if (dec > 4) acc += s[5];
    acc += s[(inc >= 7 ? 7 : 0) * 32];
    __syncwarp();
    acc += s[c[1] * 32 + (lane & 1)] + s[c[2] * lane & 1023];

    unsigned old = *(volatile unsigned*)(c + 3), seen;
    __syncwarp();
    do {
        seen = old;
        old = atomicCAS(c + 3, seen, seen + 1);
    } while (old != seen);
    acc += s[seen * 32 & 1023];
    __syncwarp();
    const unsigned before = atomicExch(c + 4, lane);
    acc += s[before * 32];
    if (before == 32) acc += s[7];
    __syncwarp();

    if (v & 2) stack[warp][atomicAdd(c + 5, 1)] = 31;
    __syncwarp();
    const unsigned pushed = c[5];
    acc += s[stack[warp][lane] * 32 + (lane & 7)];
    __syncwarp();
    if (lane < pushed - pushed / 3) {
        const unsigned pop = atomicSub(c + 5, 1) - 1;
        acc += s[pop * 32];
        stack[warp][pop] = 1;
    }
    __syncwarp();
    acc += s[stack[warp][lane] * lane & 1023] + s[c[5] * 32];
    const int least = atomicMin((int*)c + 6, -(int)(v & 7));
    __syncwarp();
    acc += s[512 + (int)c[6] * 33] + (least > 0 ? s[lane * 32] : 0);
    const unsigned high = atomicMax(c + 7, 8);
    acc += s[high * 4];
    __syncwarp();

    for (unsigned w = 0; w < warps; w++) {
        if (warp == (w + n) % warps && lane == 0) turn[warp] = atomicAdd(&top, src[(n + w * 3) & 4095] % 7 + 1);
        __syncthreads();
    }
    acc += s[turn[warp] * 32];
    acc += s[(turn[warp] * (lane + 1)) & 1023];
    acc += s[(turn[(warp + lane) % warps] & 31) * 32];
    const unsigned mates = __match_any_sync(~0u, v % 3), lead = __ffs(mates) - 1;
    unsigned from = 0;
    __syncthreads();
    if (lane == lead) from = atomicAdd(taken + warp * 4 + v % 3, __popc(mates));
    from = __shfl_sync(~0u, from, lead) + __popc(mates & ((1u << lane) - 1));
    acc += s[from * 32 & 1023];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
