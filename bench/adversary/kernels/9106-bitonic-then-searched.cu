// launch 1 32 n=100
// launch 1 64 n=128
// launch 1 48 n=77
// A bitonic sort of keys with values, of which the last are padding; then searches of the sorted keys by lane.
extern "C" __global__ void k9106(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned key[128], s[1024];
    __shared__ unsigned char value[128];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k * 9;
    for (unsigned k = t; k < 128; k += size) {
        key[k] = k < n ? (src[k] * 2654435761u) >> 22 : ~0u;
        value[k] = (unsigned char)k;
    }
    __syncthreads();
    for (unsigned k = 2; k <= 128; k *= 2)
        for (unsigned j = k / 2; j; j /= 2) {
            for (unsigned i = t; i < 128; i += size) {
                unsigned o = i ^ j;
                if (o > i) {
                    unsigned a = key[i], b = key[o];
                    if (a != b && (a > b) == ((i & k) == 0)) {
                        key[i] = b; key[o] = a;
                        unsigned char x = value[i]; value[i] = value[o]; value[o] = x;
                    }
                }
            }
            __syncthreads();
        }
    acc += s[key[t] & 1023];
    acc += s[(value[t] * 8u) & 1023];
    unsigned wanted = (t * 29) & 1023, low = 0, high = n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (key[middle] < wanted) low = middle + 1; else high = middle;
    }
    s[(low * 16 + t) & 1023] = wanted;
    acc += low < n && key[low] == wanted ? s[(low * 2) & 1023] : 0;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
