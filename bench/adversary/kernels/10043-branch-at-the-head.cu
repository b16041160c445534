// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// A loop begins with a branch that some lanes take, and each lane leaves it in a trip of its own.
__shared__ unsigned s[4096];
extern "C" __global__ void k10043(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    unsigned o = 0, limit = n + (src[g & 1023] & 3);
    while (true) {
        if (src[(g + o) & 1023] & 2) {
            s[(t + o * 33) & 4095] = o;
        }
        acc += s[(t * 5 + o) & 4095];
        if (++o >= limit) break;
    }
    s[(t + o * 64) & 4095] = acc;
    out[g] = acc;
}
