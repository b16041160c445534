"""CUDA sources that need more registers than a launch bound leaves: ptxas spills them."""

HEAVY = """
template <int COUNT> __device__ __forceinline__ float heavy(const float* in, int n, float x) {
    float v[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) v[k] = in[threadIdx.x + k * 32] * x;
    for (int t = 0; t < n; t++) {
#pragma unroll
        for (int k = 0; k < COUNT; k++) v[k] = v[k] * v[(k * 7 + 1) % COUNT] + v[(k + 3) % COUNT];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < COUNT; k++) sum += v[k] * (k + 1);
    return sum;
}
"""
SPILLS_TO_SHARED = (
    HEAVY
    + """
extern "C" __global__ void __launch_bounds__(1024, 2) k(const float* in, float* out, int n) {
    asm volatile(".pragma \\"enable_smem_spilling\\";");
    out[threadIdx.x] = heavy<40>(in, n, 1.5f);
}
"""
)
