// launch 1 64 n=0
// launch 2 128 n=5
// launch 2 96 n=778
// Lanes leave loops by break, continue, goto and return at unlike trips and meet later, a whole warp returns before a barrier with a count, halves of a warp sync apart, a block leaves by __syncthreads_or after which some stores never happen.
extern "C" __global__ void k10012(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], half[4][33], flag;
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5, me = (blockIdx.x * blockDim.x + t) & 4095;
    const unsigned v = src[(t * 3 + n + blockIdx.x * 9) & 4095], u = src[(n + 1) & 4095];
    unsigned acc = 0, i;
    for (unsigned j = t; j < 1024; j += blockDim.x) s[j] = j * 17;
    for (unsigned j = t; j < 132; j += blockDim.x) half[j / 33][j % 33] = j & 3;
    if (t == 0) flag = 1;
    __syncthreads();
    for (i = 0; ; i++) {
        if ((v >> 2) + i > 4 + (v & 3) + (v >> 2)) break;
        acc += s[(lane << (i & 5)) & 1023];
        if ((v + i) % 5 == 0) continue;
        acc ^= s[(lane * 32 + i) & 1023];
        if ((v >> 4 & 3) == i) goto away;
        if (acc == 0xffffffffu) return;
    }
    acc += s[lane * 32];
away:
    __syncwarp();
    acc += s[(i & 31) * 32];
    acc += s[i & 1 ? lane * 32 : lane];

    if (lane < 16) {
        half[warp][lane] = v & 15;
        __syncwarp(0x0000ffff);
        acc += s[half[warp][lane ^ 5] * 32];
        for (unsigned k = 0; k < half[warp][0]; k += 4) { acc += s[(lane << k) & 1023]; __syncwarp(0x0000ffff); }
        if (v & 1) acc += s[lane * 64];
    } else {
        half[warp][lane] = (v & 7) + 16;
        __syncwarp(0xffff0000);
        acc += s[half[warp][16 + (lane + 1 & 15)] * 32];
        if (!(v & 1)) acc ^= s[lane * 32];
        __syncwarp(0xffff0000);
        if (lane == 16) half[warp][32] = v;
    }
    __syncwarp();
    acc += s[half[warp][31 - lane] * 32 + 1];
    acc += s[half[warp][32] % 31 * lane];

    unsigned depth = 0;
    for (unsigned j = 0; j < 3; j++) {
        for (unsigned k = lane & 3; k < 6; k++) {
            if (k == (v & 7)) { depth += 2; break; }
            for (unsigned m = 0; m < 4; m++) {
                if (((v >> m) & 1) == (k & 1)) break;
                acc += s[(lane * 8 * (m + 1) + k) & 1023];
                if (depth > 3 && m == 2) goto out_of_two;
            }
            depth++;
        }
    out_of_two:
        acc ^= s[(depth & 31) * 32];
    }
    __syncwarp();
    acc += s[(depth & 31) * 32 + (lane >> 4)];

    unsigned rounds = 0;
    while (!__syncthreads_or(rounds + (v & 7) >= 9)) {
        if (rounds < (v & 1)) acc += s[lane * 16];
        rounds++;
    }
    acc += s[rounds * 32 + lane];
    if (__syncthreads_and(v < 1000 - n % 7 * 100)) { if (t == 3) flag = 33; }
    else if (t == 4) flag = 2;
    __syncthreads();
    acc += s[flag * lane & 1023];
    __syncthreads();
    if (t == 7) flag = 16;
    if (__syncthreads_or((v & 1023) == 1001)) { out[me] = acc + s[lane * 32]; return; }
    if (t == 9 && (u & 1)) flag = 32;
    const unsigned many = __syncthreads_count(v & 1);
    acc += s[flag * lane] + s[many * 7];

    __syncthreads();
    const unsigned gone = u % warps;
    if (warp == gone) {
        for (unsigned k = 0; k < (v & 3); k++) acc += s[(lane << k) * 8 & 1023];
        out[me] = acc;
        return;
    }
    if (t == (gone ? 0 : 32)) flag = 8;
    asm volatile("bar.sync 1, %0;" :: "r"((warps - 1) * 32) : "memory");
    acc += s[flag * lane];
    if (v & 8) { out[me] = acc; return; }
    const unsigned stay = __activemask() | 0;
    acc += s[lane * 32 + (stay == 0)];
    if (lane & 1) acc += s[lane * 31];
    out[me] = acc;
}
