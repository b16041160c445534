// launch 1 48 n=10
// launch 2 96 n=300
// launch 1 7x6x2 n=65535
// float-to-int conversions as indices: NaN to 32 and 64 bits, negatives to unsigned, infinities, four rounding modes on ties, saturating 8-bit conversions, fmin with NaN, bits of a float, repeated rounding in a running sum
extern "C" __global__ void k10055(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ float tab[320];
    __shared__ unsigned char bins[256];
    __shared__ float2 pair[64];
    const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned i = tid; i < 320; i += nt) tab[i] = (float)i;
    for (unsigned i = tid; i < 256; i += nt) bins[i] = (unsigned char)i;
    for (unsigned i = tid; i < 64; i += nt) pair[i] = make_float2((float)i, -(float)i);
    __syncthreads();
    float acc = 0.f;
    const float x = ((float)(int)(tid - 20u)) * f * 0.5f;      // ties at .5, negative for small tid
    const float nan = sqrtf((float)(int)(5 - (int)(tid % 9))); // NaN where tid%9 > 5
    acc += tab[(__float2int_rn(x) + 160) & 255];
    acc += tab[(__float2int_rz(x) * 3 + 160) & 255];
    acc += tab[(__float2int_ru(x) + __float2int_rd(-x) + 160) & 255];
    acc += tab[__float2uint_rz(x) & 255];                      // negatives go to 0
    acc += tab[(__float2int_rn(nan) * 33 + (int)(tid & 7)) & 255];
    bins[(unsigned)(__float2ll_rz(nan) >> 59) & 255] = 1;      // NaN to s64 is the most negative number
    bins[(unsigned)(__float2ull_rn(x * 1e18f) >> 56) & 255] = 2;  // saturates
    int sat8; unsigned usat8;
    asm("cvt.rni.s8.f32 %0, %1;" : "=r"(sat8) : "f"(x * 7.f));
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(usat8) : "f"(x * 9.f));
    acc += bins[(sat8 + 128) & 255];
    acc += bins[usat8 & 255];
    const float lim = fminf(fmaxf(nan * 20.f, 3.25f), 60.75f); // NaN gives 3.25
    acc += pair[(int)lim].x;                                   // 3..60
    acc += pair[(int)rintf(__saturatef(x * 0.05f) * 63.f)].y;  // 0..63
    const float inf = (float)tid / (float)(int)((tid & 3) - (tid & 2)); // x/0: inf, 0/0: NaN
    acc += tab[__float2int_rz(inf) >> 24 & 127];
    float run = 0.1f * (float)(n & 15);
    for (int i = 0; i < 12; ++i) {
        run = run * 1.1f + (float)tid * 0.3f;
        pair[(int)floorf(run) & 63].x = acc;
        acc += tab[(int)fmodf(run, 9.7f) * 32 + (i & 31)];     // 0..9 times 32
        unsigned b = __float_as_uint(run + 8388608.f);         // the magic-number rounding
        tab[b & 255] = (float)i;
        acc += bins[(__float_as_uint(run) >> 19) & 255];       // exponent and top of the mantissa
        if (!(run < nan)) acc += pair[(tid + (unsigned)i * 5) & 63].y;   // true when NaN
    }
    const double d = (double)(int)(tid - 30u) * 0.5;
    tab[(__double2int_rn(d) + 64) & 255] = acc;
    acc += tab[(int)(unsigned char)(int)(truncf(x) + copysignf(0.5f, x))];
    const float oct = log2f((float)(tid + 1) * (float)(n + 1));
    acc += tab[min(max((int)(oct * 8.f), 0), 319)];
    out[(blockIdx.x * nt + tid) & 4095] = __float_as_uint(acc) + src[tid & 4095];
}
