// launch 1 32 n=4
// launch 2 64 n=9
// launch 1 47 n=17
// Loops with two and three exits; which exit a lane took (not how often it went round) decides what follows; exits merge pairwise.
extern "C" __global__ void k9209(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 11 + 5) % 29; }
    __syncthreads();
    unsigned way = 0, i = 0, x = q[l];
    for (;;) {
        if (i >= n) { way = 1; break; }
        acc += s[(l * 2 + i) & 1023];
        x = (x * 5 + 3) % 29;
        if (x == (l & 15)) { way = 2; break; }
        if (x > 24) { way = 3; goto third; }
        s[(l * 4 + x) & 1023] = i;
        i++;
    }
    if (way == 1) acc += s[(l * 8) & 1023]; else s[(l * 3) & 1023] = acc;
third:
    acc += s[(l * way + (i & 3) * 32) & 1023];
    unsigned k = l & 7;
    while (true) {
        for (unsigned j = 0; j < 4; j++) {
            if (q[(k * 4 + j) & 1023] > 20) goto high;
            if (j == way) goto low;
            acc += s[(l + j * 33) & 1023];
        }
        k += 3;
        if (k > 20) goto out_;
        continue;
    high: s[(l * 16) & 1023] = k; k += 8; if (k > 24) break; continue;
    low: acc += s[(l * 6 + k) & 1023]; k += 5; if (k > 22) break;
    }
    s[(k * l) & 1023] = acc;
out_:
    acc += s[(k * 2 + l) & 1023];
    __syncthreads();
    s[(l * (way + 4)) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
