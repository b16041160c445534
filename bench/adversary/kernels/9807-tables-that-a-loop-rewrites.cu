// launch 1 32 n=900
// launch 1 64 n=333
// Hundreds of trips that read a table and rewrite it: each lane its own, the next lane's behind __syncwarp, and rarely.
extern "C" __global__ void k9807(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned own[64], next[64], rare[64];
    own[t] = l; next[t] = l; rare[t] = l * 2;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        unsigned v = own[t], u = next[w * 32 + ((l + 1) & 31)];
        acc += s[(v * (k & 3)) & 1023] + s[(u * 33) & 1023] + s[rare[t] * 8 & 1023];
        own[t] = (v * 5 + 3) & 31;
        __syncwarp();
        next[t] = (u + (k == 200)) & 63;
        if ((k & 127) == 100) rare[t] = (rare[t] + k) & 63;
        __syncwarp();
    }
    acc += s[(own[t] * l) & 1023] + s[(next[t ^ 1] * 16) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
