// Prefix sums of a block: Blelloch's tree, without and with padding, Hillis and Steele's doubling, and shuffles.

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffu;

// Element i of a padded array: one word of padding every 32.
template <bool Padded>
__device__ int place(int i) {
    return Padded ? i + i / kWarp : i;
}

// 2 * blockDim.x elements a block, exclusive.
template <bool Padded>
__device__ void blelloch(const int* in, int* out) {
    extern __shared__ int t[];
    int tid = threadIdx.x;
    int n = 2 * blockDim.x;
    in += blockIdx.x * n;
    out += blockIdx.x * n;
    t[place<Padded>(tid)] = in[tid];                                   // site: fill
    t[place<Padded>(tid + n / 2)] = in[tid + n / 2];                   // site: fill
    int offset = 1;
#pragma unroll 1
    for (int d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d) {
            int left = place<Padded>(offset * (2 * tid + 1) - 1);
            int right = place<Padded>(offset * (2 * tid + 2) - 1);
            t[right] += t[left];                                       // site: up
        }
        offset *= 2;
    }
    if (tid == 0) t[place<Padded>(n - 1)] = 0;                         // site: clear
#pragma unroll 1
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (tid < d) {
            int left = place<Padded>(offset * (2 * tid + 1) - 1);
            int right = place<Padded>(offset * (2 * tid + 2) - 1);
            int a = t[left];                                           // site: down
            int b = t[right];                                          // site: down
            t[left] = b;                                               // site: down
            t[right] = a + b;                                          // site: down
        }
    }
    __syncthreads();
    out[tid] = t[place<Padded>(tid)];                                  // site: result
    out[tid + n / 2] = t[place<Padded>(tid + n / 2)];                  // site: result
}

extern "C" __global__ void scan_blelloch(const int* in, int* out) { blelloch<false>(in, out); }
extern "C" __global__ void scan_blelloch_padded(const int* in, int* out) { blelloch<true>(in, out); }

// Two buffers, swapped every step; inclusive.
extern "C" __global__ void scan_doubling(const int* in, int* out) {
    __shared__ int buffer[2][512];
    int tid = threadIdx.x;
    int from = 0;
    buffer[0][tid] = in[blockIdx.x * 512 + tid];                       // site: doubling-fill
    __syncthreads();
    for (int offset = 1; offset < 512; offset *= 2) {
        int to = 1 - from;
        int value = buffer[from][tid];                                 // site: doubling-own
        if (tid >= offset) value += buffer[from][tid - offset];        // site: doubling-left
        buffer[to][tid] = value;                                       // site: doubling-store
        __syncthreads();
        from = to;
    }
    out[blockIdx.x * 512 + tid] = buffer[from][tid];
}

__device__ int warp_scan(int value, int lane) {
    for (int offset = 1; offset < kWarp; offset *= 2) {
        int left = __shfl_up_sync(kAll, value, offset);
        if (lane >= offset) value += left;
    }
    return value;
}

// A warp by shuffles, the totals of the warps by the first warp; inclusive.
extern "C" __global__ void scan_shuffle(const int* in, int* out) {
    __shared__ int totals[kWarp];
    int tid = threadIdx.x;
    int lane = tid % kWarp;
    int warp = tid / kWarp;
    int value = warp_scan(in[blockIdx.x * blockDim.x + tid], lane);
    if (lane == kWarp - 1) totals[warp] = value;                       // site: totals-store
    __syncthreads();
    if (warp == 0) totals[lane] = warp_scan(lane < blockDim.x / kWarp ? totals[lane] : 0, lane);  // site: totals-scan
    __syncthreads();
    if (warp > 0) value += totals[warp - 1];                           // site: totals-load
    out[blockIdx.x * blockDim.x + tid] = value;
}
