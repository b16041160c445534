// launch 997 32 n=613
// launch 41x7 64 n=100
// Hundreds of blocks whose strides, trips and branches depend on a block's number: products, remainders, squares, one alone.
extern "C" __global__ void k9787(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned b = blockIdx.x + blockIdx.y * gridDim.x;
    acc += s[(b * l) & 1023] + s[(b * b + l * (b % 7)) & 1023] + s[((b >> 3) * 32 + l * ((b & 7) + 1)) & 1023];
    if (b == n) acc += s[(l * 32) & 1023];
    if (b % 13 == 5) acc += s[(l * 16 + b) & 1023];
    for (unsigned k = 0; k < b % 6; k++) acc += s[(l * (k + b)) & 1023];
    for (unsigned k = b; k > 1; k /= 3) acc += s[(k * l) & 1023];
    unsigned group = b / 12, first = group * 4, in = b % 12, m = first + in % 4, c = in / 4; acc += s[(m * l + c * 64) & 1023];
    if (__popc(b) > 6) { __syncthreads(); acc += s[(l * 4) & 1023]; }
    out[(b * T + t) & 2047] = acc;
}
