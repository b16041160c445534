// launch 1 96 n=3
// launch 2 128 n=14
// launch 1 75 n=29
// launch 1 256 n=8
// Row pointers are scanned in shared memory, then rows go to sub-warps of 2, 8 or 32 lanes (by the mean) of unlike lengths, gathering x at a twisted stride; long rows are left for a merge-path pass of binary searches.
template <unsigned V> __device__ __forceinline__ unsigned rows_by(const unsigned* ptr, const unsigned* x, unsigned* y, const unsigned* src, unsigned rows, unsigned n, unsigned mask) {
    const unsigned lane = threadIdx.x & 31, sub = lane % V, groups = blockDim.x / V;
    unsigned acc = 0;
    for (unsigned base = 0; base < rows; base += groups) {
        const unsigned row = base + threadIdx.x / V;
        unsigned sum = 0;
        const bool mine = row < rows && threadIdx.x / V < groups;
        if (mine) {
            const unsigned from = ptr[row], to = ptr[row + 1];
            if (to - from <= 24)
                for (unsigned j = from + sub; j < to; j += V) {
                    const unsigned c = src[(j * 13 + n) & 4095];
                    if (c % 11 == 7) continue;
                    sum += x[(c + (c >> 5)) % 1056] * (j - from + 1);
                    if (sum > 9000) { sum -= x[c & 31]; break; }
                }
        }
        __syncwarp(mask);
        #pragma unroll
        for (unsigned d = V / 2; d; d >>= 1) {
            const unsigned other = __shfl_xor_sync(mask, sum, d, V);
            if (mask >> (lane ^ d) & 1) sum += other;
        }
        if (mine && sub == 0) y[row * (n & 3 ? 5 : 8) & 1023] = sum;
        acc += sum;
    }
    return acc;
}

extern "C" __global__ void k9981(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned ptr[130], x[1056], y[1024], part[8], longs[128], many;
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = (blockDim.x + 31) / 32;
    const unsigned rows = min(blockDim.x, 40 + n * 3), mask = warp * 32 + 32 <= blockDim.x ? ~0u : (1u << (blockDim.x & 31)) - 1;
    for (unsigned i = t; i < 1056; i += blockDim.x) x[i] = i * 3 & 255;
    for (unsigned i = t; i < 1024; i += blockDim.x) y[i] = 0;
    const unsigned raw = src[(t * 61 + n * 17 + blockIdx.x) & 4095];
    unsigned len = t < rows && t < 128 ? raw % (n & 1 ? 40 : n & 2 ? 9 : 2) * (raw >> 4 & 1) + (raw & 3) : 0;
    unsigned scan = len;
    for (unsigned d = 1; d < 32; d *= 2) {
        const unsigned v = __shfl_up_sync(mask, scan, d);
        if (lane >= d) scan += v;
    }
    if (lane == 31 || t == blockDim.x - 1) part[warp] = scan;
    if (t == 0) { ptr[0] = 0; many = 0; }
    __syncthreads();
    for (unsigned w = 0; w < warp; w++) scan += part[w];
    if (t < 128) ptr[t + 1] = scan;
    __syncthreads();
    const unsigned used = min(rows, 128u), total = ptr[used], mean = total / used;
    if (t == 0) {
        unsigned k = 0;
        for (unsigned r = 0; r < used; r++) if (ptr[r + 1] - ptr[r] > 24) longs[k++] = r;
        many = k;
    }
    unsigned acc;
    switch (mean) {
        case 0: case 1: case 2: acc = rows_by<2>(ptr, x, y, src, used, n, mask); break;
        case 3: acc = 77;
        case 4: case 5: case 6: acc = rows_by<8>(ptr, x, y, src, used, n, mask); break;
        default: acc = rows_by<32>(ptr, x, y, src, used, n, mask);
    }
    __syncthreads();
    for (unsigned k = warp; k < many; k += warps) {
        const unsigned row = longs[k], from = ptr[row], to = ptr[row + 1];
        for (unsigned j = from + lane; j < to; j += 32) acc += x[src[j * 5 & 4095] * 33 % 1056];
    }
    const unsigned share = (total + blockDim.x - 1) / blockDim.x;
    for (unsigned j = t * share, end = min(total, j + share); j < end;) {
        unsigned lo = 0, hi = used;
        while (lo + 1 < hi) {
            const unsigned mid = lo + hi >> 1;
            if (ptr[mid] <= j) lo = mid; else hi = mid;
        }
        const unsigned stop = min(end, ptr[lo + 1]);
        do acc += x[(j * 33 + lo) % 1056]; while (++j < stop);
        acc ^= y[lo * 8 & 1023];
    }
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc + f;
}
