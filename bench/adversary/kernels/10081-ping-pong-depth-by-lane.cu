// launch 2 64 n=14
// launch 1 128 n=5
// launch 1 40 n=9
// Two functions call each other to a depth that differs by lane; one stride conflicts only between depths, the other only within one depth; stores before, loads after, both again in the caller.
__shared__ unsigned s[4 * 448], q[4 * 1024];
#define T threadIdx.x
#define P(d) (*(volatile unsigned*)&s[(T >> 5) * 448 + 33 * (d) + (T & 31)])
#define Q(d) (*(volatile unsigned*)&q[(T >> 5) * 1024 + 32 * (T & 31) + (d)])
__device__ __noinline__ unsigned pong(unsigned x, unsigned d);
__device__ __noinline__ unsigned ping(unsigned x, unsigned d) {
    if (d == 0) return x ^ 3;
    P(d) = x;
    if ((x & 15) == 5) return x >> 2;
    unsigned y = pong(x * 3 + 1, d - 1);
    y += Q(d);
    if (y & 16) return y >> 1;
    return y + P(y % 13);
}
__device__ __noinline__ unsigned pong(unsigned x, unsigned d) {
    if (d == 0) return x + Q(x & 31);
    Q(d) ^= x;
    unsigned y = ping((x >> 1) ^ (d << 4), d - 1);
    if ((y & 24) == 8) return y + 1;
    P(d) += y;
    return y ^ Q(y & 31);
}

extern "C" __global__ void k10081(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T, lane = t & 31;
    for (unsigned d = 0; d < 13; d++) P(d) = d * 7 + t;
    for (unsigned d = 0; d < 32; d++) Q(d) = t ^ d;
    __syncthreads();
    unsigned v = src[(t * 11 + n) & 4095] + blockIdx.x;
    const unsigned depth = 1 + (lane * 5 + n) % 12;
    v = ping(v & 1023, depth);
    Q(v & 31) += v;
    P(v % 13) += 1;
    if (v & 2) v += ping(v & 255, depth >> 1); else v += pong(v & 255, 12 - depth);
    v += P(depth) + Q(depth);
    __syncthreads();
    out[blockIdx.x * 128 + t] = v + q[(t * 32 + (v & 31)) & 1023];
}
