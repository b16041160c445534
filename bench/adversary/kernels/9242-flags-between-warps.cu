// launch 1 64 n=3
// launch 2 128 n=2
// launch 1 90 n=4
// Warps pass a baton by volatile flags in global memory, napping between looks; the baton carries an index for the next warp.
extern "C" __global__ void k9242(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    __shared__ volatile unsigned baton;
    volatile unsigned* flag = (volatile unsigned*)out + 1900 + (blockIdx.x & 1) * 8;
    unsigned warps = (nt + 31) / 32, epoch = 0;
    if (t == 0) baton = 3;
    if (t < 8) flag[t] = 0;
    __threadfence(); __syncthreads();
    for (unsigned i = 0; i < n; i++) {
        unsigned turn = (i + w) % warps;
        if (turn) { if (l == 0) { unsigned nap = 8; while (flag[turn - 1] != i + 1) { __nanosleep(nap); if (nap < 64) nap *= 2; } __threadfence(); } }
        __syncwarp();
        unsigned x = baton;
        acc += s[(l * x) & 1023];
        if (x & 2) { s[(l * 2 + turn * 32) & 1023] = x; epoch++; }
        __syncwarp();
        if (l == 0) { baton = (x * 5 + w + 1) & 63; __threadfence(); flag[turn] = i + 1; }
        __syncthreads();
        acc += s[(l * (baton & 7) + epoch) & 1023];
        __syncthreads();
    }
    s[(l * (epoch + 3)) & 1023] = acc;
    acc += s[(l * baton) & 1023];
    out[(blockIdx.x * nt + t) & 1023] = acc;
}
