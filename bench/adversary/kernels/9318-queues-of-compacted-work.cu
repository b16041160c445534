// launch 1 32 n=3
// launch 1 25 n=8
// launch 2 32 n=6
// A work queue in rounds: one warp pushes by ballot rank after a leader's atomicAdd, pops as a ring buffer, and pushes children again.
extern "C" __global__ void k9318(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned ring[64], tail, head;
    unsigned t = threadIdx.x, T = blockDim.x, all = T == 32 ? ~0u : (1u << T) - 1, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    if (t == 0) { tail = 0; head = 0; }
    __syncthreads();
    bool push = (t * n) % 5 < 3; unsigned item = t * 8 + n;
    for (unsigned round = 0; round < 7; round++) {
        unsigned votes = __ballot_sync(all, push), below; unsigned base = 0;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        if (votes && t == (unsigned)__ffs((int)votes) - 1) base = atomicAdd(&tail, (unsigned)__popc(votes));
        base = __shfl_sync(all, base, votes ? __ffs((int)votes) - 1 : 0);
        if (push) ring[(base + __popc(votes & below)) & 63] = item;
        __syncwarp(all);
        unsigned waiting = tail - head, taken = waiting < 20 ? waiting : 20;
        push = false;
        if (t < taken) {
            unsigned got = ring[(head + t) & 63];
            acc += s[(got * (round + 1)) & 1023];
            if (got & 4) s[(got >> 1 & 511) * 2] = acc;
            push = got % 3 != round % 3;
            item = got * 3 / 2 + 1;
        }
        __syncwarp(all);
        if (t == 0) atomicAdd(&head, taken);
        __syncwarp(all);
        if (head == tail && !__any_sync(all, push)) break;
    }
    acc += s[(tail * 4 + t * (head & 7)) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
