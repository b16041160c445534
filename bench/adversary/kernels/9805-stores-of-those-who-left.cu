// launch 1 96 n=2
// launch 1 128 n=5
// Warps and lanes store and end; the others read after a barrier of those that are left, and before it.
extern "C" __global__ void k9805(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[128];
    box[t] = l;
    __syncthreads();
    if (w == 1) { box[t] = (l * 5 + n) & 31; box[(t + 32) % T] = 3; return; }
    unsigned early = box[32 + l];
    acc += s[(early * 2) & 1023];
    __syncthreads();
    acc += s[(box[32 + l] * 4) & 1023] + s[(box[(64 + l) % T] * l) & 1023];
    if (l >= 32 - n) { box[t] = 9; return; }
    __syncthreads();
    acc += s[(box[w * 32 + 31 - l] * 32) & 1023] + s[(box[(w * 32 + 64 + l) % T] * 8) & 1023];
    out[t] = acc;
}
