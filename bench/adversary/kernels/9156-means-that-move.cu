// launch 1 32 n=3
// launch 1 64 n=5
// launch 2 75 n=7
// k-means in integers: the nearest centre by lane, sums by atomics at a padded stride, division, until no label changes.
extern "C" __global__ void k9156(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ int centre[8 * 3], sum[8 * 5];
    __shared__ unsigned label[96], s[1024];
    unsigned t = threadIdx.x, l = t & 31, size = blockDim.x, acc = 0, old = 99, trips = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    int p[3] = {(int)(src[t * 3] * 7 & 127), (int)(src[t * 5 + 1] * 11 & 127), (int)(src[t] & 63) - 32};
    if (t < n * 3) centre[t] = (int)(src[t * 17] & 127) - (t % 3 == 2 ? 60 : 0);
    __syncthreads();
    for (;;) {
        if (t < 40) sum[t] = 0;
        int nearest = 1 << 30;
        unsigned best = 0;
        for (unsigned k = 0; k < n; k++) {
            int d = 0;
#pragma unroll
            for (unsigned c = 0; c < 3; c++) { int e = p[c] - centre[k * 3 + c]; d += c == 1 ? abs(e) * 4 : e * e >> 2; }
            if (d < nearest) { nearest = d; best = k; }
        }
        __syncthreads();
#pragma unroll
        for (unsigned c = 0; c < 3; c++) atomicAdd(&sum[best * 5 + c], p[c]);
        atomicAdd(&sum[best * 5 + 3], 1);
        if (best != old) s[(best * 32 + l + trips) & 1023] = trips;
        unsigned changed = __syncthreads_count(best != old);
        old = best;
        trips++;
        if (changed == 0 || trips == 6) break;
        if (t < n * 3) {
            int count = sum[t / 3 * 5 + 3];
            if (count) centre[t] = sum[t / 3 * 5 + t % 3] / count;
        }
        acc += s[(changed * l) & 1023];
        __syncthreads();
    }
    label[t] = old;
    __syncthreads();
    unsigned order = 0;  // a counting sort by label
    for (unsigned k = 0; k < size; k++) order += label[k] < old || (label[k] == old && k < t);
    s[(order * 8 + old) & 1023] = t;
    acc += s[(unsigned)(centre[old * 3] * 4 + sum[old * 5 + 3]) & 1023] + s[(trips * t) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
