// launch 1 64 n=5
// launch 2 32 n=4
// A switch in a loop by a state of each lane, whose cases fall through, continue, nap, and leave two loops; then barriers.
extern "C" __global__ void k9776(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned state = l % 6, trips = 0;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0;; j++) {
            switch (state) {
                case 0: acc += s[(l * 2 + i) & 1023]; state = 3; continue;
                case 1: acc += s[(l * 4) & 1023];
                case 2: acc += s[(l * 8 + j) & 1023]; state = (state + j) % 6; break;
                case 3: if (j > 1) goto next; state = 4;
                case 4: acc += s[(l + j * 32) & 1023]; if (i == 3) goto out_; state = 1; break;
                default: __nanosleep(10); acc += s[(l * 16) & 1023]; state = 0;
            }
            if (++trips > 40 || j > 3) break;
        }
        acc += s[(i * 32 + l) & 1023];
next:   state = (state + 1) % 6;
    }
out_:
    __syncwarp();
    acc += s[(trips * l) & 1023];
    __syncthreads();
    acc += s[t * 8];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
