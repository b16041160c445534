// launch 1 16x6 n=5
// launch 2 12x5x3 n=9
// launch 1 48 n=33
// three-stage tile whose 16-byte XOR swizzle depends on the trip counter and on a gray code, stage from k%3, rows by division of a flat index by 12, second loop walks single-bit gray flips
extern "C" __global__ void k10058(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ float4 tile[3][8][12];
    __shared__ unsigned grid[512];
    __shared__ unsigned short marks[256];
    const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned i = tid; i < 512; i += nt) grid[i ^ (i >> 1)] = i;     // gray order permutes 0..511
    for (unsigned i = tid; i < 256; i += nt) marks[(i & ~7u) | ((i ^ (i >> 3)) & 7u)] = (unsigned short)i;
    for (unsigned i = tid; i < 288; i += nt) tile[i / 96][i / 12 % 8][i % 12] = make_float4(i, 1, 2, 3);
    __syncthreads();
    float sum = 0.f;
    unsigned acc = 0;
    const unsigned trips = n + blockIdx.x;
    unsigned stage = blockIdx.x % 3;
    for (unsigned k = 0; k < trips; ++k) {
        const unsigned g = k ^ (k >> 1);
        const unsigned row = (tid / 12 + k) & 7u;
        const unsigned col = ((tid % 12) ^ (row & 3u) ^ (g & 3u)) % 12u;   // stays in groups of four
        tile[stage][row][col] = make_float4(sum, f, (float)k, 1.f);
        __syncthreads();
        const unsigned prev = stage == 0 ? 2 : stage - 1;
        const unsigned r2 = (threadIdx.x ^ g) & 7u;
        const float4 v = tile[prev][r2][(threadIdx.y * 4 + ((threadIdx.z + k) ^ r2) % 4) % 12];
        sum += v.x * v.w;
        // component-wise read of the swizzled row
        sum += reinterpret_cast<const float*>(tile[stage][7u - r2])[(tid * 4 + (k & 3u)) % 48];
        const unsigned sw = (tid << (k % 3)) ^ ((tid >> (2 + k % 5)) & 31u) ^ (k * 33u);
        acc += grid[sw & 511];
        if ((g ^ tid) & (1u << (k % 5))) marks[(tid + g * 17u) & 255] = (unsigned short)k;
        __syncthreads();
        if (++stage == 3) stage = 0;
    }
    // single bit flips: position by ffs of the counter, per-thread start
    unsigned code = tid & 255u;
    for (unsigned k = 1 + (tid & 4u); k < 24; k += 1 + (tid >> 5 & 1u)) {
        code ^= 1u << (__ffs((int)k) - 1);
        acc += grid[code * 2 + (k & 1)];
        unsigned bin = code; bin ^= bin >> 4; bin ^= bin >> 2; bin ^= bin >> 1;   // gray to binary, under 256
        acc ^= marks[bin & 255u];
    }
    out[(blockIdx.x * nt + tid) & 4095] = acc + (unsigned)sum + src[tid & 4095];
}
