// Histograms of bytes: shared atomics, a copy a warp, and byte counters a thread without atomics.

constexpr int kBins = 256;
constexpr int kWarp = 32;

extern "C" __global__ void histogram_atomic(const unsigned char* in, unsigned* out, int n) {
    __shared__ unsigned bins[kBins];
    for (int b = threadIdx.x; b < kBins; b += blockDim.x) bins[b] = 0;                 // site: clear
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);                                                   // site: count
    __syncthreads();
    for (int b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&out[b], bins[b]); // site: collect
}

extern "C" __global__ void histogram_a_warp(const unsigned* in, unsigned* out, int n) {
    extern __shared__ unsigned bins[];
    int warps = blockDim.x / kWarp;
    unsigned* mine = bins + threadIdx.x / kWarp * kBins;
    for (int b = threadIdx.x; b < warps * kBins; b += blockDim.x) bins[b] = 0;         // site: warp-clear
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned four = in[i];
        atomicAdd(&mine[four & 255], 1u);                                              // site: warp-count
        atomicAdd(&mine[four >> 8 & 255], 1u);                                         // site: warp-count
        atomicAdd(&mine[four >> 16 & 255], 1u);                                        // site: warp-count
        atomicAdd(&mine[four >> 24], 1u);                                              // site: warp-count
    }
    __syncthreads();
    for (int b = threadIdx.x; b < kBins; b += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < warps; ++w) sum += bins[w * kBins + b];                    // site: warp-collect
        atomicAdd(&out[b], sum);
    }
}

// 64 bins of 6 bits, one byte counter a bin and thread; the thread number's bits are permuted so that the
// four lanes of a word come from four different groups. At most 255 values a thread.
extern "C" __global__ void histogram_a_thread(const unsigned* in, unsigned* out, int n) {
    __shared__ unsigned char counters[64][64];
    int tid = threadIdx.x;   // 64 threads
    int place = (tid & ~63) | (tid & 15) << 2 | (tid & 48) >> 4;
    for (int i = tid; i < 64 * 64 / 4; i += 64) reinterpret_cast<unsigned*>(counters)[i] = 0;   // site: thread-clear
    __syncthreads();
    for (int i = blockIdx.x * 64 + tid; i < n; i += gridDim.x * 64) {
        unsigned four = in[i];
        counters[four >> 2 & 63][place]++;                                             // site: thread-count
        counters[four >> 10 & 63][place]++;                                            // site: thread-count
        counters[four >> 18 & 63][place]++;                                            // site: thread-count
        counters[four >> 26 & 63][place]++;                                            // site: thread-count
    }
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i < 64; i += 4) {
        int at = (tid * 4 + i) & 63;                                                   // start in another bank each
        sum += __dp4a(*reinterpret_cast<unsigned*>(&counters[tid][at]), 0x01010101u, 0u);   // site: thread-collect
    }
    atomicAdd(&out[tid], sum);
}

// The last block to finish adds up: a broadcast through shared memory of an atomic's result.
extern "C" __global__ void sum_last_block(const float* in, float* partial, unsigned* finished, float* out) {
    __shared__ float s[256];
    __shared__ bool last;
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 256 + tid];                                               // site: sum-fill
    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (tid < step) s[tid] += s[tid + step];                                       // site: sum-step
    }
    if (tid == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;                    // site: last-store
    }
    __syncthreads();
    if (last && tid == 0) {                                                            // site: last-load
        float total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += partial[b];
        out[0] = total;
    }
}
