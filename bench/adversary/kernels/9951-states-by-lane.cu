// launch 1 32 n=3
// launch 1 64 n=6
// launch 2 40 n=9
// A machine of nine states, whose lanes are in different ones: every state is a case that may jump into another.
extern "C" __global__ void k9951(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = t, fuel = 20 + (n & 7), state = (t * 5 + n) % 9;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k * 2654435761u >> 7;
    __syncthreads();
again:
    if (fuel-- == 0) goto end;
    switch (state) {
    case 0: acc += s[(t * 4 + fuel) & 1023]; state = (acc ^ t) % 5 + 1; goto again;
    case 1: s[(t * 2) & 511] = fuel; state = 4;
    case 2: acc ^= s[512 + ((t * 8) & 511)]; if (fuel & 1) { state = 7; goto again; }
    case 3: acc += s[512 + ((t + fuel * 32) & 511)]; state = (t + fuel) % 9; goto again;
    case 4: acc -= s[(t * 33) & 1023]; if ((acc & 3) == 0) goto five; state = 8; goto again;
    case 5: five: s[512 + ((t * 3 + fuel) & 511)] = fuel * 9; state = (fuel + t * 3) & 7; goto again;
    case 6: acc += 3; state = 2; if (t & 8) goto seven; goto again;
    case 7: seven: acc ^= s[512 + ((t * 16) & 511)]; state = (t >> 2) % 9; goto again;
    default: state = fuel % 8; if (t % 5 == fuel % 5) goto end; goto again;
    }
end:
    s[(t * 2 + 1) & 1023] = fuel;
    out[(blockIdx.x * blockDim.x + t) & 2047] = state + fuel;
}
