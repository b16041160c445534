// launch 1 32 n=3
// launch 1 56 n=130
// launch 2 64 n=255
// Signed and unsigned chars in shared memory, indices below the middle of an array, sums and products of truth values, bools stored as bytes and added.
struct Flags { bool a, b; signed char c; unsigned char d; };
extern "C" __global__ void k9342(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ Flags flags[64]; __shared__ __align__(4) signed char text[128];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 128; k += T) text[k] = (signed char)(k * 5 + n);
    flags[t].a = t & 4; flags[t].b = t * n % 3; flags[t].c = (signed char)(t * 9 - n); flags[t].d = (unsigned char)(t * 9 - n);
    __syncthreads();
    Flags g = flags[(t * 3 + 1) % T];
    unsigned* middle = s + 512;
    acc += middle[g.c];
    acc += middle[(int)g.d - 128];
    acc += middle[g.c * -3];
    acc += s[(g.a + g.b * 2 + (g.c < 0) * 4 + (g.d > 99) * 8) * 32 + (t & 3)];
    if (g.a ^ g.b) acc += s[(text[t] * text[t ^ 1]) & 1023]; else if (!g.a & !g.b) s[(t * 8) & 1023] = acc;
    int index = -(g.a && text[t] > 0), chosen = (t * 2 & ~index) | (t * 16 & index);
    acc += s[chosen & 1023];
    char plain = (char)(t * 11); if (plain < 0) acc += s[(unsigned char)plain * 4]; else acc += s[plain * 8];
    short sum = (short)(g.c + text[t]); unsigned short uns = (unsigned short)(g.c - 1);
    acc += s[(sum + 300) & 1023]; acc += s[uns >> 6];
    int quad = *(int*)&text[(t * 4) & 124]; for (int i = 0; i < 4; i++) { acc += middle[(signed char)(quad >> i * 8)]; if ((quad >> i * 8 & 255) == 0) break; }
    char2 two = *(char2*)&text[(t * 2) & 126]; uchar2 pos = *(uchar2*)&text[(t * 2) & 126];
    s[(512 + two.x * 2 + two.y) & 1023] = acc; acc += s[(pos.x * 3 + pos.y) & 1023];
    __syncthreads();
    flags[t].a = acc == ~0u ? false : !g.b; flags[t].c = (signed char)-g.c; __syncwarp(__activemask());
    acc += s[(flags[t].a * 33 + flags[t].c + 256) & 1023];
    bool many = (g.a + g.b + (t & 1)) >= 2; acc += s[many << (t & 7) | many];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
