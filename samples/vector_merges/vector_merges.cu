// 64- and 128-bit loads: when lanes i and i^1, or i and i^2, meet, half-warps or quarter-warps
// are served together. One warp; `s` is filled so that every element read was written.

constexpr int kWarp = 32;

template <typename Vector>
__device__ void fill(Vector* s, const Vector* in) {
    s[threadIdx.x] = in[threadIdx.x];                    // site: fill
    __syncthreads();
}

extern "C" __global__ void v2_consecutive(const uint2* in, uint2* out) {
    __shared__ uint2 s[kWarp];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x];                   // site: v2-consecutive
}

extern "C" __global__ void v2_pairs(const uint2* in, uint2* out) {
    __shared__ uint2 s[kWarp];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x / 2];               // site: v2-pairs
}

extern "C" __global__ void v4_lanes_15_16(const uint4* in, uint4* out) {
    __shared__ uint4 s[kWarp];
    fill(s, in);
    if (1u << threadIdx.x & (1u << 15 | 1u << 16))
        out[threadIdx.x] = s[threadIdx.x];               // site: v4-lanes-15-16
}

extern "C" __global__ void v4_lanes_0_15(const uint4* in, uint4* out) {
    __shared__ uint4 s[kWarp];
    fill(s, in);
    if (1u << threadIdx.x & (1u << 0 | 1u << 15))
        out[threadIdx.x] = s[threadIdx.x];               // site: v4-lanes-0-15
}

extern "C" __global__ void v4_first_half(const uint4* in, uint4* out) {
    __shared__ uint4 s[kWarp];
    fill(s, in);
    if (threadIdx.x < 16)
        out[threadIdx.x] = s[threadIdx.x];               // site: v4-first-half
}

extern "C" __global__ void v4_pairs(const uint4* in, uint4* out) {
    __shared__ uint4 s[kWarp];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x / 2];               // site: v4-pairs
}

// Lanes 0-15 meet their neighbours i^1, lanes 16-31 only i^2: no one rule for the whole warp.
extern "C" __global__ void v4_mixed_merges(const uint4* in, uint4* out) {
    __shared__ uint4 s[kWarp];
    fill(s, in);
    unsigned lane = threadIdx.x;
    unsigned index = lane < 16 ? lane / 2 : lane % 2 + lane / 4 * 2;
    out[lane] = s[index];                                // site: v4-mixed-merges
}

// Lanes 0-3 read element 0, 4-7 element 8, 8-11 element 1, 12-15 element 9, and so on.
extern "C" __global__ void v4_two_way(const uint4* in, uint4* out) {
    __shared__ uint4 s[kWarp];
    fill(s, in);
    unsigned lane = threadIdx.x;
    out[lane] = s[lane / 4 % 2 * 8 + lane / 8];          // site: v4-two-way
}
