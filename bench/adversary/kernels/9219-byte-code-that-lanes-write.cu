// launch 1 32 n=4
// launch 2 64 n=7
// launch 1 41 n=1
// Lanes assemble a program in shared memory, then run it from their own entry points, with calls, returns and a patched instruction.
extern "C" __global__ void k9219(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned prog[64]; __shared__ unsigned char ret[64][4];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    if (t < 32) prog[t] = ((t * 7 + n) % 6) | (t * 5 % 13) << 8;
    else if (t < 64) prog[t] = 4 | (t & 3) << 8;
    if (nt <= 32 || t >= 32) for (unsigned k = 32 + (t & 31); k < 64; k += 32) prog[k] = 4 | (k & 3) << 8;
    __syncthreads();
    if (t == 0) { prog[9] = 5 | 3 << 8; prog[20] = 0 | 31 << 8; }
    for (unsigned k = 32 + t; k < 64; k += nt) prog[k] = (k & 1 ? 4 : 1) | (k & 7) << 8;
    __syncthreads();
    unsigned pc = l, a = l, depth = 0, ran = 0;
    do {
        unsigned word = prog[pc & 63], op = word & 255, arg = word >> 8;
        pc++; ran++;
        if (op == 0) { a += arg; s[(l * arg) & 1023] = a; }
        else if (op == 1) { acc += s[(a * 4 + arg) & 1023]; a ^= 5; }
        else if (op == 2) { if (depth < 4) { ret[t & 63][depth++] = (unsigned char)pc; pc = 32 + arg; } }
        else if (op == 3) { if (a & 1) pc += arg & 3; a >>= 1; }
        else if (op == 4) { if (depth == 0) break; pc = ret[t & 63][--depth]; acc += s[(pc * 8 + l) & 1023]; }
        else a = a * 3 + arg;
    } while (ran < 28);
    acc += s[(l * ran) & 1023];
    s[(a * 2) & 1023] = pc;
    acc += s[(pc * l) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
