// launch 1 8x8 n=5
// launch 2 4x4x4 n=1
// launch 1 7x5x3 n=30
// Morton codes in two and three dimensions by magic masks and by loops, decoded again, incremented in one coordinate by masked adds; tiles in Z order.
__device__ __forceinline__ unsigned part2(unsigned x) { x &= 0xFFFF; x = (x | x << 8) & 0x00FF00FF; x = (x | x << 4) & 0x0F0F0F0F; x = (x | x << 2) & 0x33333333; return (x | x << 1) & 0x55555555; }
__device__ __forceinline__ unsigned part3(unsigned x) { x &= 0x3FF; x = (x * 0x10001u) & 0xFF0000FFu; x = (x * 0x101u) & 0x0F00F00Fu; x = (x * 0x11u) & 0xC30C30C3u; return (x * 5u) & 0x49249249u; }
__device__ unsigned compact(unsigned m, unsigned step) { unsigned r = 0; for (unsigned i = 0; m >> i * step; i++) r |= (m >> i * step & 1) << i; return r; }
extern "C" __global__ void k9344(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned short codes[128];
    unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, T = blockDim.x * blockDim.y * blockDim.z, t = (z * blockDim.y + y) * blockDim.x + x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    codes[t] = (unsigned short)(part2(x + n) | part2(y) << 1);
    __syncthreads();
    unsigned m = codes[t], back = codes[T - 1 - t];
    acc += s[m & 1023];
    acc += s[(compact(back & 0x55555555, 2) * 32 + compact(back >> 1 & 0x55555555, 2)) & 1023];
    unsigned cube = part3(x) | part3(y) << 1 | part3(z) << 2;
    acc += s[cube & 1023];
    unsigned right = ((cube | 0xB6DB6DB6u) + 1 & 0x49249249u) | (cube & 0xB6DB6DB6u), left = ((cube & 0x92492492u) - 2 & 0x92492492u) | (cube & ~0x92492492u);
    acc += s[(right * 2) & 1023]; acc += s[(left ^ left >> 15) & 1023];
    if (right > cube && compact(right & 0x49249249u, 3) == x + 1) s[(right * 4 + 1) & 1023] = acc;
    unsigned tile = part2(x >> 1) | part2(y >> 1) << 1, at = tile * 4 + (y & 1) * 2 + (x & 1) + z * 64;
    for (unsigned k = 0; k < 3; k++) { acc += s[(at * (k + 1)) & 1023]; at = (at & ~0xCu) | ((at + 4) & 0xC); }
    unsigned swapped = (m & 0x5555) << 1 | (m & 0xAAAA) >> 1, gray = swapped ^ swapped >> 1;
    if (gray & 2) acc += s[gray & 1023]; else s[(swapped * 3) & 1023] = acc;
    unsigned level = 0; while (level < 4 && (m >> level * 2 & 3) == (back >> level * 2 & 3)) level++;
    acc += s[(level * 64 + (m & 63)) & 1023];
    unsigned long long wide = (unsigned long long)part2(m) << 1 | part2(back); acc += s[(unsigned)(wide >> 5) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
