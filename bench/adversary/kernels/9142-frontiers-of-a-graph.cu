// launch 1 32 n=1
// launch 1 64 n=5
// launch 1 50 n=11
// Breadth-first search: frontiers as bitmaps and as queues compacted from them; down with queues, up from the unvisited when wide.
extern "C" __global__ void k9142(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned visited[6], now[6], next[6], queue[192], level[192], s[1024];
    unsigned t = threadIdx.x, l = t & 31, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 192; k += size) level[k] = 255;
    if (t < 6) { visited[t] = now[t] = t == 0 ? 1u << n : 0; next[t] = 0; }
    __syncthreads();
    for (unsigned depth = 0; depth < 12; depth++) {
        unsigned count = 0;
        for (unsigned k = 0; k < 6; k++) count += __popc(now[k]);
        if (count == 0) break;
        for (unsigned v = t; v < 192; v += size)
            if (now[v >> 5] >> (v & 31) & 1) {
                unsigned rank = __popc(now[v >> 5] & ((1u << (v & 31)) - 1));
                for (unsigned k = 0; k < v >> 5; k++) rank += __popc(now[k]);
                queue[rank] = v;
                level[v] = depth;
            }
        __syncthreads();
        if (count < 20) {
            for (unsigned i = t; i < count; i += size) {
                unsigned v = queue[i], degree = 1 + v % 4;
                for (unsigned e = 0; e < degree; e++) {
                    unsigned u = e == 0 ? (v * 3 + 1) % 192 : e == 1 ? (v + 7 * n) % 192 : (v * v + e) % 192;
                    if (!(visited[u >> 5] >> (u & 31) & 1)) atomicOr(&next[u >> 5], 1u << (u & 31));
                }
            }
        } else {
            for (unsigned v = t; v < 192; v += size) {
                if (visited[v >> 5] >> (v & 31) & 1) continue;
                for (unsigned e = 0; e < 5; e++) {
                    unsigned u = (v * 5 + e * 37) % 192;
                    if (now[u >> 5] >> (u & 31) & 1) { atomicOr(&next[v >> 5], 1u << (v & 31)); break; }
                }
            }
        }
        __syncthreads();
        if (t < 6) { now[t] = next[t] & ~visited[t]; visited[t] |= next[t]; next[t] = 0; }
        acc += s[(queue[t % count] * 4) & 1023];
        __syncthreads();
    }
    acc += s[(level[t] * l) & 1023];
    s[(level[191 - t] * 32 + (visited[t % 6] & 31)) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
