// launch 1 64 n=4
// launch 2 96 n=3
// launch 1 128 n=6
// cuda::barrier with a completion, arrival tokens kept over loops, arrive_and_drop by some; what a phase left decides the next.
#include <cuda/barrier>
struct Count { unsigned* phases; unsigned* step; __device__ void operator()() { *phases += 1; *step = (*step * 3 + 1) & 31; } };
extern "C" __global__ void k9257(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned phases, step; __shared__ __align__(16) unsigned char room[64];
    typedef cuda::barrier<cuda::thread_scope_block> Plain;
    __shared__ Plain pair[2];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    if (t == 0) { phases = 0; step = n; init(&pair[0], nt); init(&pair[1], nt / 2); room[0] = 0; }
    __syncthreads();
    unsigned have = step;
    for (unsigned i = 0; i < n; i++) {
        acc += s[(l * have) & 1023];
        Plain::arrival_token token = pair[0].arrive();
        if (w == i % (nt / 32)) s[(l * 2 + i * 32) & 1023] = have;
        pair[0].wait(std::move(token));
        if (t == (i & 31)) Count{ &phases, &step }();
        pair[0].arrive_and_wait();
        have = step + (phases & 1);
    }
    s[(l * (phases + 1)) & 1023] = acc;
    if (t & 1) {
        auto token = pair[1].arrive();
        for (unsigned i = 0; i < (have & 3) + 1; i++) acc += s[(l * 4 + i) & 1023];
        pair[1].wait(std::move(token));
        s[(l * have) & 1023] = 1;
    } else if (have & 2) acc += s[(l * 6) & 1023];
    __syncthreads();
    if (w == 0 && (l & 3) == 3) pair[0].arrive_and_drop();
    else { if (w == 0) s[(l * 8) & 1023] = 4; pair[0].arrive_and_wait(); acc += s[(l * 3 + have) & 1023]; }
    __syncthreads();
    acc += s[(l * (step & 15)) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
