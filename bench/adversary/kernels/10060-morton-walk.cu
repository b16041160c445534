// launch 1 48 n=21 shared=4096
// launch 2x2 6x6x3 n=300 shared=4096
// launch 1 9x11 n=4294967295 shared=6144
// Morton codes by spread masks, steps of one axis by carry through masked-out bits (up and down), 3-axis codes clamped at the borders, bit-reversed butterflies with a bit count from n, offset of the dynamic arrays by pointer arithmetic
__device__ __forceinline__ unsigned spread2(unsigned x)
{
    x &= 0xFFFFu; x = (x | (x << 8)) & 0x00FF00FFu; x = (x | (x << 4)) & 0x0F0F0F0Fu;
    x = (x | (x << 2)) & 0x33333333u; return (x | (x << 1)) & 0x55555555u;
}
__device__ __forceinline__ unsigned spread3(unsigned x)
{
    x &= 0x3FFu; x = (x | (x << 16)) & 0x030000FFu; x = (x | (x << 8)) & 0x0300F00Fu;
    x = (x | (x << 4)) & 0x030C30C3u; return (x | (x << 2)) & 0x09249249u;
}
extern __shared__ __align__(16) unsigned char pool[];
extern "C" __global__ void k10060(unsigned* out, const unsigned* src, unsigned n, float f)
{
    unsigned* const img = reinterpret_cast<unsigned*>(pool);               // 512 words: 2,048 bytes
    float2* const fft = reinterpret_cast<float2*>(pool + 2048);            // 128 pairs: 1,024 bytes
    unsigned char* const vox = pool + 3072;                                // 1,024 bytes
    const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned i = tid; i < 512; i += nt) img[i] = i;
    for (unsigned i = tid; i < 128; i += nt) fft[i] = make_float2((float)i, 0.f);
    for (unsigned i = tid; i < 1024; i += nt) vox[i] = (unsigned char)(i >> 2);
    __syncthreads();
    unsigned acc = 0;
    const unsigned mx = 0x55u, my = 0xAAu;
    unsigned m = spread2(threadIdx.x & 15u) | (spread2((threadIdx.y + tid / 16u) & 15u) << 1);   // 0..255
    for (int k = 0; k < 14; ++k) {
        acc += img[m];
        const unsigned right = (((m | ~mx) + 1u) & mx) | (m & my);         // carry runs through the y bits; wraps
        const unsigned up = (((m & my) - 1u) & my) | (m & mx);             // borrow; 0 wraps to 15
        img[256u + (right ^ (k & 3))] = acc;
        acc ^= img[up + (blockIdx.y & 1u) * 256u];
        m = (k + tid) % 3 == 0 ? up : right;
    }
    // three axes with clamped neighbours, each coordinate 0..7 or, along z, 0..15 folded
    const int vx = (int)threadIdx.x - 1, vy = (int)threadIdx.y * 3 - 4, vz = (int)(threadIdx.z * 5 + blockIdx.x);
    for (int dz = -1; dz <= 1; ++dz)
        for (int dx = -2; dx <= 2; dx += 2) {
            const unsigned cx = (unsigned)min(max(vx + dx, 0), 7), cy = (unsigned)max(min(vy - dz, 7), 0);
            const unsigned cz = (unsigned)abs(vz + dz) & 7u;
            const unsigned code = spread3(cx) | spread3(cy) << 1 | spread3(cz) << 2;             // 0..511
            acc += vox[code];
            if (cx != cy) *reinterpret_cast<unsigned short*>(vox + 512 + (code & ~1u)) = (unsigned short)acc;
        }
    // bit-reversed exchange on 2^bits points, bits from n
    const unsigned bits = 4u + (n & 3u);                                   // 4..7
    __syncthreads();
    for (unsigned i = tid; i < (1u << bits); i += nt) {
        const unsigned j = __brev(i) >> (32u - bits);
        if (i < j) { const float2 t = fft[i]; fft[i] = fft[j]; fft[j] = t; }
    }
    for (unsigned s = 0; s < bits; ++s) {
        __syncthreads();
        for (unsigned i = tid; i < (1u << (bits - 1)); i += nt) {
            const unsigned lo = i & ((1u << s) - 1u), p = ((i >> s) << (s + 1)) | lo;
            const float2 u = fft[p], v = fft[p + (1u << s)];
            fft[p] = make_float2(u.x + v.x, u.y + v.y);
            fft[p ^ (1u << s)] = make_float2(u.x - v.x, u.y - v.y * f);
        }
    }
    __syncthreads();
    const float2 w = fft[spread2(tid & 7u) + (spread2(tid >> 3) * 2u & 63u)];   // at most 21 + 42
    out[(blockIdx.x * nt + tid) & 4095] = acc + (unsigned)(int)w.x + src[tid & 4095];
}
