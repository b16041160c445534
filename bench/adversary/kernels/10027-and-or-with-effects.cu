// launch 2 64 n=700
// launch 1 96 n=12
// launch 1 3x17x2 n=5
// Conditions made of && and || and ?: whose parts are calls with loops and side effects on a count of tests; the row is that count, or the trip in the function, so lanes that skipped a part conflict with those that did not.
__shared__ unsigned tab[32 + 31 * 100];
__shared__ unsigned char bytes[4 * (32 + 31 * 50)];
__device__ __noinline__ bool test(unsigned lane, unsigned& tests, unsigned v) {
    const unsigned w = tab[lane + 31 * tests];
    tests++;
    return (w ^ v) % 3 == 0;
}
__device__ __noinline__ bool search(unsigned lane, unsigned& tests, unsigned v) {
    for (unsigned i = 0; i < 6; i++) {
        if (bytes[4 * (lane + 31 * i) + (v & 3)] % 7 == (v + i) % 7) return true;
        if (i >= (lane & 3) && test(lane, tests, v + i)) break;
    }
    return v & 1;
}
__device__ __noinline__ unsigned sum(unsigned lane, unsigned from, unsigned to) {
    unsigned acc = 0;
    do { acc += tab[lane + 31 * from]; } while (++from < to);
    return acc;
}

extern "C" __global__ void k10027(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y * blockDim.z, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 100; i += all) tab[i] = (i * 2654435u) >> 7;
    for (unsigned i = t; i < 4 * (32 + 31 * 50); i += all) bytes[i] = i * 5 + (i >> 3);
    __syncthreads();
    const unsigned own = src[(t * 4 + n) & 4095];
    unsigned acc = own, tests = 0, r = 0;
    while ((test(lane, tests, own + r) && r < 9) || (r < 4 + (lane & 3) && !search(lane, tests, own >> 1)) || r == 0) {
        r++;
        acc += (own >> r) & 1 ? sum(lane, r, r + 1 + (lane & 3)) : (lane ^ r) & 2 ? sum(lane, 20, 21 + r % 3) : tab[lane + 31 * r];
        if (test(lane, tests, acc) && (search(lane, tests, acc) || test(lane, tests, r))) continue;
        if (tests > 40 || (r > 5 && test(lane, tests, own ^ r))) break;
        acc ^= (tests & 1 ? search(lane, tests, r) && test(lane, tests, n) : test(lane, tests, f > 1.0f ? 2 : 3) || search(lane, tests, 9)) ? tab[lane + 31 * tests] : 77u;
    }
    acc += tab[lane + 31 * tests % 3000] + tab[lane + 31 * r];
    __syncthreads();
    acc += tab[t] + bytes[t * 4];
    out[(blockIdx.x * all + t) & 4095] = acc;
}
