// launch 1 32 n=2
// launch 1 64 n=3
// launch 1 29 n=3
// Two functions that call each other from inside loops and switches, with __syncwarp of the active lanes.
__device__ unsigned odd(unsigned* s, unsigned depth, unsigned t);
__device__ __noinline__ unsigned even(unsigned* s, unsigned depth, unsigned t) {
    unsigned acc = 0;
    for (unsigned i = 0; i < 1 + (t & 1); i++) {
        s[(t * 2 + i + depth * 32) & 1023] = i;
        switch ((t + i + depth) % 5) {
        case 0: if (depth) acc += odd(s, depth - 1, t + i); break;
        case 1: acc += s[(t * 4 + depth) & 1023];
        case 2: s[(t * 3) & 1023] = acc; if (depth) acc += odd(s, depth - 1, t * 2); continue;
        case 3: if (t & 8) return acc;
        }
        acc += s[(t + i * 9 + depth * 5) & 1023];
    }
    return acc;
}
__device__ __noinline__ unsigned odd(unsigned* s, unsigned depth, unsigned t) {
    unsigned acc = t;
    while (acc & 3) { acc--; s[(acc * 4 + t) & 1023] = depth; }
    __syncwarp(__activemask());
    acc += s[(t * 5 + depth * 32) & 1023];
    if (depth && (t & 2)) acc += even(s, depth - 1, t + 3);
    s[(t * 8 + depth) & 1023] = acc;
    return acc + depth;
}
extern "C" __global__ void k9022(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    if (t % 5 < 3) acc = even(s, n, t); else acc = odd(s, n & 1, t);
    s[(t * 3) & 1023] = acc;
    __syncthreads();
    acc += s[(t * 9) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
