// launch 1 32 n=4
// launch 1 80 n=5
// launch 2 64 n=3
// Layer norm in integers that floats hold exactly: sums by warps and vectors, mean and deviation rounded, quantised values as addresses.
__device__ __forceinline__ float total(float v, float* part) {
    unsigned t = threadIdx.x, left = blockDim.x - (t & ~31u), mask = left >= 32 ? ~0u : (1u << left) - 1, lanes = __popc(mask);
    for (unsigned d = 16; d; d >>= 1) { float o = __shfl_down_sync(mask, v, d); if ((t & 31) + d < lanes) v += o; }
    if ((t & 31) == 0) part[t >> 5] = v;
    __syncthreads();
    float sum = 0.0f;
    for (unsigned k = 0; k < (blockDim.x + 31) / 32; k++) sum += part[k];
    __syncthreads();
    return sum;
}
extern "C" __global__ void k9126(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float part[8];
    __shared__ __align__(16) float x[80 * 8];
    __shared__ __align__(4) signed char small[512];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = 0; k < n; k++) x[t * n + k] = (float)((src[k * size + t & 2047] * 5 + k) & 63);
    __syncthreads();
    float own = 0.0f;
    for (unsigned k = 0; k < n; k++) own += x[k * size + t];
    float count = (float)(n * size), mean = rintf(total(own, part) / count), spread = 0.0f;
    for (unsigned k = 0; k < n; k++) spread += fabsf(x[t * n + k] - mean);
    float deviation = floorf(total(spread, part) / count) + 1.0f;
    acc += s[(unsigned)(int)mean * t & 1023] + s[(unsigned)(int)deviation * t & 1023];
    for (unsigned k = 0; k < n; k++) {
        float z = (x[k * size + t] - mean) * f / deviation;
        int q = max(-8, min(7, __float2int_rn(z)));
        s[(unsigned)(q + 8) * 32 + (unsigned)(q & 1) * t & 1023] = (unsigned)q;
        acc += s[(unsigned)(q * 65 + (int)t) & 1023];
        small[t * n + k] = (signed char)q;
    }
    __syncthreads();
    int four = *(int*)&small[(t * 4) % (n * size / 4 * 4)], dot = __dp4a(four, 0x01ff0201, 7);
    acc += s[(unsigned)(dot * 16 + (int)(t & 3)) & 1023];
    if (n > 3) {
        float4 v = *(float4*)&x[(t * 4) % 320];
        acc += __float_as_uint(v.x + v.w);
    }
    out[(blockIdx.x * size + t) & 2047] = acc;
}
