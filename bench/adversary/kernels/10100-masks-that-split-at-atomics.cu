// launch 2 64 n=20
// launch 1 96 n=37
// Atomics on shared memory in a loop that groups from __match_any_sync enter at different doors; the groups split by votes, and every part goes on alone in the loop.
__device__ __noinline__ unsigned mix(unsigned v, unsigned* a, unsigned lane, unsigned depth) {
    unsigned i = depth & 1;
    if (v & 1) goto half;
    while (i < 3) {
        atomicXor(&a[lane + 31 * (depth + i)], v);
        if (depth && (v >> i & 6) == 4) v = mix(v >> 1, a, lane, depth - 1) | 1;
half:
        v = v * 69069 + i;
        i++;
    }
    return v;
}
extern "C" __global__ void k10100(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1440], u[3 * 1024];
    __shared__ unsigned long long pairs[3 * 660];
    const unsigned t = threadIdx.x, lane = t & 31, me = 1u << lane;
    unsigned *const a = s + (t >> 5) * 1440, *const b = u + (t >> 5) * 1024 + 32 * lane;
    unsigned long long* const p = pairs + (t >> 5) * 660;
    const unsigned own = src[(t * 5 + n) & 4095] + blockIdx.x, most = 3 + ((own >> 9) + n) % 38;
    unsigned v = own, acc = 0, k = 0, mask = __match_any_sync(~0u, own >> 4 & 3), vote;
    for (unsigned i = 0; i < 32; i++) { a[i * 32 + lane] = i; b[(i + lane) & 31] = t; }
    for (unsigned i = 0; i < 20; i++) p[i * 32 + lane] = i;
    __syncthreads();
    if ((own >> 4 & 3) == 1) goto swap;
    if ((own >> 4 & 3) == 2) goto add;
    if ((own >> 4 & 3) == 3) { v = mix(v, a, lane, 3); goto latch; }
top:
    acc += atomicAdd(&a[lane + 31 * k], v);
    v = v * 1664525 + 1013904223;
    vote = __ballot_sync(mask, v >> 31);
    mask &= vote & me ? vote : ~vote;
    if (vote & me) goto add;
swap:
    acc ^= (unsigned)atomicExch(&p[lane + 15 * k], (unsigned long long)v << 7);
    if (v & 0x400) v = mix(v, a, lane, 2);             // within a group: some lanes only
    __syncwarp(mask);
add:
    atomicMax(&b[k & 31], v);
    acc += atomicCAS(&b[(k + 9) & 31], v, k);
    k++;
    vote = __ballot_sync(mask, k >= most);
    if (vote & me) goto away;
    mask &= ~vote;
    if (__shfl_sync(mask, v, __ffs(mask) - 1) & 0x200) { v += 0x235; goto swap; }
latch:
    v ^= v >> 11;
    atomicOr(&a[lane + 31 * k], acc & 1);
    vote = __ballot_sync(mask, (v >> 5 & 3) == 2);
    mask &= vote & me ? vote : ~vote;
    if (!(vote & me)) goto top;
    v = v * 69069 + 1;
    goto add;
away:
    __syncwarp();
    out[blockIdx.x * 96 + t] = acc + v + a[lane + 31 * k] + (unsigned)p[lane + 15 * k] + b[k & 31];
}
