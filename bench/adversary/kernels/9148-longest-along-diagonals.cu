// launch 1 32 n=20
// launch 1 64 n=50
// launch 1 45 n=45
// The longest common subsequence by anti-diagonals in three rotating rows, directions of two bits in words, then a walk back by one lane.
extern "C" __global__ void k9148(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned short diagonal[3][72];
    __shared__ unsigned char a[64], b[64];
    __shared__ unsigned direction[64 * 5], path[128], steps, s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 216; k += size) (&diagonal[0][0])[k] = 0;
    for (unsigned k = t; k < 320; k += size) direction[k] = 0;
    if (t < 64) { a[t] = (unsigned char)(src[t * 5] % 4); b[t] = (unsigned char)(src[t * 3 + 1] % 5); }
    __syncthreads();
    unsigned rows = min(n, size), columns = n;
    for (unsigned d = 0; d < rows + columns - 1; d++) {
        unsigned short *now = diagonal[d % 3], *before = diagonal[(d + 2) % 3], *two = diagonal[(d + 1) % 3];
        if (t < rows && d >= t && d - t < columns) {
            unsigned j = d - t, up = before[t], left = before[t + 1], way;
            if (j == 0) left = 0;
            unsigned best;
            if (a[t] == b[j % 64]) { best = (j ? two[t] : 0) + 1; way = 1; }
            else { best = max(up, left); way = up >= left ? 2 : 3; }
            now[t + 1] = (unsigned short)best;
            direction[t * 5 + (j >> 4)] |= way << (j & 15) * 2;
            if (way == 1) s[(best * 32 + t) & 1023] = j;
        }
        __syncthreads();
    }
    if (t == 0) {
        int i = rows - 1, j = columns - 1;
        unsigned k = 0;
        while (i >= 0 && j >= 0) {
            unsigned way = direction[i * 5 + (j >> 4)] >> (j & 15) * 2 & 3;
            if (way == 1) path[k++] = i * 64 + j;
            if (way != 3) i--;
            if (way != 2) j--;
        }
        steps = k;
    }
    __syncthreads();
    for (unsigned k = t; k < steps; k += size) acc += s[(path[k] * 2) & 1023];
    acc += s[(steps * t) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
