// launch 1 32 n=0
// launch 2 96 n=40
// launch 2 128 n=333
// Loops read their bounds in shared memory at every trip while bodies grow them, stores by lanes may or may not hit the next bound, some warps run no trip at all, a loop rewrites the bound of the one around it.
extern "C" __global__ void k10005(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], board[4][96];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
    volatile unsigned* const b = board[warp];
    unsigned acc = 0;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 3 + 1;
    for (unsigned i = t; i < 384; i += blockDim.x) board[i / 96][i % 96] = i & 1;
    __syncthreads();
    const unsigned u = src[(n + warp * 5) & 4095], v = src[(t * 7 + n) & 4095];
    if (lane == 0) b[0] = u & 3;
    __syncwarp();
    unsigned i = 0;
    while (i < b[0]) {
        acc += s[(lane << i & 1023)];
        __syncwarp();
        if (lane == 0 && i < 5 && (src[(i + n) & 4095] & 1)) b[0] = b[0] + 1;
        if (lane == 31) b[1] = b[1] + i;
        __syncwarp();
        i++;
    }
    acc += s[i * 32 + (lane & 1)];
    for (unsigned j = 0; j < b[1]; j++) acc ^= s[(lane * (j + 1) * 8) & 1023];
    __syncwarp();

    b[lane | (v & 32)] = v & 3;
    __syncwarp();
    for (unsigned j = 0; j < b[3]; j++) acc += s[(lane * 16 + j) & 1023];
    for (unsigned j = b[35]; j < 3; j++) acc += s[(lane * 32 + j) & 1023];
    acc += s[b[lane] * 32];
    acc += s[b[32 + lane] * 32 + b[7]];
    __syncwarp();

    const unsigned at = 64 + (v & 1 ? lane : 31 - lane);
    const bool mine = (v & 1) == (u & 1);
    if (mine) b[at] = lane & 7;
    __syncwarp();
    unsigned outer = 0;
    if (lane < 2) b[lane] = 2 + (u & 1);
    __syncwarp();
    for (unsigned j = 0; j < b[0] && outer < 6; j++) {
        for (unsigned k = 0; k < b[1]; k++) {
            acc ^= s[(lane * (k + 2) * 4) & 1023];
            __syncwarp();
            if (lane == 9 && k == 1 && outer < 4) b[0] = j + 2 + (b[2] & 1);
            __syncwarp();
            outer++;
        }
        __syncwarp();
        if (lane == 0) b[1] = (b[1] * 5 + j) % 4;
        __syncwarp();
    }
    acc += s[(outer & 31) * 32 + lane];
    __syncwarp();
    acc += s[b[64 + lane] * 32];
    __syncthreads();

    for (unsigned r = 0; r < 3; r++) {
        if (t == 0) board[3][80] = src[(n + r * 50) & 4095] & 3;
        if (warp == (blockDim.x >> 5) - 1 && lane == 5) board[3][81 + r] = r + 1;
        __syncthreads();
        const unsigned from = board[3][80];
        for (unsigned k = from; k < board[3][81 + r]; k++) acc += s[(lane << k + 1) & 1023];
        if (from > warp) {
            for (unsigned k = warp; k < from; k++) acc ^= s[(lane * 32 + k) & 1023];
            if (lane == 0 && warp + 1 == from) board[3][84 + r] = 7 * from;
        }
        __syncthreads();
        acc += s[(board[3][84 + r] + lane) * 8 & 1023];
    }
    for (unsigned k = 0; k < blockDim.x >> 5; k++) acc += board[k][64 + (lane ^ k)] << k;
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
