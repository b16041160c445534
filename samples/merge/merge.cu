// Merging two sorted runs of a tile: every thread finds its place by bisection in shared memory and merges eight.

constexpr int kThreads = 128;
constexpr int kAThread = 8;
constexpr int kTile = kThreads * kAThread;

extern "C" __global__ void __launch_bounds__(kThreads) merge_tiles(const int* in, int* out) {
    __shared__ int s[kTile];
    int tid = threadIdx.x;
    in += blockIdx.x * kTile;
    out += blockIdx.x * kTile;
    for (int i = tid; i < kTile; i += kThreads) s[i] = in[i];                  // site: fill
    __syncthreads();
    int half = kTile / 2;
    int diagonal = tid * kAThread;
    int low = max(0, diagonal - half);
    int high = min(diagonal, half);
    while (low < high) {
        int middle = (low + high) / 2;
        if (s[middle] <= s[half + diagonal - 1 - middle]) low = middle + 1;    // site: bisect
        else high = middle;
    }
    int a = low;
    int b = half + diagonal - low;
    int merged[kAThread];
#pragma unroll
    for (int i = 0; i < kAThread; ++i) {
        bool from_a = b >= kTile || (a < half && s[a] <= s[b]);                // site: merge
        merged[i] = s[from_a ? a : b];                                         // site: take
        from_a ? ++a : ++b;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kAThread; ++i) s[tid * kAThread + i] = merged[i];      // site: merged-store
    __syncthreads();
    for (int i = tid; i < kTile; i += kThreads) out[i] = s[i];                 // site: merged-load
}
