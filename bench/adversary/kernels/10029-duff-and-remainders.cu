// launch 2 96 n=700
// launch 1 128 n=13
// launch 1 70 n=2
// Duff's device with a remainder and a length by lane, then (no barrier) a loop unrolled by 4 with a remainder by data, then one whose counter the body changes too; rows by the count of elements done.
extern "C" __global__ void k10029(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned tab[32 + 31 * 64], put[26 * 159];
    const unsigned t = threadIdx.x, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 64; i += blockDim.x) tab[i] = i * 7;
    for (unsigned i = t; i < 26 * 159; i += blockDim.x) put[i] = i;
    __syncthreads();
    const unsigned own = src[(t * 3 + n) & 4095], count = 1 + (lane * 5 + n) % 23;
    unsigned acc = own, k = 0, left = (count + 7) / 8;
    switch (count % 8) {
        case 0: do { acc += tab[lane + 31 * k++];
        case 7:      put[k * 159 + t] = acc; k++;
        case 6:      acc ^= tab[lane + 31 * k++];
                     if (acc % 13 == 5) goto out_of_it;
        case 5:      acc += tab[lane + 31 * k++] << 1;
        case 4:      acc *= 3; k++;
        case 3:      acc += tab[lane + 31 * k++];
                     if (own & 16) { k--; }
        case 2:      acc ^= put[k * 159 + t]; k++;
        case 1:      acc += tab[lane + 31 * k++];
                } while (--left > 0);
    }
out_of_it:
    acc += tab[lane + 31 * k];
    #pragma unroll 4
    for (unsigned i = 0; i < 2 + (own & 15); i++) {
        acc += tab[lane + 31 * i];
        if ((acc >> 2) % 7 == i % 7) continue;
        acc ^= tab[lane + 31 * (i + 1)];
    }
    #pragma unroll 4
    for (unsigned i = 0; i < n % 29; i++) {
        acc += tab[lane + 31 * i];
        if (acc % 23 == 22) break;
        put[(i % 26) * 159 + t] = acc;
        if ((lane + i) % 6 == 0) i++;
        else if (acc % 8 == 7) i += 2;
    }
    unsigned j = 20;
    do {
        j--;
        acc += tab[lane + 31 * j];
        if ((lane ^ j) % 5 == 0) { j -= j > 2 ? 2 : j; continue; }
        acc += 1;
    } while (j > (lane & 7) && j > 0);
    acc += tab[lane + 31 * j];
    __syncthreads();
    acc += put[159 * 3 + (t ^ 1) % blockDim.x];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
