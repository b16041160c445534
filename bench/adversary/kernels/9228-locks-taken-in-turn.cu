// launch 1 32 n=2
// launch 2 64 n=3
// launch 1 46 n=1
// Spin locks in global memory around plain updates of shared words: by one lane after another, and by one leader per warp.
__device__ unsigned locks9228[2];
extern "C" __global__ void k9228(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    __shared__ unsigned sum, heads[32];
    unsigned* lock = locks9228 + (blockIdx.x & 1);
    if (t == 0) sum = n;
    if (t < 32) heads[t] = 0;
    __syncthreads();
    for (unsigned i = 0; i < 32; i++) {
        if (i == l && (i & 3) == (n & 3)) {
            while (atomicCAS(lock, 0u, 1u) != 0u) __nanosleep(20);
            __threadfence();
            *(volatile unsigned*)&sum += i;
            s[(i * 4 + w) & 1023] = i;
            __threadfence();
            atomicExch(lock, 0u);
        }
        __syncwarp(__activemask());
    }
    __syncthreads();
    unsigned total = sum;
    acc += s[(l * total) & 1023];
    if (l == (w ? 5 : 3)) {
        bool mine = false;
        do { mine = atomicExch(lock, 1u) == 0u; if (mine) { heads[7] += total & 3; heads[w] = w + 4; __threadfence(); atomicExch(lock, 0u); } } while (!mine);
    }
    __syncthreads();
    s[(l * heads[7]) & 1023] = acc;
    acc += s[(l * heads[w] + heads[0]) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
