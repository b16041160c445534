// launch 1 32 n=3
// launch 1 63 n=14
// launch 1 96 n=1
// Differences of pointers to structs of 12 and 20 bytes, comparisons of pointers, binary search between two pointers.
struct Three { unsigned a, b, c; };
struct Five { unsigned v[5]; };
__device__ __noinline__ const Three* lower(const Three* from, const Three* to, unsigned key) {
    while (from < to) { const Three* mid = from + (to - from) / 2; if (mid->a < key) from = mid + 1; else to = mid; }
    return from;
}
extern "C" __global__ void k9307(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ Three list[100];
    __shared__ Five big[20];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    for (unsigned k = t; k < 100; k += blockDim.x) { list[k].a = k * k / 3; list[k].b = k * 5; list[k].c = 99 - k; }
    for (unsigned k = t; k < 20; k += blockDim.x) for (unsigned i = 0; i < 5; i++) big[k].v[i] = k * 7 + i;
    __syncthreads();
    const Three* p = lower(list, list + 100, t * n * 2);
    acc += s[((p - list) * 8) & 1023];
    const Three* q = lower(list + (t & 15), p, 200);
    if (q > p - 3) acc += s[(list[99 - (q - list)].b + 1) & 1023];
    long long bytes = (const char*)p - (const char*)q;
    acc += s[(unsigned)(bytes / 4 * 5) & 1023];
    const unsigned* w = &big[t % 20].v[t % 5];
    const Five* base = (const Five*)((const char*)w - ((const char*)w - (const char*)big) % sizeof(Five));
    acc += s[((base - big) * 32 + (w - base->v)) & 1023];
    acc += base->v[(w - base->v) * 2 % 5];
    for (const unsigned* at = w; at < (const unsigned*)(big + 20) - n; at += 11) acc += *at;
    int apart = (int)(p - (list + t % 100));
    if (apart < 0) s[(-apart * 16 + t) & 1023] = acc; else acc += s[(apart * 3) & 1023];
    unsigned low = (unsigned)(unsigned long long)p - (unsigned)(unsigned long long)list;
    s[(low / 12 * 31) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
