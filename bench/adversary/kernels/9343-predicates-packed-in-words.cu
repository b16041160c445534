// launch 1 32 n=6
// launch 1 64 n=21
// launch 3 32 n=77
// Predicates packed into bytes and words, kept in shared memory, spread by ballots and shuffles, and unpacked later to decide who is active.
extern "C" __global__ void k9343(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned char packed[64]; __shared__ unsigned words[8], columns[32];
    unsigned t = threadIdx.x, l = t & 31, T = blockDim.x, acc = 0, p = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
#pragma unroll
    for (unsigned k = 0; k < 8; k++) p |= (unsigned)((t * (k + 3) + n) % (k + 2) == 1) << k;
    packed[t] = (unsigned char)p;
    for (unsigned k = 0; k < 4; k++) { unsigned v = __ballot_sync(~0u, p >> k & 1); if (l == k) words[(t >> 5) * 4 + k] = v; }
    __syncthreads();
    unsigned mine = packed[T - 1 - t], w = words[(t >> 5) * 4 + (l & 3)];
#pragma unroll
    for (unsigned k = 0; k < 8; k++) if (mine >> k & 1) acc += s[(t * (k + 1) + k * 64) & 1023];
    acc += s[(__popc(w & ((2u << l) - 1)) * 32 + l) & 1023];
    if (w >> l & 1) s[(t * 4) & 1023] = acc;
    unsigned bit = 0;
    for (unsigned row = 0; row < 32; row++) { unsigned v = __ballot_sync(~0u, (l * row + n) & 4); if (l == row) bit = v; }
    columns[l] = bit; __syncthreads();
    unsigned turned = 0; for (unsigned row = 0; row < 32; row += 5) turned |= (columns[row] >> l & 1) << row;
    acc += s[(turned ^ turned >> 7 ^ turned >> 20) & 1023];
    bool a = mine & 1, b = mine & 2, c = w & (1u << (l ^ 1)), d = (a && !b) || (c ^ a);
    unsigned ds = __ballot_sync(~0u, d);
    if (d && (__ballot_sync(ds, b) & 0x0FFFFFF0u)) acc += s[(l * 16) & 1023];
    unsigned sel = a ? b ? 3 : c ? 9 : 27 : c ? b ? 2 : 8 : 33;
    s[(l * sel) & 1023] = acc;
    unsigned word; asm volatile("{ .reg .pred p, q; setp.ne.u32 p|q, %1, 0; selp.u32 %0, 5, 1, p; @q add.u32 %0, %0, 2; vote.sync.ballot.b32 %0, p, 0xFFFFFFFF; }" : "=r"(word) : "r"(mine & 12));
    acc += s[(word >> (l & 7)) & 1023];
    for (unsigned left = mine; left; left >>= 1) if (left & 1) acc += s[(left * 8 + l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
