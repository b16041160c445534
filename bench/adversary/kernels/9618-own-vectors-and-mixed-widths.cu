// launch 1 64 n=3
// launch 1 43 n=1
// launch 2 32 n=6
// Local vectors of 8 and 16 bytes by lane, one array accessed as bytes, words and vectors, copies of structs.
struct R { uint4 a; uint2 b; unsigned c; unsigned char d[4]; };
extern "C" __global__ void k9618(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    float4 v[6]; __align__(16) unsigned char m[96]; R r[4];
    for (unsigned i = 0; i < 6; i++) v[(i + n) % 6] = make_float4(i, t, n, f);
    for (unsigned i = 0; i < 24; i++) ((unsigned*)m)[(i * 5 + t) % 24] = i + t;
    for (unsigned i = 0; i < 4; i++) { r[i].a = make_uint4(i, t, i, t); r[i].b = make_uint2(t, i); r[i].c = t; r[i].d[i] = (unsigned char)i; }
    float4 x = v[t % 6], y = v[n % 6]; acc += (unsigned)(x.x + x.y + y.z);
    for (unsigned i = 0; i < 8; i++) m[(t * 7 + i * 11) % 96] = (unsigned char)i;
    uint2 e = ((uint2*)m)[t % 12]; uint4 q = ((uint4*)m)[(t + n) % 6]; acc += e.x + q.y + ((unsigned short*)m)[t % 48];
    R z = r[t & 3]; acc += z.a.x + z.b.y + z.c + z.d[2]; r[(t + 1) & 3] = z; acc += r[n & 3].a.w + r[src[t] & 3].d[t & 3];
    if (t % 3) { v[t % 5] = x; acc += (unsigned)v[(t + n) % 6].w; }
    out[g] = acc + m[t % 96];
}
