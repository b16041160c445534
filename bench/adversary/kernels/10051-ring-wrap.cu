// launch 2 48 n=37
// launch 1 96 n=250
// launch 3 17x5 n=1023
// ring cursors start below zero and wrap at 2^32; capacity differs by lane; a reader moves only when the unsigned distance says full; one ring has a size that is no power of two
extern "C" __global__ void k10051(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned short ring[4][256];
    __shared__ unsigned char bytes[128];
    __shared__ uint2 odd[45];
    const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y;
    const unsigned nt = blockDim.x * blockDim.y;
    for (unsigned i = tid; i < 1024; i += nt) ring[i >> 8][i & 255] = (unsigned short)(i * 3);
    for (unsigned i = tid; i < 128; i += nt) bytes[i] = (unsigned char)i;
    for (unsigned i = tid; i < 45; i += nt) odd[i] = make_uint2(i, ~i);
    __syncthreads();
    const unsigned mask = (32u << (tid & 3)) - 1;      // 31, 63, 127, 255
    unsigned w = 0u - (tid * 5 + n % 13);              // wraps past 2^32 on the way
    unsigned r = w - mask / 2;
    int lag = -(int)(tid >> 2) * 9;
    int pos = (int)(tid * 11 % 45);
    const int step = 1 + (int)(n % 7);
    unsigned acc = 0;
    const unsigned trips = nt % 11 + 9;
    for (unsigned i = 0; i < trips; ++i) {
        ring[tid & 3][w & mask] = (unsigned short)(acc + i);
        w += 3 + (i & tid & 1);
        if (w - r > mask - 9) {                        // unsigned distance, right across the wrap
            acc += ring[tid & 3][r & mask];
            r += 5;
        }
        acc += bytes[(lag + (int)i * 4) & 127];        // negative masked
        acc ^= odd[pos].y;
        pos += step;
        if (pos >= 45) pos -= 45;
        if (blockIdx.x & 1) {                          // walk backwards in odd blocks
            pos -= 2 * step;
            if (pos < 0) pos += 45;
            if (pos < 0) pos += 45;
        }
    }
    out[(blockIdx.x * nt + tid) & 4095] = acc + src[tid & 4095];
}
