// launch 2 64 n=20
// launch 1 96 n=36
// Four groups of lanes enter a loop at four places, with __syncwarp, shuffles and votes of the group's mask in it; what a neighbour wrote decides indices behind __syncwarp.
extern "C" __global__ void k10097(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1500], post[3 * 32], u[3 * 1024];
    const unsigned t = threadIdx.x, lane = t & 31, g = lane & 3, mask = 0x11111111u << g;
    volatile unsigned* const a = s + (t >> 5) * 1500;
    volatile unsigned* const b = u + (t >> 5) * 1024;
    volatile unsigned* const box = post + (t >> 5) * 32;
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x, acc = v, k = 0, turn, each;
    const unsigned most = 4 + n % 37;
    for (unsigned i = 0; i < 32; i++) b[i * 32 + lane] = i;
    box[lane] = v;
    __syncthreads();
    turn = src[(n + g) & 4095];
    if (g == 0) goto first;
    if (g == 1) goto second;
    if (turn & 1) goto third;
    goto fourth;
first:
    a[lane + 31 * k] = acc;
    v = v * 69069 + k + 1;
    if (v & 0x800) acc += b[32 * lane + (k & 31)];    // lanes of a group part here
    if (__any_sync(mask, (v >> 16 & 15) == 3)) goto third;
second:
    box[lane] = v;
    __syncwarp(mask);
    each = box[(lane + 4) & 31];
    __syncwarp(mask);
    acc += b[32 * lane + (each >> 3 & 31)];
    k++;
    if (__shfl_sync(mask, v, g + 4 * (k & 7)) & 0x100 && k < most) goto first;
third:
    v ^= __shfl_xor_sync(mask, v, 4) >> 3;
    for (unsigned i = v & 3; i; i--) acc ^= a[lane + 31 * (k + i)];
    if (__popc(__ballot_sync(mask, v & 0x40)) > 4) { k++; if (k < most) goto second; goto away; }
fourth:
    turn = turn * 1664525 + 1013904223;               // the same in the whole group
    if (v & 0x10) b[32 * lane + ((k + 5) & 31)] = acc;
    else a[lane + 31 * k] = acc + 1;
    k++;
    v += turn >> 7;
    __syncwarp(mask);
    if (k >= most || __all_sync(mask, v & 0x2000)) goto away;
    if ((turn >> 28 & 3) == 0) goto first;
    if ((turn >> 28 & 3) == 1) goto second;
    if ((turn >> 28 & 3) == 2) goto third;
    goto fourth;
away:
    acc += a[lane + 31 * k];
    __syncwarp();
    acc += a[lane + 31 * k] + __shfl_xor_sync(~0u, k, 1);
    out[blockIdx.x * 96 + t] = acc + v;
}
