// Stream compaction: ballots inside a warp, a scan over the warps' counts, then a dense write.

constexpr unsigned kAll = 0xffffffffu;

extern "C" __global__ void __launch_bounds__(256) compact(const float* in, float* out, int* counts, float threshold) {
    __shared__ int warp_counts[8];
    __shared__ float kept[256];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float value = in[blockIdx.x * 256 + threadIdx.x];
    bool keep = value > threshold;
    unsigned ballot = __ballot_sync(kAll, keep);
    int before = __popc(ballot & ((1u << lane) - 1));
    if (lane == 0) warp_counts[warp] = __popc(ballot);                    // site: count-store
    __syncthreads();
    if (warp == 0) {
        int count = lane < 8 ? warp_counts[lane] : 0;                     // site: count-load
        for (int offset = 1; offset < 8; offset *= 2) {
            int left = __shfl_up_sync(kAll, count, offset);
            if (lane >= offset) count += left;
        }
        if (lane < 8) warp_counts[lane] = count;                          // site: count-update
    }
    __syncthreads();
    int first = warp == 0 ? 0 : warp_counts[warp - 1];                    // site: first-load
    if (keep) kept[first + before] = value;                               // site: kept-store
    __syncthreads();
    int total = warp_counts[7];                                           // site: total-load
    if (threadIdx.x < total) out[blockIdx.x * 256 + threadIdx.x] = kept[threadIdx.x];   // site: kept-load
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// The places where a predicate of the thread number holds: nothing here depends on data.
extern "C" __global__ void __launch_bounds__(256) compact_every_third(const float* in, float* out) {
    __shared__ float kept[32 * 8];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    bool keep = lane % 3 == 0;
    unsigned ballot = __ballot_sync(kAll, keep);
    int place = __popc(ballot & ((1u << lane) - 1));
    if (keep) kept[warp * 32 + place * 2] = in[blockIdx.x * 256 + threadIdx.x];         // site: third-store
    __syncthreads();
    if (lane < __popc(ballot)) out[(blockIdx.x * 8 + warp) * 11 + lane] = kept[warp * 32 + lane * 2];   // site: third-load
}
