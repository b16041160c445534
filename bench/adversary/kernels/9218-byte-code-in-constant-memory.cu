// launch 1 32 n=3
// launch 2 64 n=5
// launch 1 44 n=2
// An interpreter of byte code in constant memory; lanes have their own stacks in shared memory (two layouts) and branch apart.
enum { PUSH, LANE, ADD, MUL, LOAD, STORE, JNZ, DUP, DEC, SWAP, HALT };
__constant__ unsigned char code[] = {
    LANE, PUSH, 3, ADD, STORE, 0, PUSH, 4, LANE, PUSH, 7, ADD, JNZ, 14, DEC, DUP, LOAD, 0, MUL, STORE, 1, DUP, JNZ, 14,
    LANE, LOAD, 1, ADD, SWAP, DUP, ADD, STORE, 0, HALT };
extern "C" __global__ void k9218(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned regs[2][64];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 13) & 63; }
    __syncthreads();
    unsigned pc = (l % 5 == 4) ? 6 : 0, sp = 0, fuel = 60; bool wide = n & 1;
    regs[0][t & 63] = 1; regs[1][t & 63] = 2;
    auto cell = [&](unsigned i) -> unsigned& { return q[wide ? (i & 15) * 64 + (t & 63) : (t & 63) * 16 + (i & 15)]; };
    while (fuel--) {
        unsigned op = code[pc++];
        if (op == HALT) break;
        switch (op) {
        case PUSH: cell(sp++) = code[pc++]; break;
        case LANE: cell(sp++) = l; break;
        case ADD: sp--; cell(sp - 1) += cell(sp); break;
        case MUL: sp--; cell(sp - 1) *= cell(sp); break;
        case LOAD: cell(sp++) = regs[code[pc++]][t & 63]; break;
        case STORE: regs[code[pc++]][t & 63] = cell(--sp); break;
        case JNZ: { unsigned to = code[pc++]; if (cell(--sp) & 3) pc = to; break; }
        case DUP: cell(sp) = cell(sp - 1); sp++; break;
        case DEC: cell(sp - 1)--; break;
        case SWAP: { unsigned x = cell(sp - 1); cell(sp - 1) = cell(sp - 2); cell(sp - 2) = x; break; }
        }
        sp &= 15;
    }
    acc += s[(l * regs[0][t & 63]) & 1023];
    s[(l * (regs[1][t & 63] & 63)) & 1023] = fuel;
    acc += s[(l * fuel) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
