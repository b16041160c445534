// launch 1 64 n=3
// launch 2 160 n=8
// launch 3 45 n=5
// Inner loops whose trips are data that the block shares, inside a loop whose body branches by lane; some of the inner loops run in a branch, some break early.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void k9973(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned table[1024], mine[160 * 8], own[160 * 8], trips[16];
    const unsigned t = threadIdx.x, lane = t & 31, pitch = 1u << (n & 3);
    for (unsigned i = t; i < 1024; i += blockDim.x) table[i] = src[(i * 5 + n) & 4095];
    for (unsigned j = 0; j < 8; j++) mine[t * 8 + j] = t + j, own[t * 8 + j] = j;
    __syncthreads();
    if (t == blockDim.x - 1) for (unsigned i = 0; i < 16; i++) trips[i] = src[n * 150 + blockIdx.x * 47 + i * 23] % 6;
    __syncthreads();
    unsigned acc = t, rounds = 3 + trips[15];
    for (unsigned r = 0; r < rounds; r++) {
        const unsigned many = trips[r & 15];
        if ((lane + r) % 3 == 0) {
            for (unsigned k = 0; k < many; k++) acc += table[(lane * 32 + k + r) & 1023];
            mine[t * 8 + (r & 7)] = acc;
        } else if (lane > 4 + r * 2) {
            unsigned k = 0;
            do {
                own[t * pitch + (k & (pitch - 1))] ^= k;
                if ((acc >> k ^ lane) & 1) acc += table[(acc + k) & 1023];
            } while (++k < many + 1 || (k & 1 && k < 8));
        }
        for (unsigned k = 0; k < many; k++) {
            const unsigned v = table[(t * (k + 1) + r) & 1023];
            if (trips[k & 15] == 5) break;
            if ((v ^ lane) & 4) {
                acc += v;
                for (unsigned q = 0; q < trips[(r + k) & 15]; q++) acc ^= table[(lane * 8 + q * 4) & 1023];
            }
            mine[t * 8 + 7 - (k & 3)] += acc & 3;
        }
        if (many == 2) continue;
        if (many == 0 && r > 4) break;
        acc += mine[t * 8 + (acc & 7)];
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
