// launch 1 64 n=3
// launch 1 51 n=20
// launch 2 32 n=7
// Addresses from shuffles, ballots, prefix sums, matches, reductions and ranks among active lanes; compacted stores.
extern "C" __global__ void k9633(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, lane = t & 31, m = __activemask(), acc = 0, below = m & ((1u << lane) - 1);
    unsigned v = src[g]; acc += src[__shfl_sync(m, t * 3, lane ^ 5) & 1023] + src[__shfl_up_sync(m, t, 3) * 4] + src[__shfl_down_sync(m, t, n & 31) * 2];
    unsigned odd = __ballot_sync(m, v & 1), even = m & ~odd; acc += src[__popc(odd & below) * 9] + src[__ffs(odd | 1) + t];
    if (v & 1) out[1000 + (g & ~31u) + __popc(odd & below)] = v; else ((uint2*)out)[1000 + __popc(even & below) * 2] = make_uint2(v, t);
    unsigned sum = t & 3; for (unsigned d = 1; d < 32; d <<= 1) { unsigned o = __shfl_up_sync(m, sum, d); if (lane >= d) sum += o; } acc += src[sum]; out[4096 + sum * 3] = acc;
    unsigned same = __match_any_sync(m, t % n); acc += src[__popc(same) * 8 + __popc(same & below)] + src[__reduce_max_sync(m, t) + lane] + src[__reduce_add_sync(m, lane & 1) * lane];
    if (__any_sync(m, v > 1000)) acc += src[t * 5]; if (__all_sync(m, t < 64)) acc += src[t * 6];
    if (v % 3 == 0) { unsigned a = __activemask(); acc += src[2000 + __popc(a & ((1u << lane) - 1))]; }
    out[8192 + g] = acc;
}
