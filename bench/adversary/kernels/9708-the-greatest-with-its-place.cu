// launch 1 64 n=3
// launch 1 160 n=9
// Reductions of pairs: the greatest value with the least place among equals, by shuffles of both halves; then a new round.
struct Pair { unsigned value; int place; };
__device__ Pair better(Pair a, Pair b) { return a.value > b.value || (a.value == b.value && a.place < b.place) ? a : b; }
extern "C" __global__ void k9708(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ Pair best[8];
    __shared__ int winner;
    Pair mine = {src[t * n & 1023] & 63, (int)t};
    for (unsigned round = 0; round < n; round++) {
        Pair p = mine;
        for (int d = 16; d; d >>= 1) p = better(p, Pair{__shfl_xor_sync(~0u, p.value, d), __shfl_xor_sync(~0u, p.place, d)});
        if (l == 0) best[w] = p;
        __syncthreads();
        if (w == 0) {
            p = l < T / 32 ? best[l] : Pair{0, 1 << 30};
            for (int d = 4; d; d >>= 1) p = better(p, Pair{__shfl_down_sync(~0u, p.value, d), __shfl_down_sync(~0u, p.place, d)});
            if (l == 0) winner = p.place;
        }
        __syncthreads();
        int k = winner;
        if ((int)t == k) mine.value = 0;
        acc += s[(l * k) & 1023] + s[(l * mine.value) & 1023];
        if (k & 1) acc += s[(t * 2 + k) & 1023];
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
