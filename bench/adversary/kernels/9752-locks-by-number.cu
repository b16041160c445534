// launch 1 32 n=4
// launch 1 64 n=2
// Spin locks in shared memory, one of several by lane, the classical loop with a flag and one with naps that grow.
extern "C" __global__ void k9752(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ int lock[8];
    __shared__ unsigned balance[8];
    if (t < 8) { lock[t] = 0; balance[t] = 0; }
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock[l % n], 0, 1) == 0) {
            balance[l % n] += l; __threadfence_block();
            atomicExch(&lock[l % n], 0);
            done = true;
        }
    }
    __syncthreads();
    acc += s[(balance[l % n] * 4 + l) & 1023];
    unsigned nap = 8;
    while (atomicCAS(&lock[7 - w], 0, 1)) { __nanosleep(nap); if (nap < 256) nap *= 2; }
    balance[7 - w] ^= l; __threadfence_block();
    atomicExch(&lock[7 - w], 0);
    __syncthreads();
    acc += s[(balance[7 - w] * l) & 1023] + s[t * 4];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
