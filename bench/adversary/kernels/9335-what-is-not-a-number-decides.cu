// launch 1 32 n=3
// launch 1 37 n=8388607
// launch 2 64 n=2139095041
// NaN, infinities, zeros of both signs and denormals in ordered and unordered comparisons, min, max and sorts: they decide which lanes are active.
__device__ __forceinline__ unsigned tests(float a, float b) {
    unsigned r; asm volatile("{ .reg .pred p, q, u, w; setp.ltu.ftz.f32 p, %1, %2; setp.nan.f32 q, %1, %2; setp.eq.and.f32 u, %1, %2, !q; setp.ge.xor.f32 w, %1, %2, p;"
        " selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; @u add.u32 %0, %0, 4; @w add.u32 %0, %0, 8; }" : "=r"(r) : "f"(a), "f"(b)); return r;
}
extern "C" __global__ void k9335(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ float v[64];
    const unsigned odd[8] = {0x7FC00001, 0x80000000, 0, 0x7F800000, 0xFF800000, 0x00000001, 0x807FFFFF, 0x3F800000};
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    v[t] = __uint_as_float(t % 3 ? odd[t * 5 & 7] : n + t * 3);
    __syncthreads();
    float a = v[t], b = v[(t * 7 + 3) % T];
    if (a < b) acc += s[(t * 2) & 1023]; else if (a >= b) acc += s[(t * 4) & 1023]; else s[(t * 8) & 1023] = acc;
    if (!(a <= b)) acc += s[(t * 16) & 1023];
    if (a == b) acc += s[(__float_as_uint(a) >> 20) & 1023];
    if (a != a || b != b) acc += s[(t * 32 + 1) & 1023];
    acc += s[tests(a, b) * 32 + (t & 1)];
    acc += s[(__float_as_uint(fminf(a, b)) >> 22) & 1023];
    acc += s[(__float_as_uint(fmaxf(a, -b)) >> 21) & 1023];
    if (a * 0.5f == 0.0f && a != 0.0f) s[(t * 5) & 1023] = acc;
    if (1.0f / a > 1e30f) acc += s[(t * 3 + 7) & 1023];
    float inf = b - b * 2.0f; bool finite = fabsf(inf) <= 3.4e38f;
    unsigned fuel = 0;
    for (float x = a; x < b && finite; x = x * 2.0f + 1.0f) { acc += s[(__float_as_uint(x) >> 18) & 1023]; if (x > 1e3f || ++fuel > 7) break; }
    unsigned rank = 0;
    for (unsigned k = 0; k < 8; k++) rank += v[(t + k) % T] < a || (isnan(a) && !isnan(v[(t + k) % T]));
    acc += s[(rank * 64 + t) & 1023];
    double d = (double)a; int kind = isinf(d) ? 1 : isnan(d) ? 2 : d == 0 ? signbit(d) ? 3 : 4 : fabs(d) < 1e-38 ? 5 : 6;
    switch (kind) { case 1: case 5: s[(t * 6) & 1023] = acc; break; case 2: acc += s[kind * t & 1023]; break; default: acc += s[(kind * 33 + t * 4) & 1023]; }
    out[(blockIdx.x * T + t) & 2047] = acc;
}
