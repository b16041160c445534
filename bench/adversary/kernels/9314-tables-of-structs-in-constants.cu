// launch 1 32 n=2
// launch 1 40 n=6
// launch 2 64 n=33
// Constant and static device tables of structs that point into one another by index and by byte offset, read by lane and through pointers.
struct Step { unsigned char op, next; short delta; unsigned mask; };
__constant__ Step steps[8] = {{0, 3, 5, 0x55555555}, {1, 0, -7, 0x0F0F0F0F}, {2, 6, 33, 0xFFFF}, {1, 4, 64, 0x80000001},
                              {0, 7, -1, 0xF0F0F0F0}, {3, 1, 17, 0x33333333}, {2, 5, 8, 0xAAAAAAAA}, {1, 2, -32, 0x7FFFFFFE}};
__constant__ double weights[4] = {0.25, 1e3, -3.75, 7.0 / 3.0};
static __device__ const signed char deltas[16] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16};
static __device__ const unsigned* const none = nullptr;
__device__ const unsigned short perm[32] = {31, 0, 17, 5, 9, 22, 14, 3, 28, 11, 6, 19, 1, 25, 30, 8, 12, 20, 2, 27, 15, 7, 24, 10, 29, 4, 18, 13, 26, 21, 16, 23};
__constant__ unsigned char const* text = (unsigned char const*)"swizzle by letters";
extern "C" __global__ void k9314(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned at = (t + n) & 7, index = t * 4;
    for (unsigned i = 0; i < 6; i++) {
        const Step& now = steps[at];
        index += (unsigned)now.delta;
        if (now.mask >> l & 1) acc += s[(index + now.op) & 1023];
        if (now.op == 3) break;
        if (now.op == 2) s[(index * 2) & 1023] = acc;
        at = now.next;
    }
    acc += s[(512 + deltas[t & 15] * 9) & 1023];
    acc += s[perm[l] * 32 & 1023];
    acc += s[(perm[perm[l]] * 4 + perm[31 - l]) & 1023];
    acc += s[(unsigned)(int)(weights[t & 3] * (double)t) & 1023];
    const unsigned* either = none ? none : (const unsigned*)steps;
    acc += s[either[(l & 7) * 2 + 1] >> 22];
    acc += s[(text[l % 18] * 8 + text[(l + n) % 18]) & 1023];
    const void* mixed = l & 1 ? (const void*)&perm[l] : (const void*)&deltas[l >> 1];
    acc += s[(*(const unsigned char*)mixed * 3) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
