// launch 1 64 n=3
// Lanes leave a loop one after another; __syncwarp, shuffles and ballots of what is left.
extern "C" __global__ void k9660(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; unsigned t = threadIdx.x, l = t & 31, acc = 0; for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i; __syncthreads(); unsigned m = ~0u;
    for (unsigned i = 0; i < 5; i++) { bool go = l % (i + 2) != 1; m = __ballot_sync(m, go); if (!go) break; acc += s[__popc(m) * l & 1023]; __syncwarp(m); acc += s[__shfl_sync(m, l, __ffs(m) - 1) + l * 2]; acc += s[__match_any_sync(m, l / 4) & 1023]; acc += s[__reduce_max_sync(m, l) * i]; }
    acc += s[l * 4]; __syncwarp(); acc += s[l * 8]; if (l < n * 4) { unsigned k = __activemask(); acc += s[(k & 15) * l]; } __syncwarp(); int p; __match_all_sync(~0u, t / 32 + (l == 40), &p); acc += s[p * l * 16]; out[t] = acc;
}
