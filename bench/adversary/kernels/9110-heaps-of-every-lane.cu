// launch 1 32 n=5
// launch 1 64 n=9
// launch 2 41 n=12
// A binary heap for each lane, interleaved, then blocked: trips of sifting and places depend on the data of the lane.
extern "C" __global__ void k9110(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned short heap[16 * 64], flat[64 * 17];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, filled = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k * 7;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        unsigned short x = (unsigned short)((src[(t * 11 + k * 37) & 2047] * 73 + t) & 511);
        unsigned i = filled++;
        while (i > 0) {
            unsigned parent = (i - 1) / 2;
            unsigned short p = heap[parent * size + t];
            if (p <= x) break;
            heap[i * size + t] = p;
            i = parent;
        }
        heap[i * size + t] = x;
    }
    for (unsigned k = 0; k < n; k++) flat[t * 17 + k] = heap[k * size + t];
    for (unsigned round = 0; round < 3 + (t & 1); round++) {
        unsigned short top = flat[t * 17], last = flat[t * 17 + --filled];
        acc += s[(top * 2 + round) & 1023];
        unsigned i = 0;
        for (;;) {
            unsigned child = 2 * i + 1;
            if (child >= filled) break;
            unsigned short c = flat[t * 17 + child];
            if (child + 1 < filled) {
                unsigned short d = flat[t * 17 + child + 1];
                if (d < c) { c = d; child++; }
            }
            if (c >= last) break;
            flat[t * 17 + i] = c;
            i = child;
        }
        flat[t * 17 + i] = last;
        s[(i * 32 + (t & 31)) & 1023] = top;
    }
    acc += s[(flat[t * 17] * 4u) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
