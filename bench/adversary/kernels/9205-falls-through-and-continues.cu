// launch 1 32 n=5
// launch 2 64 n=3
// launch 1 29 n=7
// Switches with fallthrough in a loop: some cases continue the loop, one breaks it, one jumps to another's label.
extern "C" __global__ void k9205(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 7 + (k >> 4)) & 7; }
    __syncthreads();
    unsigned state = q[t & 255], trips = 0;
    for (unsigned i = 0; i < n + 3; i++) {
        trips++;
        switch ((state + i) & 7) {
        case 0: s[(l * 2) & 1023] = i; state += 3; continue;
        case 1: acc += s[(l * 3 + i) & 1023]; [[fallthrough]];
        case 2: state ^= 1; acc += s[(l * 4 + state) & 1023]; [[fallthrough]];
        case 3: if (l & 1) goto five; s[(l + i * 32) & 1023] = acc; break;
        case 4: if (i > 4) goto done; state += 2; [[fallthrough]];
        case 5:
        five: acc += s[(l * 6) & 1023]; if (state & 8) continue; break;
        case 6: for (unsigned k = 0; k < 3; k++) { if (k == (l & 3)) break; acc += s[(l * 8 + k) & 1023]; } [[fallthrough]];
        default: state += l & 3;
        }
        s[(l * (state & 7)) & 1023] = i;
    }
done:
    acc += s[(l * trips) & 1023];
    switch (trips) {
    default: acc += s[(l * 16) & 1023];
    case 4: s[(l * 5) & 1023] = acc; if (0) {
    case 6: s[(l * 32) & 1023] = acc; } break;
    case 7: case 8: acc += s[(l * 9) & 1023];
    }
    __syncwarp();
    acc += s[(l * 10 + state) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
