// launch 2 64 n=7
// launch 3 32 n=11
// launch 2 96 n=5
// Persistent blocks: one lane takes the next item from a global counter and broadcasts it; the items' work differs in trips and strides.
__device__ unsigned next9231, ended9231;
extern "C" __global__ void k9231(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 3) & 31; }
    __syncthreads();
    __shared__ unsigned item;
    for (unsigned rounds = 0; rounds < 64; rounds++) {
        if (t == 0) item = atomicAdd(&next9231, 1u);
        __syncthreads();
        unsigned mine = item;
        __syncthreads();
        if (mine >= n) break;
        unsigned step = mine % 5 + 1;
        for (unsigned i = 0; i <= (mine & 3); i++) acc += s[(l * step + i * 32) & 1023];
        if (mine & 1) { if (q[(l + mine) & 1023] > 15) s[(l * (step + 3)) & 1023] = mine; else acc += s[(l * 16 + mine) & 1023]; }
        else if (w == (mine >> 1) % ((nt + 31) / 32)) s[(l * 8) & 1023] = acc;
    }
    __syncthreads();
    acc += s[(l * n) & 1023];
    if (t == 0 && atomicInc(&ended9231, gridDim.x - 1) == gridDim.x - 1) next9231 = 0;
    out[(blockIdx.x * nt + t) & 1023] = acc;
}
