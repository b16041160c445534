// launch 3 32 n=1
// launch 4 64 n=2
// launch 5 40 n=3
// The last block to finish (whichever it is) reads what all wrote and does more; a flag in shared memory tells its threads.
__device__ unsigned done9230;
extern "C" __global__ void k9230(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k & 31; }
    __syncthreads();
    __shared__ bool last; __shared__ unsigned part[64];
    unsigned* cells = out + 1024;
    acc += s[(l * 4) & 1023];
    cells[blockIdx.x * 64 + (t & 63)] = (t * n + 3) & 127;
    __threadfence();
    if (t == 0) { unsigned ticket = atomicInc(&done9230, gridDim.x - 1); last = ticket == gridDim.x - 1; }
    __syncthreads();
    if (!last) { s[(l * 2) & 1023] = 1; out[(blockIdx.x * nt + t) & 1023] = acc; return; }
    __threadfence();
    for (unsigned k = t; k < 64; k += nt) part[k] = k;
    __syncthreads();
    unsigned v = 0;
    for (unsigned b = 0; b < gridDim.x; b++) v += *(volatile unsigned*)&cells[b * 64 + (t & 63)];
    part[t & 63] = v & 255;
    __syncthreads();
    for (unsigned d = 16; d; d /= 2) { unsigned x = part[(t ^ d) & 63]; __syncthreads(); if (t < 64) part[t] = x + d; __syncthreads(); if (l < d) acc += s[(l * d) & 1023]; }
    acc += s[(part[l ^ 1] * 4 + l) & 1023];
    for (unsigned i = 0; i < gridDim.x; i++) { if (q[(l + i) & 1023] < 7 * i) break; acc += s[(l * 8 + i) & 1023]; }
    s[(l * (gridDim.x + n)) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 1023] = acc;
}
