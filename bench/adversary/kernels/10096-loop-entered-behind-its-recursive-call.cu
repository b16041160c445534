// launch 2 64 n=20
// launch 1 96 n=33
// A loop entered before, at and behind a recursive call in it, by lane; the recursive function has a loop with two doors around its calls as well.
__device__ __noinline__ unsigned deep(unsigned x, volatile unsigned* b, unsigned depth) {
    unsigned i = x & 1, y = x;
    if (depth == 0 || (x & 7) == 7) return x >> 1;
    if (x & 2) goto behind;
    while (i < 3) {
        y = deep(y * 5 + i, b, depth - 1);
        if ((y & 12) == 4) return y >> 2;
behind:
        b[(depth * 8 + i + x) & 31] = y;
        i++;
        if ((y >> i & 3) == 1) { y += deep(y >> 2, b, depth >> 1); goto behind_too; }
    }
    return y + i;
behind_too:
    if (i < 3 && (y & 1)) goto behind;
    return y ^ b[(depth * 8 + i) & 31] * 0;
}

extern "C" __global__ void k10096(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1500], u[3 * 1024];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const a = s + (t >> 5) * 1500;
    volatile unsigned* const b = u + (t >> 5) * 1024 + 32 * lane;
    const unsigned own = src[(t * 5 + n) & 4095] + blockIdx.x, most = n < 40 ? n : 40;
    unsigned v = own & 0xffff, k = 0, acc = 0;
    for (unsigned i = 0; i < 32; i++) b[i] = i + t;
    a[lane] = own;
    __syncthreads();
    if ((own & 3) == 1) goto call;
    if ((own & 3) == 2) goto behind;
    if ((own & 3) == 3) { v = deep(v, b, 2); goto last; }
top:
    a[lane + 31 * k] = v;
    if (v & 32) goto last;
call:
    v = deep((v + k) & 4095, b, 2 + (v & 1)) & 0xffff;
    if (v % 13 == 3) goto away;
behind:
    acc += a[lane + 31 * (k + 1)];
    k++;
    if (v % 3 == 1 && k < most) goto call;
    v = v * 37 + 11 & 0xffff;
last:
    acc ^= b[k & 31];
    k++;
    a[lane + 31 * k] = acc;
    if (k < most && v % 5 == 2) { v = deep(v >> 3, b, 1) + 1; goto behind; }
    v += 0x35;
    if (k < most) goto top;
    acc += deep(v & 255, b, 2);
away:
    out[blockIdx.x * 96 + t] = acc + v + a[lane + 31 * k];
}
