// launch 1 32 n=2
// launch 1 96 n=5
// launch 1 50 n=8
// Every lane runs its own short program of eight instructions, without a barrier around the interpreter's switch.
extern "C" __global__ void k9952(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, r0 = t, r1 = n, pc = 0, steps = 0;
    unsigned program = (t % 6) * 0x1b3c5d7u + n * 0x9e3779b9u;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k ^ k >> 3;
    __syncthreads();
next:
    if (++steps > 18) goto done;
    switch (program >> (pc & 7) * 3 & 7) {
    case 0: r0 += r1; pc++; goto next;
    case 1: r1 = s[(r0 * 4) & 511]; pc++; goto next;
    case 2: s[512 + ((t * 2 + pc) & 511)] = r0; pc++; goto next;
    case 3: if (r0 & 1) { pc += 3; goto skip; } pc++;
    case 4: r0 = r0 * 5 + 1; pc++; goto next;
    case 5: r0 ^= s[(t + pc * 32) & 511]; pc += 2; goto next;
    case 6: skip: s[512 + ((t * 8 + steps) & 511)] = steps; pc++; goto next;
    case 7: if (steps > 9 && (t & 3) == 1) goto done; pc = pc + 5; goto next;
    }
done:
    s[(t * 3) & 1023] = pc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = pc + steps;
}
