// launch 1 32 n=3
// launch 1 77 n=250
// launch 2 96 n=4294967295
// Bit-fields of both signs, across half words, in unions with bytes and words, in shared memory and in registers; 64-bit fields.
struct Pack { unsigned a : 5; int b : 7; unsigned c : 9; unsigned d : 1; int e : 10; };
union Word { Pack p; unsigned w; signed char c[4]; struct { unsigned short lo; short hi; } h; };
struct Wide { unsigned long long x : 23, y : 29; long long z : 12; };
struct Odd { unsigned char k : 3, l : 5; unsigned short m : 11; bool on : 1; signed char q : 4; };
extern "C" __global__ void k9301(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ Word u[96];
    __shared__ Wide w[96];
    __shared__ Odd o[96];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    u[t].w = n;
    u[t].p.a = t * 3;
    u[t].p.b = (int)t - 40;
    u[t].p.c = t * n;
    u[t].p.d = t >> 2;
    u[t].p.e = -(int)t * 9;
    o[t].k = t; o[t].l = t >> 1; o[t].m = t * 37; o[t].on = t % 3 == 1; o[t].q = t;
    w[t].x = t * 70001u; w[t].y = (unsigned long long)t << 26 | n; w[t].z = (long long)t * -33;
    __syncthreads();
    unsigned v = (t + 5) % blockDim.x;
    acc += s[(u[v].w >> 3) & 1023];
    acc += s[(u[v].p.b + u[t].p.a * 4) & 1023];
    if (u[v].p.e & 2) acc += s[(u[v].p.e * 3) & 1023];
    if (o[v].on) s[(o[v].m & 127) * 8] = acc; else if (o[t].q < 0) acc += s[(o[v].l << 5 | o[v].k) & 1023];
    acc += s[((unsigned)w[v].x ^ (unsigned)w[v].y >> 20) & 1023];
    acc += s[(512 + (int)w[v].z) & 1023];
    __syncthreads();
    u[t].h.hi ^= (short)(t << 7);
    u[t].c[1] = (signed char)(t * 5);
    __syncwarp();
    for (int i = u[t].p.b & 3; i >= 0; i--) acc += s[(u[t].p.c + (unsigned)i * 33) & 1023];
    Word reg; reg.w = u[t].w; reg.p.a += t; reg.p.e--;
    s[(reg.w >> 5 ^ reg.w >> 20) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
