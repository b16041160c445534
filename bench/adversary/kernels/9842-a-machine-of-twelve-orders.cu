// launch 1 32 n=1
// launch 2 7x9 n=6
// launch 1 96 n=0
// launch 2 5x7x3 n=13
// Jump tables (an interpreter, a Duff device, brx.idx by hand) with fall-through, cases that share a body, accesses of
// every width in the cases, a program counter by lane; one table's index is the same for a whole warp.
extern "C" __global__ void k9842(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[2048];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 2048; i += T) s[i] = i * 3 & 1023;
    __syncthreads();
    unsigned char* b = (unsigned char*)s;
    unsigned pc = l * 7 + n, r = t * 5 + 1, q = 3, lcg = t + 1 + blockIdx.x * 17;
    for (unsigned k = 0; k < 24; ++k) {
        lcg = lcg * 1664525u + 1013904223u;
        switch ((pc >> (k & 1)) % 13) {
            case 0: acc += s[(r * 4) & 2047]; pc += 3; break;
            case 1: r = r * 9 + l;
            case 2: acc ^= b[(r * 3) & 8191]; pc += 5;
            case 3: q = r >> 2 & 63; ++pc; break;
            case 4: { uint2 v = *(uint2*)&s[(r * 2 + q * 8) & 2046]; acc += v.x - v.y; pc += l & 3; } break;
            case 5: case 9: acc += ((unsigned short*)s)[(q * l + k) & 4095]; pc = pc * 3 + 1; break;
            case 6: { uint4 v = *(uint4*)&s[(r * 4 + (lcg >> 28) * 16) & 2044]; acc += v.x ^ v.w; pc -= 2; } break;
            case 7: if (lcg & 0x10000) { pc += 11; continue; }
            case 8: acc += s[(lcg >> 21) & 2047]; r += 7; pc ^= 21; break;
            case 10: if (k > 15 + (l & 7)) goto halt; pc += 2; break;
            case 11: acc += ((signed char*)b)[(lcg >> 19) & 8191]; r = __brev(r) >> 21; pc += l; break;
            default: pc += 1 + q; r ^= k << 4; acc += s[(r + 32 * l) & 2047]; break;
        }
    }
halt:
    __syncwarp();
    acc += s[(pc * 2 + r) & 2047];
    // Duff: the count by lane, the entry by its remainder, the pointer goes backwards
    unsigned count = 3 + (t * 11 + n) % 19, rounds = (count + 3) / 4;
    const volatile unsigned* p = s + 1024 + l * (1 + n % 5);
    switch (count & 3) {
        case 0: do { acc += *p; p -= 3;
        case 3:      acc ^= *p; p -= 17;
        case 2:      acc += *p; p += 4;
        case 1:      acc ^= *p; p -= l & 1;
                } while (--rounds);
    }
    acc += s[(unsigned)(p - s) * 2 & 2047];
    // by hand: index by lane, then by warp
    for (unsigned k = 0; k < 6; ++k) {
        unsigned idx = k & 1 ? ((t >> 5) + k + n) & 3 : (l * l + k) >> 1 & 3, a = r & 1023;
        asm volatile("{\n .reg .b32 u;\n TS: .branchtargets L3, L1, L0, L1;\n brx.idx %1, TS;\n"
                     " L0: mad.lo.u32 %0, %0, 3, %2;\n bra.uni LE;\n"
                     " L1: shl.b32 u, %2, %1;\n xor.b32 %0, %0, u;\n"
                     " L3: add.u32 %0, %0, 13;\n"
                     " LE:\n}" : "+r"(a) : "r"(idx), "r"(l));
        r = a;
        acc += s[(a * 2 + k) & 2047];
    }
    // three ways with the same tail, one for each warp
    switch ((t >> 5) * 3 + n % 3) {
        case 0: acc += s[l * 2]; break;
        case 1: acc += s[l * 4]; break;
        case 2: acc += s[l * 8 + n]; break;
        case 3: acc += s[l * 16 + 1]; break;
        case 4: acc += s[l * 32]; break;
        case 5: acc += s[l ^ 5]; break;
        case 6: acc += s[l * l]; break;
        default: acc += s[(l * 33) & 1023]; break;
    }
    out[(blockIdx.x * T + t) & 1023] = acc;
}
