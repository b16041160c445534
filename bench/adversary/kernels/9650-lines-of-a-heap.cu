// launch 1 64 n=3
// launch 2 30 n=7
// launch 1 32 n=12
// Triangles, heaps, Morton order, ELLPACK and CSR rows, hashing with probes, histograms, searches in sorted rows.
__device__ __forceinline__ unsigned part(unsigned x) { x = (x | x << 4) & 0x0f0f; x = (x | x << 2) & 0x3333; return (x | x << 1) & 0x5555; }
extern "C" __global__ void k9650(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; acc += src[g * (g + 1) / 2 & 4095] + src[part(g & 7) | part(g >> 3) << 1]; for (unsigned i = g + 1; i; i >>= 1) acc += src[i];
    for (unsigned i = g * 2 + 1; i < 256; i = i * 2 + 1) acc += src[i] + src[i + 1]; for (unsigned k = 0; k < n; k++) acc += src[k * 64 + g] + src[g * n + k];
    unsigned begin = src[g] & 255, end = begin + (src[g + 1] & 7); for (unsigned k = begin; k < end; k++) acc += src[1024 + k] + src[src[1024 + k]]; unsigned h = (g * 2654435761u) >> 22; for (unsigned k = 0; k < 4 && src[h] % 5; k++) h = (h + 1) & 1023; acc += src[2048 + h]; out[2048 + h] = g;
    unsigned lo = 0, hi = 1024; while (lo < hi) { unsigned mid = (lo + hi) / 2; if (src[mid * 2] < g * 9) lo = mid + 1; else hi = mid; } acc += src[lo]; atomicAdd(&out[4096 + (src[g] & 31)], 1); atomicAdd(&out[4200 + (src[g] & 31) * 8], 1); out[8192 + g] = acc;
}
