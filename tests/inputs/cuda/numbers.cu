// Integer, bit-field, conversion and float instructions of all widths, wide arithmetic with carries.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void bits(unsigned* u, unsigned long long* w, int* s, int n) {
    unsigned a = u[threadIdx.x], b = u[threadIdx.x + 32], c = n;
    unsigned long long x = w[threadIdx.x], y = w[threadIdx.x + 32];
    u[0] = __brev(a) + __popc(b) + __clz(c) + __ffs(a) + __fns(a, 3, n);
    u[1] = __byte_perm(a, b, c) ^ __funnelshift_l(a, b, c) ^ __funnelshift_rc(a, b, c);
    u[2] = __umulhi(a, b) + __umul24(a, b) + __usad(a, b, c) + __dp4a(a, b, c);
    s[0] = __mulhi(n, s[1]) + __mul24(n, s[2]) + __sad(n, s[3], 7) + abs(s[4]) + min(n, s[5]) + max(n, s[6]);
    u[3] = (a & b) | (~a & c), u[4] = a ^ b ^ c, u[5] = (a >> c) | (b << (c & 15));
    u[6] = __vadd2(a, b) + __viaddmax_s32(s[1], s[2], n);
    w[0] = __brevll(x) + __popcll(y) + __clzll(x) + __ffsll(y) + __umul64hi(x, y), w[1] = x * y + (x >> n) + (y << c);
    unsigned __int128 wide = (unsigned __int128)x * y + x;
    wide = (wide << 7) - y;
    w[2] = (unsigned long long)(wide >> 64) + (unsigned long long)wide;
    s[7] = (n << 3) >> 5, s[8] = (signed char)n, s[9] = (short)a, u[7] = (unsigned char)b;
}

extern "C" __global__ void floats(float* f, double* d, int* i, long long* l) {
    float a = f[0], b = f[1];
    double x = d[0], y = d[1];
    f[2] = a / b + sqrtf(a) + rsqrtf(b) + 1 / a, f[3] = sinf(a) + expf(b) + logf(a) + powf(a, b) + tanhf(b);
    f[4] = floorf(a) + rintf(b) + truncf(a) + ceilf(b) + fmodf(a, b), f[5] = fmaf(a, b, a), f[6] = fminf(a, fmaxf(b, 0.5f));
    f[7] = __fadd_rz(a, b) + __fmul_ru(a, b) + __fdividef(a, b) + __saturatef(a) + copysignf(a, b);
    i[0] = __float2int_rn(a) + __float2int_rz(b) + (int)x + __double2int_rd(y) + isnan(a) + signbit(b) + ilogbf(a);
    l[0] = (long long)a + (long long)x + llrint(y), l[1] = (unsigned long long)b;
    f[8] = (float)l[2] + (float)i[1] + (unsigned char)i[2], d[2] = x / y + sqrt(x) + (double)l[3] + a, d[3] = sin(x) * exp(y);
    d[4] = fma(x, y, x) + rint(y) + __dadd_ru(x, y) + (a < b) + (x != y), f[9] = (a > b || !(a <= 2 * b)) ? a : b;
}

extern "C" __global__ void halves(__half* h, __half2* v, __nv_bfloat16* q, __nv_bfloat162* p, float* f, __nv_fp8x2_storage_t* e) {
    __shared__ __half2 tile[64];
    tile[threadIdx.x] = __hfma2(v[0], v[1], __float2half2_rn(f[0]));
    __syncthreads();
    h[0] = __hadd(h[1], __hmul(h[2], h[3])), h[4] = hsqrt(h[5]) + __float2half(f[1]), h[6] = __hmax(h[7], h[8]);
    q[0] = __hadd(q[1], __float2bfloat16(f[2])), p[0] = __hfma2(p[1], p[2], p[3]), p[4] = __hmax2(p[5], p[6]);
    f[3] = __half2float(h[9]) + __bfloat162float(q[2]) + __low2float(tile[threadIdx.x ^ 2]), f[4] = __hgt(h[1], h[2]) ? 1 : 2;
    h[10] = __int2half_rn((int)f[5]), f[6] = __half2int_rz(h[11]), v[2] = __hmin2(v[3], h2exp(v[4]));
    e[0] = __nv_cvt_halfraw2_to_fp8x2(__half2_raw(v[5]), __NV_SATFINITE, __NV_E4M3);
}
