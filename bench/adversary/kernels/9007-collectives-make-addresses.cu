// launch 1 32 n=1
// launch 1 64 n=5
// launch 1 53 n=11
// Votes, matches, shuffles and reductions, in whole and in diverged warps, whose results are addresses.
__device__ __forceinline__ unsigned shuffled(unsigned v, unsigned lane, unsigned clamp, unsigned mask) {
    unsigned r; asm volatile("{ .reg .pred p; shfl.sync.idx.b32 %0|p, %1, %2, %3, %4; @!p add.u32 %0, %0, 100; }"
                             : "=&r"(r) : "r"(v), "r"(lane), "r"(clamp), "r"(mask)); return r;
}
extern "C" __global__ void k9007(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned all = __activemask();
    unsigned m = __match_any_sync(all, (t * n) % 7);
    acc += s[(__popc(m) * l) & 1023];
    int whole; unsigned e = __match_all_sync(all, t >> 5, &whole);
    s[(l * (whole + 1) + __popc(e)) & 1023] = acc;
    if (t % 3 != 1) {
        unsigned here = __activemask();
        acc += s[(__reduce_add_sync(here, l) + l * 2) & 1023];
        acc += s[(__reduce_max_sync(here, l ^ 5) * l) & 1023];
        acc += s[(__reduce_xor_sync(here, 1u << (l & 7)) + l * 3) & 1023];
        unsigned b = __ballot_sync(here, (l * 5 + n) & 4);
        acc += s[(__popc(b & ((1u << l) - 1)) * 4) & 1023];
        acc += s[(__shfl_up_sync(here, l * 9, 3) + l) & 1023 & (here == 0 ? 0u : 1023u)];
    } else {
        unsigned here = __activemask();
        s[(__shfl_xor_sync(here, l, 3, 8) * 0 + l * 2) & 1023] = __any_sync(here, l == 4);
    }
    __syncwarp(all);
    acc += s[shuffled(l * 33, l + 3, 0x1f, all) & 1023];
    acc += s[shuffled(l * 17, l * 5, 0x181f, all) & 1023];
    acc += s[__shfl_down_sync(all, l * 8, 5, 16) & 1023];
    acc += s[(__fns(all, 0, (int)(l % 5) + 1) * 32 + l) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
