// launch 1 32 n=3
// launch 2 64 n=9
// launch 1 53 n=6
// Leaders by elect.sync, lowest and highest set bit and by the barrier's mask; they alone load or store, and the rest follow by shuffle.
__device__ __forceinline__ bool elect(unsigned mask, unsigned& who) { unsigned p; asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(who), "=r"(p) : "r"(mask) : "memory"); return p; }
extern "C" __global__ void k9232(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 7 + 2) & 63; }
    __syncthreads();
    unsigned full = __ballot_sync(__activemask(), true), who, slot = 0;
    if (elect(full, who)) { slot = q[who + n]; s[(slot * 32) & 1023] = who; }
    slot = __shfl_sync(full, slot, who);
    acc += s[(l * slot) & 1023];
    for (unsigned i = 0; i < 3; i++) {
        bool in = (l * 5 + n + i) % 3 == 0;
        unsigned group = __ballot_sync(full, in);
        if (in) {
            unsigned top = 31 - __clz(group), low = __ffs(group) - 1, a = 0, b = 0;
            if (l == top) a = q[(l * 3 + i) & 1023];
            if (l == low) { b = q[l + 64]; s[(b * 2) & 1023] = i; }
            a = __shfl_sync(group, a, top); b = __shfl_sync(group, b, low);
            acc += s[(l * (a & 15) + b) & 1023];
            if (elect(group, who)) acc += s[(who * 4) & 1023]; else s[(l * (b & 7)) & 1023] = a;
        } else if (l == __ffs(full & ~group) - 1) s[(l * 8 + i) & 1023] = group;
        __syncwarp(full);
    }
    unsigned left = full;
    while (left) {
        unsigned lead = 31 - __clz(left);
        unsigned same = __ballot_sync(full, (q[l] & 3) == (__shfl_sync(full, q[l], lead) & 3)) & left;
        if (l == lead) s[(__popc(same) * 33) & 1023] = same;
        if (same >> l & 1) acc += s[(l * __popc(same)) & 1023];
        left &= ~same;
    }
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
