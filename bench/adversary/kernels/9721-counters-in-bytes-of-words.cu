// launch 1 64 n=9
// launch 2 32 n=14
// Histograms of a private copy per thread, in bytes at stride T; sums of columns by dp4a, by rotated columns to spread banks.
extern "C" __global__ void k9721(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned bytes[16 * 64];
    unsigned char* mine = (unsigned char*)bytes;
    for (unsigned i = t; i < 16 * T; i += T) bytes[i] = 0;
    __syncthreads();
    for (unsigned i = 0; i < n; i++) { unsigned b = src[(i * T + t) & 1023] & 63; mine[(b >> 2) * T * 4 + t * 4 + (b & 3)]++; }
    __syncthreads();
    for (unsigned b = t; b < 16; b += T) { unsigned sum = 0; for (unsigned k = 0; k < T; k++) sum = __dp4a(bytes[b * T + (k + b) % T], 0x01010101u, sum); acc += sum; s[b * 33 & 1023] = sum; }
    __syncthreads();
    acc += s[s[(l & 15) * 33 & 1023] & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
