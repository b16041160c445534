// launch 1 32 n=1
// launch 1 64 n=6
// launch 2 45 n=3
// Returns from a switch in a loop, in a function and in the kernel.
__device__ __noinline__ unsigned pick(unsigned* s, unsigned t, unsigned n) {
    unsigned acc = 0;
    for (unsigned i = 0; i < 5; i++) {
        switch ((t * 3 + i * n) & 7) {
        case 0: return acc + s[(t * 2) & 1023];
        case 1: s[(t + i) & 1023] = 1; break;
        case 2: if (i > 2) return 7;
        case 3: acc += s[(t * 4 + i) & 1023]; continue;
        case 4: { for (unsigned j = 0; j < i; j++) { if (s[((t & ~31u) + j) & 1023] == 0xFFFFFFFF) return 9; } } break;
        case 5: s[(t * 8) & 1023] = i; return i;
        default: acc += 1;
        }
        s[(t * 5 + i) & 1023] = acc;
    }
    return acc;
}
extern "C" __global__ void k9011(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    acc = pick(s, t, n);
    s[(t * 6) & 1023] = acc;
    for (unsigned i = 0; i < 4; i++) {
        switch ((t + i) % 6) {
        case 2: if (t & 8) { out[(blockIdx.x * blockDim.x + t) & 2047] = acc; return; } break;
        case 3: acc += pick(s, t + i, 3); break;
        case 4: s[(t * 7 + i) & 1023] = i; if (i == 2) return;
        case 5: acc += s[(t * 9) & 1023];
        }
    }
    s[(t * 3 + 1) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
