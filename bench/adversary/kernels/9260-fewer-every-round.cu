// launch 1 32 n=3
// launch 2 64 n=6
// launch 1 50 n=4
// Lanes return from the kernel round by round; those left count, elect and rank themselves, and a barrier waits for all that remain.
extern "C" __global__ void k9260(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 27 + 11) & 31; }
    __syncthreads();
    __shared__ unsigned left[8];
    if (t < 8) left[t] = 5;
    __syncthreads();
    unsigned first = __popc(__activemask());
    for (unsigned i = 0; i < n; i++) {
        unsigned m = __activemask(), rank = __popc(m & ((1u << l) - 1));
        acc += s[(rank * (i + 2)) & 1023];
        if ((l * 3 + i) % 8 == 5 && i != 1) { s[(l * 4 + i * 32) & 1023] = i; out[(blockIdx.x * nt + t) & 2047] = acc; return; }
        unsigned here = __activemask();
        if (__popc(here) * 2 < first) { s[(rank * 32) & 1023] = here; break; }
        if (rank == 0) left[w & 7] = __popc(here);
        __syncwarp(here);
        acc += s[(l * left[w & 7]) & 1023];
        if (q[left[w & 7] + i] & 1) { unsigned up = __shfl_up_sync(here, rank, 1); if (here >> ((l + 31) & 31) & 1) s[(up * 8) & 1023] = i; }
        else if (__all_sync(here, rank < 16)) acc += s[(l * 16) & 1023];
    }
    __syncthreads();
    unsigned count = __syncthreads_count(true);
    acc += s[(l * (count & 31)) & 1023];
    if (count & 1) { if (l & 1) { s[(l * 6) & 1023] = acc; asm volatile("exit;"); } }
    else if (w == 1) { out[(blockIdx.x * nt + t) & 2047] = acc; return; }
    __syncthreads();
    unsigned m = __activemask();
    s[(__popc(m & ((1u << l) - 1)) * 2 + __popc(m)) & 1023] = acc;
    unsigned c2 = __syncthreads_count(l & 2);
    acc += s[(l * c2) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
