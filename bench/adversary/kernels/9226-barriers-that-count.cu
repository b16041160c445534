// launch 1 64 n=5
// launch 2 96 n=9
// launch 1 75 n=3
// barrier.red and/or/popc of all threads or of named sets, inverted predicates; results end loops, pick paths and strides.
__device__ unsigned vote(unsigned id, unsigned count, bool b) { unsigned r; asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; barrier.red.popc.u32 %0, %1, %2, !p; }" : "=r"(r) : "r"(id), "r"(count), "r"((unsigned)b) : "memory"); return r; }
__device__ bool both(bool b) { unsigned r; asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 1; barrier.red.and.pred q, 2, p; selp.u32 %0, 1, 0, q; }" : "=r"(r) : "r"((unsigned)b) : "memory"); return r; }
extern "C" __global__ void k9226(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned left = (t * 5) % n + 1, i = 0;
    while (__syncthreads_or(left > 0)) {
        if (left) { left--; acc += s[(l * (left + 2)) & 1023]; } else s[(l * 3 + i * 32) & 1023] = i;
        i++;
    }
    s[(l * i) & 1023] = acc;
    unsigned c = __syncthreads_count((t ^ n) & 4);
    acc += s[(l * c) & 1023];
    unsigned size = (nt + 31) / 32 * 32, r = vote(3, size, t % 3 == 0);
    s[(l * r + w) & 1023] = r;
    for (unsigned k = 0; k < 6; k++) { if (both(l + k * 8 >= n * 2)) { acc += s[(l * (k + 4)) & 1023]; break; } s[(l * 2 + k) & 1023] = k; }
    if (w == 0) { r = vote(5, 32, l > 4 + n); acc += s[(l * r) & 1023]; }
    else if (w == 1 && nt >= 64) { r = vote(6, 32, l & 2); if (r == 16) acc += s[(l * 5) & 1023]; }
    if (__syncthreads_and(t < nt - (n & 1))) acc += s[(l * 16) & 1023]; else s[(l * 32) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
