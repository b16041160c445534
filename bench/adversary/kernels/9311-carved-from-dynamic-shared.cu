// launch 1 32 n=5 shared=4096
// launch 2 45 n=13 shared=6144
// launch 1 16x4 n=1 shared=8192
// Several arrays carved out of one dynamic allocation at offsets rounded up at run time; typed cursors, one from the end downwards.
template <class T> __device__ __forceinline__ T* carve(unsigned char*& at, unsigned count, unsigned align) {
    unsigned long long p = ((unsigned long long)at + align - 1) / align * align;
    at = (unsigned char*)(p + sizeof(T) * count);
    return (T*)p;
}
extern "C" __global__ void k9311(unsigned* out, const unsigned* src, unsigned n, float f) {
    extern __shared__ __align__(16) unsigned char pool[];
    unsigned T = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x, acc = 0, bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    unsigned char* at = pool + n;
    unsigned short* a = carve<unsigned short>(at, T + n, 2);
    double* b = carve<double>(at, T, 8);
    unsigned char* c = carve<unsigned char>(at, 3 * n + T, 1);
    uint2* d = carve<uint2>(at, T, 8);
    unsigned* s = carve<unsigned>(at, 256, n | 1 ? 4 : 16);
    unsigned* top = (unsigned*)(pool + bytes) - 1;
    for (unsigned k = t; k < 256; k += T) s[k] = k * k;
    a[t] = (unsigned short)(t * 9 + n);
    b[t] = (double)(t * 3) + 0.5;
    c[t + n] = (unsigned char)(T - t);
    d[t] = make_uint2(t ^ n, (unsigned)(at - pool));
    top[-(int)t] = t * 4;
    __syncthreads();
    unsigned q = T - 1 - t;
    acc += s[a[q] & 255];
    acc += s[(unsigned)(b[q] * 1.5) & 255];
    acc += s[c[q + n] * 2 & 255];
    acc += s[(d[q].x * 8 + d[q].y) & 255];
    acc += s[top[-(int)((t * 3) % T)] & 255];
    if ((unsigned)(at - pool) % 8 == 4 || (t & 1)) s[(c[t + n] * 4) & 255] = acc;
    __syncthreads();
    for (unsigned char* p = c + n + t % 4; p < c + n + T; p += 7) if (*p % 3 == t % 3) acc += s[(*p + (unsigned)(p - c)) & 255];
    unsigned left = (unsigned)((unsigned char*)(top - T) - at) / 4;
    s[(left + t * 5) & 255] = acc;
    out[(blockIdx.x * T + t) & 2047] = acc;
}
