// launch 2 96 n=40
// launch 1 48 n=2147483650
// launch 1x2 6x5x3 n=4294967290
// loops and guards that end at a wrap: byte counters past 255, int past INT_MAX, shorts, unsigned countdown past zero, signed against unsigned compares of the same value, 64-bit compares near 2^32
extern "C" __global__ void k10057(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned a[256];
    __shared__ unsigned char b[256];
    __shared__ ulonglong2 c[32];
    const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned i = tid; i < 256; i += nt) { a[i] = i; b[i] = (unsigned char)~i; }
    for (unsigned i = tid; i < 32; i += nt) c[i] = make_ulonglong2(i, i);
    __syncthreads();
    unsigned acc = 0;
    // byte counter: runs from 200.. across 255 to 23, not at all elsewhere
    for (unsigned char k = (unsigned char)(tid * 7); k >= 200 || k < 24; k += 5) acc += b[k];
    // signed byte: from tid up to 127, then negative
    for (signed char k = (signed char)(tid * 2 + 1); k > 0; k = (signed char)(k + 13)) a[k * 2] = acc;
    // int to past INT_MAX (lanes over 40 start negative: no trips)
    for (int k = (int)(0x7fffffffu - 40u + tid); k > 0; k = (int)((unsigned)k + 7u)) acc += a[(unsigned)k & 255u];
    // the same start, judged signed and stepped unsigned
    for (unsigned i = tid - 5u; (int)i < 60; i += 9u) {
        if (i < 50u) a[i + 100u] = acc;                  // lanes with a negative i are out
        acc += b[i & 127u];
    }
    // countdown
    unsigned left = tid % 11u;
    while (left-- > 0u) acc += (unsigned)c[(left * 3u + tid) & 31u].y;
    acc += b[left & 255u];                               // now 0xffffffff everywhere
    // guards on tid - n
    const unsigned d = tid - n;
    if ((int)d < 0) acc += a[(tid * 3u) & 255u];
    if (tid < n) acc += a[(tid * 5u) & 255u];
    if ((int)tid < (int)n) b[(tid * 4u) & 255u] = 1;
    if ((int)d >= -16 && (int)d <= 15) b[((int)d + 16) * 8] = 2;
    if (d + 16u <= 31u) c[d + 16u] = make_ulonglong2(acc, tid);
    const long long e = (long long)n + (long long)tid * 3 - 0x100000000ll;
    if (e >= 0) acc += a[min((unsigned long long)e, 255ull)];
    else acc += a[255 + (int)max(e, -255ll)];
    const unsigned long long g = (unsigned long long)n + tid;
    if (g > 0xFFFFFFFFull) acc += b[(unsigned)g & 255u];
    const unsigned w = n + tid;
    if (w < n) acc += b[(w * 9u) & 255u];                // overflow test
    for (short k = (short)(32767 - (int)(tid & 63)); k >= 0; k = (short)(k + 6)) atomicAdd(&a[(k ^ tid) & 63], 1u);
    int prev = (int)(n << 1);
    for (int i = 0; i < 20; ++i) {
        int next = (int)((unsigned)prev + 0x10000001u * (1u + (tid & 3u)));
        if (next < prev) b[(next >> 4) & 255] = 3;       // fell over the edge
        if ((unsigned)next > (unsigned)prev) acc += b[next & 255];
        prev = next;
    }
    out[(blockIdx.x * nt + tid) & 4095] = acc + src[tid & 4095];
}
