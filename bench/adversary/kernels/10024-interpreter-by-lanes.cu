// launch 3 96 n=700
// launch 1 128 n=17
// launch 2 50 n=0
// while (true) with a switch: each lane interprets its own program (from src), with a jump back, a call stack and a halt; each step's row is 31 words on, each case has its own accesses, some cases fall through.
extern "C" __global__ void k10024(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned tab[32 + 31 * 64], mine[40 * 159];
    const unsigned t = threadIdx.x, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 64; i += blockDim.x) tab[i] = i * 13;
    for (unsigned i = t; i < 40 * 159; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    unsigned acc = lane, pc = 0, step = 0, sp = 0, jumps = 0, stack[4] = {0, 0, 0, 0};
    while (true) {
        const unsigned op = step == 0 ? lane & 3 : src[(pc * 41 + t * 2 + n) & 4095] % 9;
        if (step >= 38) break;
        step++;
        pc++;
        switch (op) {
            case 0: acc += tab[lane + 31 * step]; continue;
            case 1: mine[step * 159 + t] = acc; acc ^= 5; break;
            case 2: acc ^= tab[lane + 31 * (pc & 63)];
            case 3: acc += tab[lane + 31 * (step + 3)] >> 1; break;
            case 4: if (jumps < 5) { jumps++; pc -= pc > 3 ? 3 : pc; continue; } acc++; break;
            case 5: if (sp < 4) { stack[sp++] = pc; pc += 2 + (lane & 1); } else acc += tab[lane + 31 * sp]; break;
            case 6: if (sp > 0) { pc = stack[--sp]; acc += tab[lane + 31 * (sp + 1)]; continue; }
            case 7: for (unsigned r = 0; r <= (acc & 3); r++) acc = acc * 5 + tab[lane + 31 * (step + r)]; break;
            default: if (step > 20 + (lane & 7)) goto halt; acc ^= atomicAdd(mine + step * 159 + t, 2); break;
        }
        acc += tab[lane + 31 * (step + 1)];
        if ((acc & 31) == lane && step > 30) break;
    }
halt:
    acc += tab[lane + 31 * pc % 1984] + tab[lane + 31 * step];
    __syncthreads();
    acc += mine[159 + blockDim.x - 1 - t];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
