// launch 1 64 n=5
// launch 1 16x6 n=3
// Hysteresis and labels on a tile: neighbours' labels spread until __syncthreads_or says that none has changed.
extern "C" __global__ void k9746(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned label[10][18];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, T = blockDim.x * blockDim.y, acc = 0, trips = 0;
    for (unsigned i = t; i < 180; i += T) label[i / 18][i % 18] = 0;
    __syncthreads();
    for (unsigned i = t; i < 128; i += T) label[1 + i / 16][1 + i % 16] = src[i * n] % 3 ? i + 1 : 0;
    __syncthreads();
    bool changed;
    do {
        changed = false;
        for (unsigned i = t; i < 128; i += T) {
            unsigned y = 1 + i / 16, x = 1 + i % 16, me = label[y][x];
            if (me) { unsigned m = max(max(label[y - 1][x], label[y + 1][x]), max(label[y][x - 1], label[y][x + 1])); if (m > me) { changed = true; label[y][x] = m; } }
        }
        trips++;
    } while (__syncthreads_or(changed) && trips < 3);
    acc += label[1 + (t >> 4 & 7)][1 + (t & 15)];
    out[t] = acc + label[t % 10][trips];
}
