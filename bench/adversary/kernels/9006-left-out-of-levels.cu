// launch 1 32 n=2
// launch 1 48 n=4
// launch 2 64 n=7
// Nested loops in a switch, left from one, two and three levels, and exits of the kernel from all of them.
extern "C" __global__ void k9006(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048];
    unsigned t = threadIdx.x, acc = 0, l = t & 31;
    for (unsigned k = t; k < 2048; k += blockDim.x) s[k] = k * 11;
    __syncthreads();
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 3 + (l & 1); j++) {
            for (unsigned k = 0; k < 3; k++) {
                acc += s[(l * 2 + i * 64 + k) & 2047];
                switch ((l + i + j * 3 + k * 5) % 11) {
                case 0: goto next_i;
                case 1: goto next_j;
                case 2: s[(l + k) & 2047] = acc; continue;
                case 3: acc ^= s[(l * 4 + j) & 2047];
                case 4: s[1024 + ((l * 8 + i) & 1023)] = k; break;
                case 5: if (n > 3 && i == 3) goto all; break;
                case 9: if (i == 2 && (l & 4)) { out[(blockIdx.x * blockDim.x + t) & 2047] = acc; return; }
                default: acc++;
                }
                s[1024 + ((l * 3 + acc * 0) & 1023)] = j;
            }
            s[(l * 5 + j) & 2047] = i;
next_j:     acc += s[(l * 6) & 2047];
        }
        acc += s[(l * 7 + i) & 2047];
next_i: s[(l + i * 32) & 2047] = i;
    }
all:
    s[(l * 9) & 2047] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
