// launch 1 32 n=4
// launch 1 48 n=1
// launch 2 33 n=10
// An interpreter: byte code in constant memory, each lane with its own stack in shared memory, interleaved by lane; jumps depend on the stack.
__constant__ unsigned char code[] = {1, 3, 0, 2, 4, 1, 7, 5, 3, 6, 2, 4, 7, 1, 1, 3, 8, 8, 9, 1, 2, 3, 6, 14, 1, 5, 4, 2, 10, 0};
extern "C" __global__ void k9319(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned stack[16 * 48];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned* sp = stack + t; unsigned pc = 0, fuel = 40;
    *sp = t; sp += T; *sp = n; sp += T;
    while (fuel--) {
        unsigned depth = (unsigned)(sp - stack) / T;
        switch (code[pc++]) {
        case 0: *sp = t + 3; sp += T; break;
        case 1: *sp = code[pc++] + t; sp += T; break;
        case 2: if (depth > 1) { sp -= T; sp[-(int)T] += *sp; } break;
        case 3: if (depth > 1) { sp -= T; sp[-(int)T] *= *sp; } break;
        case 4: if (depth) acc += s[sp[-(int)T] & 1023]; break;
        case 5: if (depth) { *sp = sp[-(int)T] >> 1; sp += T; } break;
        case 6: { unsigned target = code[pc++]; if (depth && (sp[-(int)T] & 3) == (t & 3)) pc = target; break; }
        case 7: if (depth > 1) { unsigned v = sp[-(int)T]; sp[-(int)T] = sp[-2 * (int)T]; sp[-2 * (int)T] = v; } break;
        case 8: if (depth) s[(sp[-(int)T] * 4) & 1023] = depth; break;
        case 9: if (depth > 2) sp -= T; break;
        default: fuel = 0;
        }
        if (depth > 11) sp -= 3 * T;
        if (pc >= sizeof code) pc = t & 1;
    }
    unsigned depth = (unsigned)(sp - stack) / T;
    acc += s[(depth * 32 + (depth ? sp[-(int)T] & 31 : 7)) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
