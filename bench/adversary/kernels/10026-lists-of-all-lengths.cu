// launch 2 96 n=700
// launch 1 128 n=2
// launch 1 61 n=40
// Linked lists in shared memory, one a lane: lengths and orders differ, the next list starts when one's own is done (no barrier), nodes are unlinked in a walk, and the walk's count picks the row of a table.
extern "C" __global__ void k10026(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned next[16 * 159], tab[32 + 31 * 64];
    const unsigned t = threadIdx.x, lane = t & 31, none = 16;
    for (unsigned i = t; i < 32 + 31 * 64; i += blockDim.x) tab[i] = i * 3 + 2;
    // each lane's 16 nodes: from r to r + 1, but every lane skips other ones and stops elsewhere
    for (unsigned r = 0; r < 16; r++) {
        const unsigned skip = 1 + ((src[(t * 3 + r * 70 + n) & 4095] >> 1) % 5 == 4), to = r + skip;
        next[r * 159 + t] = to > 8 + (lane & 7) ? none : to;
    }
    __syncthreads();
    unsigned acc = t, walked = 0;
    for (unsigned list = 0; list < 3; list++) {
        unsigned at = list, before = none;
        while (at != none) {
            const unsigned to = next[at * 159 + t];
            acc += tab[lane + 31 * walked];
            walked++;
            if ((acc + at) % 4 == 1 && before != none) { next[before * 159 + t] = to; at = to; continue; }
            acc ^= tab[lane + 31 * (at + list)];
            if (acc % 17 == 16) break;
            before = at;
            at = to;
        }
        if (at != none) { acc++; if (lane & 4) continue; acc += tab[lane + 31 * at]; }
        acc += next[(walked & 15) * 159 + t];
    }
    // a walk to the end of a chain that all lanes share, from the place where each stopped
    unsigned p = lane + 31 * walked, hops = 0;
    while (p >= 40 && hops < 30) { acc += tab[p]; p -= (acc & 1) ? 31 : 62 > p ? p : 62; hops++; }
    acc += tab[lane + 31 * hops];
    __syncthreads();
    acc += next[159 * 2 + blockDim.x - 1 - t];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
