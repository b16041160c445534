// launch 1 64 n=3
// launch 1 32 n=1
// Shared memory that is read before anything is written: masked to no bits, compared with itself, half written, then written.
extern "C" __global__ void k9783(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned raw[256];
    unsigned v = raw[t & 255];
    acc += s[(v & 0) + t] + s[(v == v) * t * 2] + s[(v ^ v) + l * 8] + s[(v & 1) * 4 + l] + s[v > 5 ? l : l ^ 1];
    ((unsigned char*)raw)[t * 4 + 1] = n; __syncthreads();
    acc += s[(raw[t] >> 8 & 255) * l & 1023] + s[(raw[t] & 31) * 32] + s[((unsigned char*)raw)[t * 4 + 1] * 32 + l];
    if (t < 16) raw[t] = t; __syncthreads();
    acc += s[raw[l & 15] * 16] + s[raw[l] & 1023];
    if (raw[200] > n) acc += s[(t * 4) & 1023];
    raw[t] = l; __syncthreads();
    acc += s[raw[t ^ 3] * 32];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
