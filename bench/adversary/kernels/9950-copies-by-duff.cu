// launch 1 32 n=1
// launch 2 96 n=5
// launch 1 57 n=7
// Copies of lengths that differ by lane, eight words a turn, entered in the middle (Duff's device), twice in a loop.
__device__ __noinline__ unsigned copy(unsigned* to, const unsigned* from, unsigned count, unsigned pitch) {
    unsigned turns = (count + 7) / 8, sum = 0, k = 0;
    switch (count & 7) {
    case 0: do { to[(k * pitch) & 511] = from[k & 511]; k++;
    case 7:      to[(k * pitch + 1) & 511] = from[k & 511] + sum; k += 2;
    case 6:      sum += from[(k * 3) & 511]; k++;
    case 5:      to[(k * pitch + 2) & 511] = sum; k++;
    case 4:      sum ^= to[(k * 5) & 511]; k++;
    case 3:      to[(k * pitch + 3) & 511] = k; k++;
    case 2:      sum += from[(k + pitch) & 511];
    case 1:      k++;
            } while (--turns > 0);
    }
    return sum;
}
extern "C" __global__ void k9950(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k * 3 + 1;
    __syncthreads();
    for (unsigned r = 0; r < (n & 3) + 2; r++) acc += copy(s + (t >> 5) * 64, s + 512, 9 + ((t * 7 + r * 5) & 15), 33 + r) & 3;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
