// launch 1 64 n=3
// launch 2 96 n=8
// launch 1 50 n=17
// launch 1 128 n=30
// Each lane runs its own bytecode out of shared memory: a program counter, a stack of a pitch of its own, a switch that falls through and gotos into loops, calls and skips; then Duff's device copies, and nested loops whose bounds are read from shared memory and which break and continue by lane.
extern "C" __global__ void k9990(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char code[320];
    __shared__ unsigned stack[128 * 17], cells[512], bounds[64];
    const unsigned t = threadIdx.x, lane = t & 31, pitch = n & 1 ? 16 : 17, base = t * pitch;
    for (unsigned i = t; i < 320; i += blockDim.x) code[i] = (src[(i * 53 + n * 11) & 4095] >> 1) + i * 7;
    for (unsigned i = t; i < 512; i += blockDim.x) cells[i] = src[(i * 19 + n + blockIdx.x) & 4095];
    for (unsigned i = t; i < 64; i += blockDim.x) bounds[i] = src[(i * 87 + n * 5) & 4095] % 7;
    for (unsigned i = 0; i < pitch; i++) stack[base + i] = i * t;
    __syncthreads();
    unsigned pc = src[(t * 17 + n) & 4095] & 255, top = 0, acc = t, link = 0, fuel = 30 + (lane & 7) * 3;
next:
    if (fuel == 0) goto done;
    fuel--;
    {
        const unsigned op = code[pc], arg = code[pc + 1];
        pc = pc + 1 & 255;
        switch (op & 15) {
            case 0: stack[base + top] = acc; top = top + 1 & 15; goto next;
            case 1: top = top - 1 & 15; acc ^= stack[base + top]; goto next;
            case 2: acc += cells[(acc + arg) & 511];
            case 3: acc = acc * 3 + cells[arg * (op >> 4 | 1) & 511]; pc = pc + 1 & 255; goto next;
            case 4: if (acc & 4) goto skip;
                acc += arg;
            skip:
                stack[base + (acc & 15)] += op;
                goto next;
            case 5: link = pc; pc = arg; goto next;
            case 6: pc = link; link = acc & 255; goto next;
            case 7: {
                unsigned k = arg & 3;
            again:
                acc += stack[base + (k * 5 + top & 15)];
                if (acc % 13 == 12) goto halted;
                if (k--) goto again;
                goto next;
            }
            case 8: *(unsigned short*)((unsigned char*)(stack + base) + (arg & 30)) = acc; goto next;
            case 9: acc += ((const unsigned char*)cells)[(acc >> 2) & 2047]; goto next;
            case 10: for (unsigned i = 0; i < bounds[arg & 63]; i++) { if (stack[base + i] == acc) continue; acc += stack[base + i * 2]; }
            case 11: if (top > 5) { top -= 4; goto next; }
            case 12: pc = (pc + (acc & 1 ? arg & 7 : 3)) & 255; goto next;
            case 13: acc -= bounds[acc & 63]; if (arg & 1) goto next; goto done;
            case 14: acc ^= ((const unsigned long long*)cells)[(acc ^ lane) & 255] >> 20; goto next;
            default: fuel -= fuel > 2 ? 2 : fuel; goto next;
        }
    }
halted:
    acc += stack[base + (fuel & 15)] * 7;
done:
    __syncthreads();
    unsigned from = (acc & 127) * 2, to = base, many = 1 + (acc >> 7) % 15, laps = (many + 3) / 4;
    switch (many & 3) {
        case 0: do { stack[to++] = cells[from++];
        case 3:      stack[to++] = cells[from++] ^ acc;
        case 2:      stack[to++] = cells[from++ + 8];
        case 1:      stack[to++] = cells[from += 2];
                } while (--laps > 0);
    }
    __syncthreads();
    for (unsigned i = 0; i < bounds[lane] + 2; i++) {
        const unsigned inner = bounds[(lane * 5 + i + acc) & 63];
        for (unsigned j = 0; j < inner; j++) {
            const unsigned v = stack[(base + i * pitch + j) % (blockDim.x * pitch)];
            if (v & 1) { acc += v; continue; }
            for (unsigned k = bounds[v & 63]; k--; ) {
                acc += cells[(v + k * 32 + lane * j) & 511];
                if ((acc & 31) == lane) goto out_of_two;
                if ((acc & 7) == 2) break;
            }
            if ((acc & 15) == 9) break;
        }
        acc += 5;
        continue;
    out_of_two:
        acc ^= stack[base + (i & 15)];
        if (acc & 2) break;
    }
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
