// launch 1 16 n=1
// launch 1 64 n=2
// launch 3 32 n=3
// A radix-4 Stockham FFT: real and imaginary parts exchanged one after the other with padding per n, twiddles from a table by a float.
extern "C" __global__ void k9120(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float part[4 * 64 + 64], cosine[64];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, count = 4 * size, acc = 0, shift = n + 2;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 64; k += size) cosine[k] = (float)((int)(k * k % 9) - 4);
    float re[4], im[4];
#pragma unroll
    for (unsigned r = 0; r < 4; r++) { re[r] = (float)(src[t + r * size] & 7); im[r] = (float)(src[t * 4 + r] & 3); }
    __syncthreads();
    for (unsigned ns = 1; ns < count; ns *= 4) {
        unsigned j = t % ns, base = (t / ns) * ns * 4 + j;
        float angle = (float)j * 16.0f / (float)ns;
#pragma unroll
        for (unsigned r = 1; r < 4; r++) {
            float c = cosine[(unsigned)(angle * (float)r) & 63], d = cosine[((unsigned)(angle * (float)r) + 16) & 63];
            float x = re[r] * c - im[r] * d;
            im[r] = re[r] * d + im[r] * c;
            re[r] = x;
        }
        float a = re[0] + re[2], b = re[0] - re[2], c = re[1] + re[3], d = im[1] - im[3];
        float e = im[0] + im[2], g = im[0] - im[2], i = im[1] + im[3], h = re[1] - re[3];
        re[0] = a + c; re[2] = a - c; re[1] = b + d; re[3] = b - d;
        im[0] = e + i; im[2] = e - i; im[1] = g - h; im[3] = g + h;
        __syncthreads();
#pragma unroll
        for (unsigned r = 0; r < 4; r++) { unsigned p = base + r * ns; part[p + (p >> shift)] = re[r]; }
        __syncthreads();
#pragma unroll
        for (unsigned r = 0; r < 4; r++) { unsigned p = t + r * size; re[r] = part[p + (p >> shift)]; }
        __syncthreads();
#pragma unroll
        for (unsigned r = 0; r < 4; r++) { unsigned p = base + r * ns; part[p + (p >> shift)] = im[r]; }
        __syncthreads();
#pragma unroll
        for (unsigned r = 0; r < 4; r++) { unsigned p = t + r * size; im[r] = part[p + (p >> shift)]; }
    }
    int whole = (int)re[1], other = (int)im[2];  // exact integers
    acc += s[(unsigned)whole & 1023] + s[(unsigned)(other * 8) & 1023];
    s[(unsigned)(whole ^ other) & 1023] = t;
    out[(blockIdx.x * size + t) & 2047] = acc + __float_as_uint(re[0] + re[3] + im[0] + im[1] + im[3]);
}
