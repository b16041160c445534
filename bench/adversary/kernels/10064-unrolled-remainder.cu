// launch 1 96 n=29
// launch 2 48 n=6
// launch 3 100 n=50
// loops unrolled by 4, 3 and 8 whose trip counts differ by lane (remainders of 0 to 3), downward and with a stride of lanes; conditional accesses in the unrolled bodies
extern "C" __global__ void k10064(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ __align__(16) unsigned s[2048];
    __shared__ unsigned hist[64];
    __shared__ short sh[1024];
    const unsigned t = threadIdx.x;
#pragma unroll 4
    for (unsigned i = t; i < 512; i += blockDim.x)
        reinterpret_cast<uint4*>(s)[i] = make_uint4(i, i + 1, src[i], t);
#pragma unroll 3
    for (unsigned i = t; i < 1024; i += blockDim.x) sh[1023 - i] = (short)i;
    if (t < 64) hist[t] = 0;
    if (blockDim.x < 64 && t < 16) hist[blockDim.x + t] = 0;
    __syncthreads();
    unsigned acc = 0;
    const unsigned mine = n - (n > 7 ? t % 7 : t & 1);
#pragma unroll 4
    for (unsigned i = 0; i < mine; ++i) {
        uint2 p = *reinterpret_cast<uint2*>(&s[(t * 6 + i * 34) & 2046]);
        acc += p.x ^ p.y;
    }
    const int from = (int)(n + (t & 3)), down = (int)(t & 31) / 4;
#pragma unroll 8
    for (int i = from; i > down; i -= 2) {
        if ((i ^ t) & 4) acc += sh[(i * 32 + t * 3) & 1023];
        else sh[(i + t * 2) & 1023] = (short)acc;
    }
#pragma unroll 3
    for (unsigned i = t & 7; i < n; i += 1 + (t >> 5)) {
        atomicAdd(&hist[(t * 2 + i) & 63], 1u);
        if (i % 5 == (t & 7)) break;
    }
#pragma unroll
    for (unsigned i = 0; i < 13; ++i) {
        if (i * 3 > t) continue;
        acc += s[((t << i) | i) & 2047];
        if (i + 20 == t / 2) break;
    }
    __syncthreads();
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc + hist[t & 63] + (unsigned)f;
}
