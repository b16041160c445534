// launch 1 32 n=5
// launch 3 64 n=12
// launch 1 50 n=0
// Loops and branches that depend on parameters, block numbers, ballots and first lanes; uniform products in addresses.
extern "C" __global__ void k9032(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned b = __ballot_sync(__activemask(), (l * n) & 4), first = __shfl_sync(__activemask(), t * n, 0);
    for (unsigned i = 0; i < __popc(b) % 5; i++) acc += s[(l * 2 + i * n) & 1023];
    for (unsigned i = first & 7; i < 10; i += 3) s[(l * first + i) & 1023] = i;
    if (src[blockIdx.x + n] & 1) acc += s[(l * blockIdx.x) & 1023];
    unsigned k = n * gridDim.x + blockIdx.x * 7;
    while (k) { acc += s[(l * (k & 7) + k) & 1023]; k >>= 1; }
    for (long long q = -3; q < (long long)(n & 3); q++) s[(l * 3 + (unsigned)(q * q)) & 1023] = 1;
    for (unsigned char c = 250; c != 2; c += 2) acc += s[(l + c * 4) & 1023];
    for (unsigned i = 0xFFFFFFFEu; i != (n & 1); i++) acc += s[(l * i) & 1023];
    for (float x = 0.5f; x < 4.0f * f; x *= 2.0f) acc += s[(unsigned)(x * l) & 1023];
    for (unsigned i = l; i < 40; i += 16) for (unsigned j = i; j < 36; j += 9) acc += s[(i * 32 + j) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
