// launch 2 64 n=5
// launch 1 97 n=77
// launch 3x2 16x5x2 n=1000
// launch 1 32 n=0
// A bytecode machine for each lane (jump table with fall-through, calls, inner loops, its own fuel), a scanner with a switch
// inside a switch, and a copy whose switch jumps into the middle of its loop.
constexpr unsigned most = 192;

extern "C" __global__ void k9891(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned char code[128], text[1024], classes[128], next[16];
    __shared__ unsigned table[512], regs[4][most + 1], stack[most * 8], counts[4][33];
    __shared__ unsigned short copy[most * 16];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned lane = t & 31, w = t >> 5, block = blockIdx.x + gridDim.x * blockIdx.y;

    for (unsigned i = t; i < 128; i += T) {
        code[i] = (i * 7 + (i >> 3) * (n | 1) + (i * i >> 4)) & 15;
        classes[i] = (i + (i >> 2) + n) & 3;
    }
    for (unsigned i = t; i < 1024; i += T) text[i] = i < 768 ? (i * 29 + (i >> 4)) & 127 : src[i] & 127;
    for (unsigned i = t; i < 512; i += T) table[i] = i * 9 + (i >> 5);
    for (unsigned i = t; i < 4 * (most + 1); i += T) regs[i / (most + 1)][i % (most + 1)] = i * 3;
    for (unsigned i = t; i < most * 8; i += T) stack[i] = i ^ n;
    for (unsigned i = t; i < most * 16; i += T) copy[i] = i;
    for (unsigned i = t; i < 132; i += T) counts[i / 33][i % 33] = 0;
    if (t < 16) next[t] = (t * 5 + (t >> 1) + n) & 3;
    __syncthreads();

    unsigned a = t + block, b = n, pc = (lane * 3 + w * 17) & 127, sp = 0;
    unsigned char fuel = 18 + (lane & 7) * 3;
    while (fuel--) {
        const unsigned op = code[pc];
        pc = (pc + 1) & 127;
        switch (op) {
        case 0: a += table[(a * 3 + lane) & 511]; [[fallthrough]];
        case 1: b ^= regs[b & 3][t]; [[fallthrough]];
        case 2: regs[a & 3][t] = a + b; break;
        case 3: if (sp < 8) stack[t * 8 + sp++] = a; break;
        case 4: if (sp) a = stack[t * 8 + --sp]; [[fallthrough]];
        case 5: a = a * 5 + 1; [[fallthrough]];
        case 6: if (a & 1) continue;
                b += table[(b * 2) & 511];
                break;
        case 7: pc = (pc + (b & 7)) & 127; break;
        case 8: if ((a & 7) == 3) goto halted;
                [[fallthrough]];
        case 9: if (sp < 8) { stack[t * 8 + sp++] = pc; pc = (pc + 40 + (lane & 1)) & 127; }
                break;
        case 10: if (sp == 0) break;
                 pc = stack[t * 8 + --sp] & 127;
                 continue;
        case 11: for (unsigned char k = a & 3; k; --k) b += table[(b + k * lane) & 511];
                 [[fallthrough]];
        case 12: { const unsigned c = a; a = b; b = c; } break;
        default: b = b * 3 + a; break;
        }
        a += op;
    }
halted:
    __syncwarp(T - w * 32 < 32 ? (1u << (T - w * 32)) - 1 : ~0u);

    unsigned state = lane & 3, at = t * 7, quotes = 0;
    for (unsigned long long left = 6 + (lane % 7) * 2; left; --left, at += 1 + (state == 2)) {
        const unsigned c = text[at & 1023], kind = classes[c];
        switch (state) {
        case 0: if (kind == 0) { state = 1; continue; }
                [[fallthrough]];
        case 1: atomicAdd(&counts[kind][(lane * 2 + c) % 33], 1);
                switch (kind) {
                case 1: a += c; break;
                case 2: a ^= stack[t * 8 + (c & 7)]; [[fallthrough]];
                case 3: ++at; break;
                }
                break;
        case 2: if (++quotes == 3) goto scanned;
                state = 3;
                continue;
        default: while (left > 1 && classes[text[at & 1023]] != 3) { ++at; --left; }
        }
        state = next[state * 4 + kind];
    }
scanned:
    unsigned from = t * 3, to = t * 16;
    const unsigned count = (lane * 5 + n) % 13;
    if (count) {
        unsigned rounds = (count + 3) / 4;
        switch (count & 3) {
        case 0: do { copy[to++] = table[from++ & 511]; [[fallthrough]];
        case 3:      copy[to++] = table[(from += 2) & 511]; [[fallthrough]];
        case 2:      copy[to++] = table[from++ & 511]; [[fallthrough]];
        case 1:      copy[to++] = table[(from += lane & 3) & 511];
                } while (--rounds);
        }
    }
    __syncthreads();
    a += counts[t & 3][lane] + copy[((T - 1 - t) * 16 + (lane & 12)) % (most * 16)];
    out[block * T + t] = a + b * 17 + pc + at + (unsigned)(f > 0);
}
