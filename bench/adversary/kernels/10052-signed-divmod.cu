// launch 1 5x3x4 n=7
// launch 2x2 48 n=29
// launch 1 96 n=1000
// signed / and % by constants and by n with negative operands, floor-mod repairs, shift against division of negatives, clamps of a remainder by n, unsigned % of a negative number
__device__ __forceinline__ int floormod(int a, int m) { int r = a % m; return r + ((r >> 31) & m); }
extern "C" __global__ void k10052(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ double tile[64];
    __shared__ int line[144];
    __shared__ short narrow[67];
    const int tid = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    const int nt = (int)(blockDim.x * blockDim.y * blockDim.z);
    for (int i = tid; i < 64; i += nt) tile[i] = i * 0.5;
    for (int i = tid; i < 144; i += nt) line[i] = i;
    for (int i = tid; i < 67; i += nt) narrow[i] = (short)(i * 5);
    __syncthreads();
    const int sn = (int)n;
    const int a = (int)threadIdx.x * 3 - sn - (int)blockIdx.y * 5;
    int q = a / 7, m = a % 7;                          // m in -6..6
    tile[((m + 7) % 7) * 9 + ((q % 5) + 5) % 5] = f;   // 0..58
    __syncthreads();
    double s = tile[min(max(a % sn, -32), 31) + 32];   // remainder by n keeps the sign of a
    int acc = line[((a >> 3) - a / 8) + 1 + 2 * floormod(a / -3, 70)];  // (a>>3)-a/8 is -1 or 0
    acc += narrow[(unsigned)a % 67u];                  // huge when a is negative
    for (int t = -40; t < 40; t += 7 + (tid & 3)) {
        int p = t * a;
        acc += line[floormod(p, 33) * 4 + (p / 2 - (p >> 1)) + 0];
        int d = tid - 17;
        if (d != 0) {
            int e = t / d;                             // divisor changes sign within a warp
            narrow[floormod(e * 3, 61)] = (short)acc;
        }
        acc -= line[abs(t % (1 + tid % 13)) * 11 + (p < 0)];
    }
    // division of the most negative number
    int big = (int)(0x80000000u + (unsigned)tid);
    acc += line[-(big / sn % 48) * 3 + (big % 3) + 2];
    if (a / 4 * 4 == a) line[(tid * 37 % 48) * 3] = acc;
    out[(blockIdx.x * nt + tid) & 4095] = (unsigned)acc + (unsigned)s + src[tid & 4095];
}
