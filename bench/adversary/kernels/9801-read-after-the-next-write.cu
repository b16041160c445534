// launch 1 64 n=4
// launch 1 128 n=7
// A loop with one barrier where two are needed: the slower warp reads what the faster one has written in the next trip.
extern "C" __global__ void k9801(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[128], twin[2][128];
    for (unsigned k = 0; k < n; k++) {
        box[t] = (l + k * 3) & 31; twin[k & 1][t] = (l * 3 + k) & 31;
        __syncthreads();
        if (w == 0) { unsigned c = 1; for (unsigned i = 0; i < 400; i++) c = c * 5 + (c >> 7); if (c == 3) acc++; }
        unsigned v = box[(t + 32) % T], u = twin[k & 1][(t + 32) % T];
        acc += s[(v * l) & 1023] + s[(u * 8) & 1023];
        if (v & 1) acc += s[(l * 2 + k) & 1023];
    }
    __syncthreads();
    acc += s[(box[(t + 1) % T] * 32) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
