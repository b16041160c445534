// launch 1 64 n=1
// launch 2 41 n=3
// Members of structs of 20, 24, 28, 36, 48 and 80 bytes: vectors at offsets within a sector and across lines.
struct A { unsigned a; float b; unsigned short c, d; unsigned char e[8]; };
struct B { unsigned long long x; unsigned y; unsigned z; double w; };
struct C { unsigned k[7]; };
struct D { uint4 v; uint2 u; unsigned s; unsigned char t[4]; uint4 q; };
struct E { uint2 u[4]; unsigned r; };
struct __align__(16) F { uint4 v[5]; };
extern "C" __global__ void k9601(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    const A* a = (const A*)src; const B* b = (const B*)src; const C* c = (const C*)(src + n);
    const D* d = (const D*)src; const E* e = (const E*)(src + 2 * n); const F* q = (const F*)src;
    acc += a[g].a + a[g].c + a[g].d + a[g].e[3] + (unsigned)a[g + 1].b;
    acc += (unsigned)b[g].x + b[g].y + (unsigned)(b[g].x >> 32);
    acc += c[g].k[0] + c[g].k[3] + c[g].k[t & 3];
    uint4 v = d[g].v; uint4 w = d[g].q; acc += v.x ^ w.w ^ d[g].u.y ^ d[g].t[t & 3];
    acc += e[g].u[1].x + e[g].u[3].y + e[g].r;
    uint4 x = q[g].v[2], y = q[g].v[4]; acc += x.y + y.z;
    D* o = (D*)out; o[g].u = make_uint2(acc, g); o[g].t[2] = (unsigned char)acc; o[g].q = make_uint4(acc, 1, 2, g);
    B* p = (B*)(out + 8192); p[g].w = acc * 0.5; p[g].z = acc;
}
