// launch 1 64 n=1
// launch 1 96 n=2
// A warp leaves generic and shared pointers, offsets and a function's number for another; they are dereferenced behind named barriers.
extern "C" __global__ void k9556(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned* where[3]; __shared__ unsigned offset[96], which;
    __shared__ unsigned other[512];
    for (unsigned k = t; k < 512; k += T) other[k] = k & 15;
    offset[t] = 0;
    if (t == 0) { where[0] = s; where[1] = s; where[2] = s; which = 0; }
    __syncthreads();
    if (w == 1) {
        offset[l] = (l * (n + 1)) & 63;
        if (l == 7) { where[1] = other + n; where[2] = (n & 1) ? other : s + 32; which = n; }
        asm volatile("bar.arrive 4, 64;" ::: "memory");
        acc += s[(l * 2) & 1023];
    } else if (w == 0) {
        asm volatile("bar.sync 4, 64;" ::: "memory");
        acc += where[1][offset[l] * 4] + where[0][offset[l ^ 1]];
        where[2][l * 8] = acc;
        if (which == 1) acc += s[(l * 3) & 1023]; else acc += other[(l * 4) & 511];
    }
    __syncthreads();
    acc += where[2][(l * 2) & 255] + where[1][(l + offset[31]) & 255];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
