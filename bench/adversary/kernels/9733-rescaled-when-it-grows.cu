// launch 1 64 n=4
// launch 1 128 n=3
// Online softmax of tiles: the running maximum grows in some warps only, which then rescale what lies in shared memory.
extern "C" __global__ void k9733(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float q[32][36], o[4][32][4];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) q[i / 32][i % 32] = (float)(src[i] % 11);
    for (int k = 0; k < 4; k++) o[w][l][k] = 0.f;
    __syncthreads();
    float top = -1e30f, sum = 0.f;
    for (unsigned tile = 0; tile < n; tile++) {
        float v = q[(tile * 7 + w) & 31][l], m = v;
        for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
        float grown = fmaxf(top, m);
        if (grown > top) {
            float scale = __expf(top - grown);
            for (int k = 0; k < 4; k++) o[w][(l * 3 + k) & 31][k] *= scale;
            sum *= scale; top = grown;
            __syncwarp();
        }
        float p = __expf(v - top);
        sum += p;
        float4 r = *(float4*)o[w][l];
        r.x += p; r.y += p * q[l][tile]; r.z += p; r.w += 1.f;
        *(float4*)o[w][l] = r;
        if (__any_sync(~0u, v == top && l == 3)) acc += (unsigned)q[l][tile * 4];
        __syncwarp();
    }
    out[t] = acc + (unsigned)sum + (unsigned)top;
}
