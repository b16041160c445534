// launch 3 96 n=700
// launch 2 128 n=5
// launch 1 77 n=33
// One loop with two continues and two breaks (by data, by lane); each round's row is 31 words on, so lanes that continued early meet others of an older round.
extern "C" __global__ void k10021(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned tab[32 + 31 * 40], put[24 * 159];
    const unsigned t = threadIdx.x, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 40; i += blockDim.x) tab[i] = i * 5 + 1;
    for (unsigned i = t; i < 24 * 159; i += blockDim.x) put[i] = i;
    __syncthreads();
    const unsigned own = src[(t * 5 + n + blockIdx.x * 77) & 4095];
    unsigned acc = lane, trip = 0, kept = 0;
    while (trip < 24) {
        acc += tab[lane + 31 * trip];
        trip++;
        if ((own >> (trip & 7)) & 1) { acc ^= 3; continue; }
        put[(trip - 1) * 159 + t] = acc;
        if (kept > lane % 5 + 6) break;
        kept++;
        if ((trip + lane) % 3 == 0) {
            acc += tab[lane + 31 * (trip + 4)];
            if (src[(trip * 50 + t) & 4095] & 4) continue;
            acc *= 3;
            if (src[(trip * 31 + t * 3 + n) & 4095] % 13 == 12) break;
        }
        acc -= tab[lane + 31 * kept];
    }
    acc += tab[lane + 31 * trip];
    acc ^= tab[lane + 31 * kept];
    __syncthreads();
    acc += put[(t ^ 1) % blockDim.x] + tab[lane];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
