// launch 1 32 n=5
// launch 1 64 n=6
// Odd-even merge sort of records of eight and of twelve bytes; the keys come from memory, records move whole.
struct Item { unsigned key; unsigned short a, b; unsigned value; };
extern "C" __global__ void k9714(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ Item item[64];
    __shared__ uint2 two[64];
    unsigned count = 1u << n;
    if (t < count) { unsigned k = src[t * 3] ^ 5; item[t] = Item{k, (unsigned short)t, (unsigned short)k, t * 2}; two[t] = make_uint2(k, t); }
    __syncthreads();
    for (unsigned p = 1; p < count; p *= 2)
        for (unsigned k = p; k >= 1; k /= 2) {
            for (unsigned j = k % p; j + k < count; j += 2 * k) {
                unsigned i = t;
                if (i < min(k, count - j - k) && (i + j) / (p * 2) == (i + j + k) / (p * 2)) {
                    if (item[i + j].key > item[i + j + k].key) { Item x = item[i + j]; item[i + j] = item[i + j + k]; item[i + j + k] = x; }
                    uint2 a = two[i + j], b = two[i + j + k];
                    if (a.x > b.x) { two[i + j] = b; two[i + j + k] = a; }
                }
            }
            __syncthreads();
        }
    if (t < count) acc += s[two[t].y * 4] + s[item[t].a * 8 & 1023] + s[item[t].key & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
