// launch 1 32 n=13
// launch 1 64 n=1000003
// launch 2 50 n=4
// Division by multiplication: reciprocals computed at run time, kept in shared memory, used by mul.hi, corrected in some lanes; mul24 beside.
struct Magic { unsigned mul; unsigned char shift, add; };
extern "C" __global__ void k9321(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ Magic m[64];
    unsigned t = threadIdx.x, acc = 0, T = blockDim.x;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned d = t + 1 + n % 7;
    unsigned l = 32 - __clz(d - 1 ? d - 1 : 0);
    if (d == 1) l = 0;
    unsigned long long top = (1ull << l) - d;
    m[t].mul = (unsigned)((top << 32) / d + 1);
    m[t].shift = (unsigned char)(l ? l - 1 : 0);
    m[t].add = l > 0;
    __syncthreads();
    Magic g = m[(t * 5 + 2) % T];
    unsigned x = t * 0x1234567u + n, hi = __umulhi(x, g.mul);
    unsigned q = (hi + ((x - hi) >> g.add)) >> g.shift;
    acc += s[q & 1023];
    unsigned e = (t * 5 + 2) % T + 1 + n % 7;
    if (q * e > x || x - q * e >= e) s[t & 1023] = 99; else acc += s[(x - q * e) * 4 & 1023];
    unsigned rough = (unsigned)__mul24((int)(x >> 10), (int)e), wide = __umul24(x, g.mul);
    acc += s[(rough ^ wide >> 9) & 1023];
    int sh = __mulhi((int)x, (int)0x92492493); sh = ((sh + (int)x) >> 2) + (int)(x >> 31);
    acc += s[(unsigned)(sh + 512) & 1023];
    float inv = 1.0f / (float)e; unsigned est = (unsigned)((float)(x & 0xFFFFF) * inv);
    while (est * e > (x & 0xFFFFF)) { est--; acc += s[est & 1023]; }
    while ((est + 1) * e <= (x & 0xFFFFF)) { est++; acc += s[(est * 2) & 1023]; }
    if (est % 3 == 1) s[(est * 8 + t) & 1023] = acc;
    unsigned h = __uhadd(x, e) ^ __urhadd(x * 3, e) ^ (unsigned)__hadd(-(int)x, (int)e) ^ __usad(x, n, e) ^ (unsigned)__sad((int)x, -7, e);
    acc += s[(h ^ h >> 15) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
