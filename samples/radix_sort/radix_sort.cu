// One pass of a radix sort in a block: four bits, a counter a digit and thread, a scan, a scatter.

constexpr int kThreads = 128;
constexpr int kKeysAThread = 8;
constexpr int kKeys = kThreads * kKeysAThread;
constexpr int kDigits = 16;
constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffu;

extern "C" __global__ void __launch_bounds__(kThreads) radix_pass(const unsigned* in, unsigned* out, unsigned shift) {
    __shared__ unsigned short counters[kDigits][kThreads];
    __shared__ unsigned keys[kKeys];
    __shared__ unsigned totals[kThreads / kWarp];
    unsigned tid = threadIdx.x;
    unsigned lane = tid % kWarp;
    unsigned warp = tid / kWarp;
    in += blockIdx.x * kKeys;
    out += blockIdx.x * kKeys;

#pragma unroll
    for (int d = 0; d < kDigits; ++d) counters[d][tid] = 0;                       // site: clear

    unsigned key[kKeysAThread];
    unsigned short before[kKeysAThread];
#pragma unroll
    for (int i = 0; i < kKeysAThread; ++i) {
        key[i] = in[tid * kKeysAThread + i];
        unsigned short* counter = &counters[key[i] >> shift & (kDigits - 1)][tid];
        before[i] = *counter;                                                     // site: count-load
        *counter = before[i] + 1;                                                 // site: count-store
    }
    __syncthreads();

    // Exclusive scan of the 16 x 128 counters, digit by digit; a thread takes 16 of them in a row.
    unsigned short* mine = &counters[0][0] + tid * kDigits;
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < kDigits; ++i) sum += mine[i];                             // site: scan-load
    unsigned inclusive = sum;
    for (int offset = 1; offset < kWarp; offset *= 2) {
        unsigned left = __shfl_up_sync(kAll, inclusive, offset);
        if (lane >= offset) inclusive += left;
    }
    if (lane == kWarp - 1) totals[warp] = inclusive;                              // site: totals-store
    __syncthreads();
    unsigned exclusive = inclusive - sum;
    for (unsigned w = 0; w < warp; ++w) exclusive += totals[w];                   // site: totals-load
#pragma unroll
    for (int i = 0; i < kDigits; ++i) {
        unsigned short count = mine[i];                                           // site: scan-reload
        mine[i] = static_cast<unsigned short>(exclusive);                         // site: scan-store
        exclusive += count;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < kKeysAThread; ++i) {
        unsigned digit = key[i] >> shift & (kDigits - 1);
        keys[counters[digit][tid] + before[i]] = key[i];                          // site: scatter
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kKeysAThread; ++i) out[i * kThreads + tid] = keys[i * kThreads + tid];  // site: collect
}
