// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// A binary search of each lane in global memory in a loop with early exits, and a store by its trips.
__shared__ unsigned s[4096];
extern "C" __global__ void k10050(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    for (unsigned o = 0; o < n; ++o) {
        unsigned low = 0, high = 64, key = src[(g * 7 + o) & 1023] & 127, trips = 0;
        while (low < high) {
            unsigned mid = (low + high) >> 1;
            ++trips;
            s[(t + trips * 33) & 4095] = mid;
            if (mid * 2 == key) break;
            if (mid * 2 < key) low = mid + 1; else high = mid;
        }
        if (low < high) s[(t * 3 + o) & 4095] = low;
        else if (trips & 1) continue;
        acc += s[(t + o * 32 + 1) & 4095];
    }
    out[g] = acc;
}
