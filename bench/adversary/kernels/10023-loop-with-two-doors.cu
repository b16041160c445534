// launch 2 96 n=700
// launch 1 64 n=3
// launch 1 45x2 n=16
// A loop that lanes enter at three places (goto into it), with three latches, a second such loop directly after it, and the round counted at each door.
extern "C" __global__ void k10023(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned tab[32 + 31 * 48];
    __shared__ unsigned short half[2 * (32 + 31 * 48)];
    const unsigned t = threadIdx.y * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 48; i += all) { tab[i] = i ^ 21; half[i * 2] = i; half[i * 2 + 1] = i * 7; }
    __syncthreads();
    const unsigned own = src[(t * 6 + n) & 4095], most = 12 + n % 9;
    unsigned acc = own, k = 0, q = 0, turns = 0;
    if (lane & 1) goto second;
    if (own & 4) goto third;
first:
    acc += tab[lane + 31 * k];
    if ((own >> (k & 3)) & 1) { k++; if (k < most) goto first; }
second:
    acc ^= half[2 * (lane + 31 * k) + (acc & 1)];
    k++;
    if ((lane + k) % 3 == 0 && k < most) goto second;
third:
    acc += tab[lane + 31 * (k + 2)] << 1;
    turns++;
    if (k < most && (turns + lane) % 4 != 0) goto first;
    if (k < most) { k++; if (own & 8) goto second; goto third; }
    // no barrier: the second loop begins while others are in the first
    if ((own + lane) % 3 == 0) goto in;
    do {
        acc += tab[lane + 31 * q];
        if (acc % 5 == 0) { q += 2; continue; }
in:
        q++;
        acc = acc * 3 + tab[lane + 31 * (q + 1)];
        if (src[(q * 40 + t) & 4095] % 9 == 8) goto away;
    } while (q < 6 + (lane & 7));
    acc ^= tab[lane + 31 * q];
away:
    acc += tab[lane + 31 * turns % 1024];
    __syncthreads();
    acc += tab[t] + half[2 * t];
    out[(blockIdx.x * all + t) & 4095] = acc;
}
