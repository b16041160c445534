// launch 1 32 n=3
// launch 2 64 n=11
// launch 1 49 n=6
// Finite automata by lane over the bits of global words; the transition tables are in shared memory; actions hang on states and edges.
enum State : unsigned { Idle, Sync, Head, Body, Tail, Fail, States };
extern "C" __global__ void k9220(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char next[States * 2 + 4]; __shared__ unsigned visits[64][States];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    if (t < States * 2) next[t] = (unsigned char)(0x152043530201ull >> t * 4 & 7);
    for (unsigned i = 0; i < States; i++) visits[t & 63][i] = 0;
    __syncthreads();
    State state = l & 1 ? Idle : Head;
    unsigned bits = src[(t * 8 + n * 16) & 2047] * 0x9E3779B1u + l, run = 0;
    for (unsigned i = 0; i < 20; i++, bits >>= 1) {
        State then = (State)next[state * 2 + (bits & 1)];
        visits[t & 63][then]++;
        if (then == state) { run++; if (run > 3) { acc += s[(l * run) & 1023]; run = 0; } }
        else switch (state << 4 | then) {
            case Idle << 4 | Sync: s[(l * 2) & 1023] = i; break;
            case Sync << 4 | Head: case Tail << 4 | Head: acc += s[(l * 3 + i) & 1023]; break;
            case Head << 4 | Fail: bits ^= 0x5A5; continue;
            case Body << 4 | Tail: s[(l * 4 + i * 32) & 1023] = run; [[fallthrough]];
            default: run = 0;
        }
        state = then;
        if (state == Fail && i > 12 + (l & 3)) break;
    }
    s[(l * state) & 1023] = run;
    acc += s[(visits[t & 63][Body] * l) & 1023];
    if (visits[t & 63][Fail] > visits[t & 63][Sync]) acc += s[(l * 8) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
