// launch 1 64 n=5
// launch 3 100 n=9
// launch 2x2 5x5x6 n=14
// launch 4 256 n=2
// Values that atomics give back, used as offsets: own counters, wrapping ones, lists of nodes hung in by exchange, room taken by the warps in
// turn or by the lanes in turn, all lanes on one word that cannot change any more, carries in 64 bits, shared and global words by one pointer.

extern "C" __global__ void k9883(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned box[512];
    __shared__ unsigned long long long_box[256];
    __shared__ unsigned cursor[16], own[256];
    __shared__ unsigned char marks[2048];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, w = t >> 5, warps = (nt + 31) / 32;
    const unsigned lanes = min(nt - w * 32, 32u), mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    const unsigned b = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned* const region = out + b * 8192;
    unsigned* const mine = region + t * 4;              // four words for each thread
    unsigned* const head = region + 2048;
    unsigned* const nodes = region + 2560;              // eight for each thread
    unsigned* const common = region + 6144;
    unsigned acc = 0;

    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 3;
    for (unsigned i = t; i < 512; i += nt) box[i] = i;
    for (unsigned i = t; i < 256; i += nt) { long_box[i] = i; own[i] = 0; }
    for (unsigned i = t; i < 2048; i += nt) marks[i] = i;
    if (t < 16) { cursor[t] = t * 8; common[t] = t * 16; }
    mine[0] = t; mine[1] = 0; mine[2] = 0xfffffff0u - t; mine[3] = n;
    head[t] = ~0u;
    __syncthreads();

    #pragma unroll 1
    for (unsigned k = 0; k < n; k++) {
        const unsigned old = atomicAdd(mine, k + t % 3);
        acc += s[(old * 8 + *mine) & 1023];
        const unsigned inc = atomicInc(mine + 1, 4 + (t & 3)), dec = atomicDec(mine + 3, 5);
        acc += s[(inc * 32 + l) & 1023] + box[(dec * 64 + inc) & 511];
        const unsigned long long big = atomicAdd((unsigned long long*)(mine + 2), 7ull);   // carries into the word that turns
        acc += (unsigned)long_box[((unsigned)(big >> 32) * 16 + ((unsigned)big & 15)) & 255];
        const unsigned seen = atomicCAS(mine, t + 1, 64 * l);   // succeeds in some lanes, in one trip
        acc += s[(seen ^ mine[0]) & 1023];
        const unsigned given = atomicAdd(&own[t], t + k);       // in shared memory, each its own
        acc += marks[(given * 4) & 2047];
    }

    // lists: each thread hangs in its nodes by exchange and walks from the last one to the first
    #pragma unroll 1
    for (unsigned k = 0; k < 8; k++) {
        const unsigned node = t * 8 + ((k * 3 + t) & 7);
        nodes[node] = atomicExch(&head[t], node);
        if (k == (n & 7)) atomicExch(&head[t], nodes[node]);    // unhung at once
    }
    unsigned depth = 0;
    #pragma unroll 1
    for (unsigned at = head[t]; at < 8 * nt && depth < 8; at = nodes[at]) acc += s[(at + ++depth * 4) & 1023];

    // warps take room in turn, each as much as its lanes ask for; the first lane asks
    const bool asks = (t * 5 + n) % 7 < 4;
    const unsigned asking = __ballot_sync(mask, asks);
    unsigned first = 0;
    #pragma unroll 1
    for (unsigned turn = 0; turn < warps; turn++) {
        if (w == (turn + n) % warps && l == 0) first = atomicAdd(common, __popc(asking));
        __syncthreads();
    }
    first = __shfl_sync(mask, first, 0);
    if (asks) box[first + __popc(asking & ((1u << l) - 1))] = t;
    // lanes in turn on the warp's own cursor; the sum of what the lanes before have added
    unsigned place = 0;
    #pragma unroll 1
    for (unsigned turn = 0; turn < lanes; turn++) {
        if (l == (lanes == 32 ? (turn * 7 + 3) & 31 : turn)) place = atomicAdd(&cursor[w], 1 + (l & 3));
        __syncwarp(mask);
    }
    acc += marks[(w * 128 + place * 4) & 2047];
    __syncthreads();
    acc += box[(common[0] + t) & 511] + s[box[t & 31] & 1023];

    // one word for all: nothing changes, so that all get the same back, and it is known
    const unsigned same = atomicMax(common + 2, t & 31) + atomicAnd(common + 3, ~0u) + atomicOr(common + 4, 0) + atomicMin(common + 5, 80 + t);
    acc += s[(same + l * 4) & 1023];
    const unsigned none = atomicCAS(common + 6, 1000 + t, t);
    acc += box[(none * l) & 511];
    // each lane its own bit, of what it gets back only that bit is used; then all bits at once after the barrier
    const unsigned bit = atomicXor(common + 7 + (w & 7), 1u << l) >> l & 1;
    __syncthreads();
    acc += s[(bit * 512 + common[7 + (w & 7)] % 509) & 1023];

    // shared and global counters by one pointer, lane by lane
    unsigned* const either = (t + n) % 3 ? &own[t] : mine;
    #pragma unroll 1
    for (unsigned k = 0; k < 3; k++) {
        const unsigned got = atomicAdd(either, 16);
        acc += s[(got * 2 + k) & 1023];
    }
    __syncthreads();
    acc += marks[(own[(t * 3) % nt] * 8) & 2047] + s[region[(t * 12) % (nt * 4)] & 1023];
    __syncthreads();
    atomicAdd((float*)mine + 1, 1.5f * 0.0f);
    mine[1] = __float_as_uint(2.0f + t);
    const float sum = atomicAdd((float*)mine + 1, 0.25f * t);
    acc += box[(unsigned)(sum + *((volatile float*)mine + 1)) & 511];

    // from here on what src gives
    const unsigned from = atomicExch(mine, src[(b * 512 + t) & 65535]);
    acc += s[from & 1023];
    acc += s[atomicSub(mine, t) & 1023] + marks[*mine & 2047];
    __syncthreads();
    region[7168 + t] = acc + (f > 5.0f ? 1 : 0);
}
