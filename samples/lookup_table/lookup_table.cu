// Tables in shared memory: a gather that the data decides, one that the thread number decides, and a copy a bank.

// AES-like: four rounds of look-ups in a table of 256 words.
extern "C" __global__ void __launch_bounds__(256) substitute(const unsigned* table, unsigned* data) {
    __shared__ unsigned t[256];
    int tid = threadIdx.x;
    t[tid] = table[tid];                                                        // site: table-store
    __syncthreads();
    unsigned v = data[blockIdx.x * 256 + tid];
#pragma unroll
    for (int round = 0; round < 4; ++round)
        v = t[v & 255] ^ __byte_perm(t[v >> 8 & 255], 0, 0x2103) ^              // site: table-load
            __byte_perm(t[v >> 16 & 255], 0, 0x1032) ^ __byte_perm(t[v >> 24], 0, 0x0321);   // site: table-load
    data[blockIdx.x * 256 + tid] = v;
}

// 16 entries, a copy for every lane side by side: whatever the data say, no two lanes share a bank.
extern "C" __global__ void __launch_bounds__(256) substitute_spread(const unsigned* table, unsigned* data) {
    __shared__ unsigned t[16][32];
    int tid = threadIdx.x;
    int lane = tid % 32;
    for (int i = tid; i < 512; i += 256) t[i / 32][i % 32] = table[i / 32];     // site: spread-store
    __syncthreads();
    unsigned v = data[blockIdx.x * 256 + tid];
#pragma unroll
    for (int shift = 0; shift < 32; shift += 4) v ^= t[v >> shift & 15][lane] << shift;   // site: spread-load
    data[blockIdx.x * 256 + tid] = v;
}

__constant__ unsigned char permutation[32] = {0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29,
                                              2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31};

// The index comes from a constant table that the binary carries.
extern "C" __global__ void __launch_bounds__(32) permute(const float* in, float* out) {
    __shared__ float s[32 * 9];
    int lane = threadIdx.x;
    for (int i = 0; i < 9; ++i) s[i * 32 + lane] = in[(blockIdx.x * 9 + i) * 32 + lane];   // site: permute-fill
    __syncwarp();
    out[blockIdx.x * 32 + lane] = s[permutation[lane] * 9];                     // site: permute-load
}
