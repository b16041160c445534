// launch 1 64 n=2
// launch 1 128 n=3
// Warps append to a list by atomicAdd of the leader, of lanes, and by exch of its head; lengths are known, the order is not.
extern "C" __global__ void k9542(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned count, list[256], head, next[256];
    if (t == 0) { count = 0; head = 255; }
    for (unsigned k = t; k < 256; k += T) { list[k] = 0; next[k] = 255; }
    __syncthreads();
    unsigned v = (l * 7 + w) & 31;
    if (v % (n + 1) == 0) { unsigned at = atomicAdd(&count, 1); list[at & 255] = v; }
    next[t] = atomicExch(&head, t);
    __syncthreads();
    unsigned m = count;
    acc += s[(l * (m & 15)) & 1023];
    for (unsigned k = l; k < m; k += 32) acc += s[(list[k] * 4) & 1023];
    for (unsigned k = 0; k < (m & 3); k++) s[(l * 3 + k) & 1023] = k;
    unsigned at = head, steps = 0;
    if (w == 0) while (at != 255 && steps < 300) { steps++; at = next[at]; }
    acc += s[(l * (steps & 31)) & 1023];
    if (w == 0 && steps == T) s[(l * 2) & 1023] = 1; else acc += s[(l * 8) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
