// launch 1 32 n=2
// launch 1 96 n=3
// launch 2 70 n=4
// cuda::barrier with tokens: work between arrival and wait, lanes that arrive and leave, a completion by half of the warps.
#include <cuda/barrier>
#include <utility>
extern "C" __global__ void k9133(unsigned* out, const unsigned* src, unsigned n, float f) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier bar, small;
    __shared__ unsigned ping[128], pong[128], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, dropped = size / 4;
    if (t == 0) { init(&bar, size); init(&small, size - dropped); }
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    ping[t] = src[t * 3] & 127;
    __syncthreads();
    unsigned *from = ping, *to = pong;
    for (unsigned k = 0; k < n; k++) {
        to[(t + k) % size] = (from[t] * 3 + k) & 127;
        barrier::arrival_token token = bar.arrive();
        acc += s[(t * (k + 2)) & 1023];  // while others arrive
        bar.wait(std::move(token));
        acc += s[(to[t] * 8) & 1023];
        unsigned* other = from; from = to; to = other;
    }
    unsigned value = from[t];
    if (t % 4 == 3 && t / 4 < dropped) {
        s[(value * 4) & 1023] = t;
        bar.arrive_and_drop();
        out[(blockIdx.x * size + t) & 2047] = acc;
        return;
    }
    s[(value * 2 + 512) & 1023] = t;
    bar.arrive_and_wait();
    acc += s[(from[size - 1 - t] * t) & 1023];
    for (unsigned k = 0; k < 2; k++) {
        if (value & 1) acc += s[(value * 32 + k) & 1023];
        small.arrive_and_wait();
        s[(t * (4 + k)) & 1023] = acc;
        small.arrive_and_wait();
    }
    acc += s[(t * 7) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
