// launch 1 96 n=1
// launch 2 128 n=2
// launch 1 77 n=0
// Whole warps and single lanes exit between barriers of several kinds; those that stay count themselves, by barriers and by ballots.
extern "C" __global__ void k9238(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    __shared__ unsigned seen[4];
    if (t < 4) seen[t] = 0;
    __syncthreads();
    acc += s[(l * 2) & 1023];
    if (w == 1 + (n & 1) && l != 3) { out[t] = acc; return; }
    if (w == 0 && (l & 7) == n) { s[(l * 4) & 1023] = 1; out[t] = acc; return; }
    __syncthreads();
    unsigned c = __syncthreads_count(1);
    acc += s[(l * c) & 1023];
    unsigned here = __ballot_sync(__activemask(), 1);
    s[(l * __popc(here)) & 1023] = c;
    if (__popc(here) == 1) { acc += s[(c * 33) & 1023]; __syncthreads(); s[c & 1023] = acc; out[t] = acc; return; }
    unsigned rank = __popc(here & ((1u << l) - 1));
    if (l == (unsigned)__ffs(here) - 1) atomicAdd(&seen[w & 3], __popc(here));
    __syncthreads();
    acc += s[(rank * seen[w & 3]) & 1023];
    for (unsigned i = 0; i < 3; i++) {
        if (rank % 3 == i && (w & 1)) break;
        acc += s[(rank * 8 + i) & 1023];
        __syncwarp(__activemask());
    }
    if (!__syncthreads_or(rank > 25 && n)) return;
    s[(rank * 16 + w) & 1023] = acc;
    if (w) { __syncthreads(); acc += s[(l * 5) & 1023]; } else { if (rank & 1) { out[t] = acc; return; } __syncthreads(); acc += s[(l * 6) & 1023]; }
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
