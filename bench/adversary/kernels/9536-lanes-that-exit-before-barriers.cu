// launch 1 64 n=1
// launch 1 96 n=2
// launch 1 70 n=3
// Lanes exit in branches, in loops and behind votes; the others meet at barriers that count, reduce, and hand over.
extern "C" __global__ void k9536(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[96];
    box[t] = (l * 3 + w) & 31;
    __syncthreads();
    unsigned v = src[l + n] & 7;
    if (v == 0) asm volatile("exit;");
    unsigned living = __syncthreads_count(1);
    acc += s[(l * (living & 15)) & 1023];
    if ((l & 8) && w == 0) { s[(l * 2) & 1023] = 5; asm volatile("exit;"); }
    box[t] = box[t] + 1;
    unsigned odd = __syncthreads_or(v == 7 && w == 0);
    acc += s[(box[t ^ 1] * 4) & 1023];
    if (odd) s[(l * 8) & 1023] = acc; else acc += s[(l * 5) & 1023];
    for (unsigned k = 0; k < 3; k++) { if (__any_sync(__activemask(), v == k + 1) && v == k + 1) asm volatile("exit;"); acc += s[(l * 6 + k) & 1023]; }
    living = __syncthreads_count(v > 4);
    acc += s[(l * (living & 7)) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
