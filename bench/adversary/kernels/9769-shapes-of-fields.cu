// launch 1 64 n=3
// launch 1 40 n=1
// Bit fields in unions, of both signs and across bytes; packed records of 12, 20 and 24 bytes; arrays of bool and of char.
union Word { unsigned all; struct { unsigned a : 10, b : 10, c : 12; } u; struct { int x : 7; int y : 11; int z : 14; } i; unsigned char byte[4]; };
struct __attribute__((packed)) Odd { unsigned char tag; unsigned short h; unsigned w; unsigned char rest[5]; };
struct Twelve { float x, y, z; }; struct Twenty { unsigned a, b, c, d, e; }; struct TwentyFour { double d; unsigned a, b, c, e; };
extern "C" __global__ void k9769(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ Word word[64]; __shared__ Odd odd[64]; __shared__ Twelve p[64]; __shared__ Twenty q[64]; __shared__ TwentyFour r[64]; __shared__ bool flag[64]; __shared__ char small[64];
    Word v; v.all = 0; v.u.a = t * 17; v.u.b = t * n; v.u.c = ~t; word[t] = v;
    odd[t].tag = t; odd[t].h = t * 3; odd[t].w = t * 5; odd[t].rest[t % 5] = n;
    p[t] = Twelve{(float)t, 1.f, 2.f}; q[t] = Twenty{t, t + 1, t + 2, t + 3, t + 4}; r[t] = TwentyFour{(double)t, t, n, 0, 1}; flag[t] = t % n == 0; small[t] = (char)(t * 9);
    __syncthreads();
    Word o = word[T - 1 - t];
    acc += s[o.u.a] + s[o.u.b & 1023] + s[o.u.c >> 2] + s[o.i.x & 1023] + s[o.i.y & 1023] + s[o.byte[t & 3] * 4];
    word[t].i.y = -(int)t; acc += s[word[t].u.b & 1023];
    acc += odd[t].w + odd[t].h + odd[T - 1 - t].rest[t % 5] + s[odd[t ^ 1].tag * 8];
    acc += (unsigned)p[t * 5 % T].y + q[t].c + q[t * 3 % T].e + (unsigned)r[t].d + r[t ^ 2].b + s[flag[t] * t * 4] + s[small[t] & 1023] + s[(flag[t] + flag[(t + 1) % T]) * 32 + l];
    Twenty whole = q[(t + 7) % T]; TwentyFour big = r[(t * 5) % T]; acc += whole.a + whole.e + big.a + big.c;
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
