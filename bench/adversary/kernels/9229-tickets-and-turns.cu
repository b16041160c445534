// launch 1 96 n=1
// launch 2 64 n=3
// launch 1 120 n=2
// A ticket lock whose tickets are given by warp number: warps pass through in a known order, each reading what the last one left.
__device__ volatile unsigned turns9229[2];
extern "C" __global__ void k9229(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    __shared__ unsigned chain, log_[8];
    volatile unsigned* serving = turns9229 + (blockIdx.x & 1);
    unsigned warps = (nt + 31) / 32, ticket = (w + n) % warps;
    if (t == 0) chain = 1;
    __syncthreads();
    if (l == 0) while (*serving != ticket) __nanosleep(32);
    __syncwarp();
    unsigned x = *(volatile unsigned*)&chain;
    acc += s[(l * x) & 1023];
    if (x & 1) s[(l * 2 + x * 32) & 1023] = x; else acc += s[(l * 3) & 1023];
    __syncwarp();
    if (l == 0) { *(volatile unsigned*)&chain = x * 3 + w; log_[ticket & 7] = x; __threadfence(); *serving = ticket + 1 == warps ? 0 : ticket + 1; }
    __syncthreads();
    unsigned y = chain;
    s[(l * (y & 63)) & 1023] = acc;
    for (unsigned i = 0; i < warps; i++) { if (log_[i] % 5 == (l & 3)) continue; acc += s[(l * log_[i] + i) & 1023]; }
    __syncwarp();
    acc += s[(l * 10 + log_[w]) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
