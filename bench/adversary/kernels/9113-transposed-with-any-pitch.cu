// launch 1 16x8 n=1
// launch 2 32x4 n=0
// launch 1 12x10 n=2
// launch 1 24x7 n=5
// Transposes of rectangles with a pitch from n, with a rotation of columns, with xor; indices by division of the thread.
extern "C" __global__ void k9113(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned a[1024], b[1024], c[1024];
    unsigned x = threadIdx.x, y = threadIdx.y, w = blockDim.x, h = blockDim.y, t = y * w + x, acc = 0;
    for (unsigned k = t; k < 1024; k += w * h) { a[k] = k; b[k] = k * 2; c[k] = k * 3; }
    __syncthreads();
    unsigned tx = t / h, ty = t % h, pitch = w + n, up = 1u << (32 - __clz(w - 1));
    for (unsigned tile = 0; tile < 3; tile++) {
        a[y * pitch + x] = src[(tile * 128 + t) & 2047];
        b[y * w + (x + y * n) % w] = src[(tile * 64 + t * 2) & 2047];
        c[y * up + (x ^ (y & (up - 1)))] = t + tile;
        __syncthreads();
        acc += a[ty * pitch + tx];
        acc += b[ty * w + (tx + ty * n) % w] & 255;
        acc += c[ty * up + (tx ^ (ty & (up - 1)))];
        __syncthreads();
        a[(tx * (h | 1) + ty) & 1023] = acc;
        __syncthreads();
        acc ^= a[(x * (h | 1) + y) & 1023];
        __syncthreads();
    }
    b[t] = x << 4 | y;
    __syncthreads();
    unsigned q = b[tx + ty * w];
    acc += c[((q >> 4) * 32 + (q & 15)) & 1023];
    out[(blockIdx.x * w * h + t) & 2047] = acc;
}
