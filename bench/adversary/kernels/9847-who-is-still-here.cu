// launch 1 128 n=4
// launch 2 5x7x3 n=9
// launch 1 100 n=30
// launch 1 37 n=1
// Lanes and whole warps that leave: odd warps before a barrier that counts the others, lanes from inside loops, by a
// guarded exit in PTX; masks of votes and shuffles that name the dead; ranks among those that are left.
extern "C" __global__ void k9847(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048], z[1024];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, w = t >> 5, W = (T + 31) / 32, acc = 0;
    unsigned mine = (blockIdx.x * T + t) & 1023;
    for (unsigned i = t; i < 2048; i += T) { s[i] = i * 2; z[i & 1023] = 0; }
    __syncthreads();
    // one warp at a time, each with the sum of those before it
    for (unsigned k = 0; k < W; ++k) {
        if (w == k && (l != 7 || k)) {
            unsigned at = z[k] * 2 + l * (k + 1);
            acc += s[at & 2047];
            if (l == 0) z[k + 1] = z[k] + k * 3 + 1;
        }
        __syncthreads();
    }
    acc += s[(z[W] * l + w) & 2047];
    __syncthreads();
    // odd warps leave, and so does the one that is not full; the others meet at a barrier of their own
    unsigned full = T / 32, stay = (full + 1) / 2;
    if ((w & 1) || w >= full) {
        if (l & 1) { __nanosleep(40); acc += s[(l * 4) & 2047]; }
        out[mine] = acc + s[(l * l + n) & 2047];
        return;
    }
    for (unsigned k = 0; k < 3; ++k) {
        z[(t + k * 32 + 64 * (k & 1)) & 1023] = t * k;
        asm volatile("bar.sync 1, %0;" : : "r"(stay * 32) : "memory");
        acc += s[(z[(t ^ 1) + k * 32 + 64 * (k & 1)] * 2 + k) & 2047];
        asm volatile("bar.sync 1, %0;" : : "r"(stay * 32) : "memory");
    }
    // lanes leave from the loop, each at its own trip; the last trips run with few
    unsigned x = l * 3 + n;
    for (unsigned k = 0; k < 20; ++k) {
        acc += s[(x * 4 + k) & 2047];
        x = (x * 5 + 3) & 511;
        if (k > 2 && x % 23 == k) { out[mine] = acc; return; }
        if (x & 64) continue;
        if (x % 19 == k + 1) break;
        acc += s[(x + l * k) & 2047];
    }
    __syncwarp();
    unsigned here = __ballot_sync(~0u, 1), rank = __popc(here & ((1u << l) - 1));
    acc += s[(rank * 32 + 3) & 2047];
    acc += s[(rank * __popc(here)) & 2047];
    // the next that lives; the dead are named in the mask
    unsigned above = here & (~1u << l), from = __ffs(above ? above : here) - 1;
    unsigned y = __shfl_sync(~0u, x, from);
    acc += s[(y * 8) & 2047];
    // a guarded exit for some of them, without a branch
    out[mine] = acc;
    asm volatile("{\n .reg .pred p, q;\n setp.lt.u32 p, %0, 9;\n setp.eq.and.u32 q, %1, 0, p;\n @q exit;\n}"
                 : : "r"(rank), "r"(rank & 1) : "memory");
    here = __ballot_sync(~0u, 1);
    rank = __popc(here & ((1u << l) - 1));
    acc += s[(rank * 16 + from) & 2047];
    // those that are left take turns from the highest down, and leave as they are served
    for (unsigned left = here; left; left &= ~(0x80000000u >> __clz(left))) {
        unsigned top = 31 - __clz(left);
        if (l == top && (l & 3)) { z[(l * 2 + rank) & 1023] = y; out[mine] = acc + s[(rank * 64 + l) & 2047]; return; }
        acc += s[(l * (top & 3) * 2) & 2047];
    }
    unsigned any = __any_sync(~0u, l > 16) ? 8 : 2, all = __all_sync(~0u, !(l & 3)) ? 4 : 1;
    acc += s[(l * any + all) & 2047] + s[(l * all) & 2047];
    out[mine] = acc;
}
