// launch 1 32 n=2
// launch 2 5x7x3 n=6
// launch 1 70 n=17
// launch 2 8x4x3 n=0
// Four nested loops with break, continue, goto and return to each level, trips by lane and by what earlier trips did;
// whole-warp branches on odd conditions; __syncwarp of parts; a loop in PTX with a guarded back branch.
extern "C" __global__ void k9848(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048], z[2048];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, w = t >> 5, acc = 0;
    unsigned rem = T - (t & ~31u), live = rem >= 32 ? ~0u : (1u << rem) - 1;
    for (unsigned i = t; i < 2048; i += T) { s[i] = i * 13 & 2047; z[i] = i; }
    __syncthreads();
    unsigned x = l + n, depth = 0, limit = 2 + (l & 3), bound = 4;
    for (unsigned i = 0; i < limit; ++i) {
        x = x * 3 + i;
        for (unsigned j = i; j < bound; ++j) {
            if ((x + j) % 7 == 1) { limit += depth < 2; ++depth; continue; }
            unsigned k = 0;
            do {
                x += k * l + 1;
                if (x % 11 == 5) break;
                if (x % 13 == 6) goto nexti;
                for (int m = (int)(x & 7); m >= 0; m -= 2) {
                    acc += s[(x * 2 + (unsigned)m * 32) & 2047];
                    if ((x ^ (unsigned)m) % 9 == 4) goto nextj;
                    if (x > 60000) goto done;
                    if ((x + (unsigned)m) % 17 == 3) { x = x * 2 + 1; continue; }
                    x ^= (unsigned)m << 1;
                    acc += z[(x + l * 4) & 2047];
                }
                acc += s[(x * 8 + k) & 2047];
            } while (++k < 3 - (i & 1));
            if (k == 0) { bound = 3 + (x & 3); acc += z[(bound * l) & 2047]; }
nextj:
            x += bound;
        }
        acc ^= s[(x * 16 + i) & 2047];
nexti:
        if (i > 9) break;
        x = (x & 0xffff) ^ l;
    }
done:
    __syncwarp(live);
    acc += s[(x + depth * 32 * l) & 2047];
    // parts of a warp meet among themselves and with nobody else
    unsigned part = (l * 5 + n) % 3, ours = __match_any_sync(live, part), y = l * 2;
    if (part == 0) {
        for (unsigned k = 0; k < 4; ++k) {
            z[(t * 2 + k * 256) & 2047] = y;
            __syncwarp(ours);
            unsigned above = ours & (~1u << l), from = __ffs(above ? above : ours) - 1;
            y = __shfl_sync(ours, y, from) + k;
            acc += s[(y * 4 + from) & 2047];
            if (y & 2) { acc += s[(y * (k + 1)) & 2047]; __nanosleep(30); }
        }
    } else if (part == 1) {
        while (__any_sync(ours, y < 90)) {
            if (y < 90) { y += 3 + (l & 15); acc += s[(y * 8) & 2047]; }
            __syncwarp(ours);
            acc += s[(y + l) & 2047];
        }
    } else {
        for (unsigned k = l & 3; k < 4 || y < 70; ++k) { y += k * 2 + 1; if (y % 5) acc += s[(y * 2) & 2047]; }
    }
    __syncwarp(live);
    acc += s[(y * 2 + l) & 2047];
    // one for a whole warp: odd conditions, in which lanes do not appear but their warp's number does
    for (unsigned k = 0; k < 4; ++k) {
        if (((w * 3 + k) ^ n) & 1) {
            if ((t & ~31u) + k * 32 > 64) acc += s[(l * (k + 1)) & 2047];
            else if (w < k) continue;
            acc += s[(l * 4 + w) & 2047];
        } else if (!((l + 32 * w) >> 5 ^ k)) break;
        acc += z[2047 - (l * 2 * k & 1023)];
    }
    // in PTX: ends where a product of 16 bits falls below the lane's number; the predicate guards the load as well
    unsigned v = 40000 + l * 777, base = (unsigned)__cvta_generic_to_shared(s), sum = 0, guard = 0;
    asm volatile("{\n .reg .pred p, q;\n .reg .b32 a, b;\n"
                 "AGAIN:\n mul.lo.u32 %0, %0, 171;\n and.b32 %0, %0, 65535;\n add.u32 %2, %2, 1;\n"
                 " shr.u32 a, %0, 5;\n shl.b32 a, a, 2;\n add.u32 a, a, %3;\n mov.b32 b, 1;\n"
                 " setp.gt.u32 p, %0, %4;\n setp.lt.and.u32 q, %2, 30, p;\n"
                 " @p ld.shared.u32 b, [a];\n add.u32 %1, %1, b;\n @!p ld.shared.u32 b, [%3];\n"
                 " @q bra AGAIN;\n add.u32 %1, %1, b;\n}"
                 : "+r"(v), "+r"(sum), "+r"(guard) : "r"(base), "r"(1200 * (l & 7) + 5000) : "memory");
    acc += sum + s[(v + guard * l) & 2047];
    // leaves from the innermost
    for (unsigned a = 0; a < 5; ++a)
        for (unsigned b = a; b < a + 2 + (l & 1); ++b) {
            if ((a * b + l) % 6 == 5) break;
            for (unsigned c = b * l & 3; c < 4; ++c) {
                if (a + b + c == 6 + (l & 3)) {
                    out[(blockIdx.x * T + t) & 1023] = acc + s[(l * a * 4 + c) & 2047];
                    return;
                }
                acc += s[(l * b * 2 + c * a) & 2047];
            }
        }
    out[(blockIdx.x * T + t) & 1023] = acc;
}
