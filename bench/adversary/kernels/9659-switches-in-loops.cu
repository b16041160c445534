// launch 1 64 n=6
// launch 1 32 n=11
// A switch in nested loops that falls through, continues the outer loop, breaks both, or returns before no barrier.
extern "C" __global__ void k9659(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; unsigned t = threadIdx.x, acc = 0; for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 5 & 1023; __syncthreads();
    for (unsigned i = 0; i < n; i++) { for (unsigned j = 0; j < (t & 3) + 1; j++) { switch ((s[t + i] + j) % 6) { case 0: acc += s[t]; case 1: acc += s[t * 2]; break; case 2: if (j == 1) goto next; acc += s[t * 4]; continue;
        case 3: acc += s[j * 32 + (t & 31)]; if (i > 3) goto done; break; case 4: acc += s[t ^ i]; default: acc += s[t * 8 & 1023]; } acc += s[(t + j) * 3]; } acc += s[i * t & 1023]; next: acc += s[i]; }
done: __syncwarp(); acc += s[t * 7]; if (t >= 32) { out[t] = acc; return; } __syncwarp(); acc += s[t * 16]; out[t] = acc;
}
