// launch 2 64 n=9
// launch 1 96 n=1000
// launch 1 8x8x2 n=4
// Three loops in each other: inner ones leave to the outer label, out of two levels, or start the middle one again; the address is a count of rounds since the start, so one round has no conflict and mixed nests do.
extern "C" __global__ void k10022(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned tab[32 + 31 * 128];
    __shared__ uint2 wide[32 + 15 * 32];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y * blockDim.z, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 128; i += all) tab[i] = i * 11;
    for (unsigned i = t; i < 32 + 15 * 32; i += all) wide[i] = make_uint2(i, i * 3);
    __syncthreads();
    const unsigned own = src[(t * 9 + n * 3) & 4095];
    unsigned acc = own, o = 0, m = 0, i = 0, again = 0;
outer:
    if (o >= 5 + (n & 1)) goto done;
    o++;
    acc += tab[lane + 31 * (o * 16)];
    m = 0;
middle:
    for (; m < 4; m++) {
        for (i = 0; i < 3 + (lane & 1); i++) {
            acc += tab[lane + 31 * (o * 16 + m * 4 + i)];
            if (((own >> i) + m + o) % 5 == 4) goto outer;
            if ((lane + o * 3 + m) % 7 == i + 3) break;
            uint2 w = wide[lane + 15 * (o * 4 + m)];
            acc ^= w.x + (w.y << i);
            if (((own + m) ^ lane) % 11 == 10 && again < 2) { again++; m = again; goto middle; }
            if (o == 5 && src[(t * 17 + m * 64 + i) & 4095] % 6 == 5) goto done;
        }
        if ((lane >> 2) % 3 == m) { acc += 7; continue; }
        acc += tab[lane + 31 * (m + again)];
    }
    acc ^= tab[lane + 31 * (o + 1)];
    goto outer;
done:
    acc += tab[lane + 31 * (o * 4 + m)];
    __syncthreads();
    tab[t] = acc;
    __syncthreads();
    out[(blockIdx.x * all + t) & 4095] = acc + tab[all - 1 - t];
}
