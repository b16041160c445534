// launch 1 32 n=20
// launch 1 64 n=30
// Two tables of one hash each; atomicExch throws out the key that was there, which goes to its other table.
extern "C" __global__ void k9712(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned a[64], b[64];
    for (unsigned i = t; i < 64; i += T) a[i] = b[i] = 0;
    __syncthreads();
    unsigned key = t < n ? t * 11 + 7 : 0, tries = 0;
    while (key && tries < 12) {
        key = (tries & 1) ? atomicExch(&b[key * 0x9E3779B1u >> 26], key) : atomicExch(&a[key * 0x85EBCA6Bu >> 26], key);
        tries++;
    }
    __syncthreads();
    unsigned q = l * 11 + 7, found = a[q * 0x85EBCA6Bu >> 26] == q ? 1 : b[q * 0x9E3779B1u >> 26] == q ? 2 : 0;
    acc += s[(l * 4) & 1023] + found + tries;
    acc += s[__popc(__ballot_sync(__activemask(), found != 0)) & 0];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
