// launch 1 64 n=3
// launch 1 29 n=8
// launch 2 32 n=0
// Pointers chosen by lane, by warp, by a parameter and by data from two arrays; minima of pointers; swapped in a loop.
extern "C" __global__ void k9638(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; const unsigned* two[2] = {src, src + 1027};
    acc += (t & 1 ? src : src + 2048)[t] + (n & 1 ? src + 1 : src + 2)[g] + (t & 32 ? src + 100 : src)[t * 2] + (src[t] & 1 ? src : src + 512)[t] + two[t & 1][g] + two[n & 1][g];
    const unsigned *a = src, *b = src + 600; for (unsigned k = 0; k < 5; k++) { acc += a[t * 3 + k]; const unsigned* c = a; a = b; b = c + 8; if (k == n) a += 3; }
    const unsigned* p = t < 10 ? src + t * 9 : t < 20 ? src + 512 + t : src + 1024 - t * 2; acc += *p + p[n]; p = min((unsigned long long)p, (unsigned long long)(src + 900)) == (unsigned long long)p ? p : src + 900; acc += *p;
    unsigned* o = t & 4 ? out + 1000 : out; o[g] = acc; (t % 3 == 0 ? (unsigned*)out + 4096 + g * 2 : out + 6000 + n)[0] = acc; uint4* v = (uint4*)(n & 2 ? out + 8192 : out + 8200); v[g] = make_uint4(acc, t, n, g);
    if (t & 2) { a = src + 7; } else { a = src + 40; } acc += a[t]; out[12288 + g] = acc;
}
