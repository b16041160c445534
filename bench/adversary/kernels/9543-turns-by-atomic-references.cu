// launch 1 64 n=2
// launch 1 128 n=1
// Warps take turns by cuda::atomic_ref with acquire and release, wait and notify; the value that goes round is a pitch.
#include <cuda/atomic>
extern "C" __global__ void k9543(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned turn, baton;
    if (t == 0) { turn = 0; baton = n; }
    __syncthreads();
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> ref(turn);
    if (l == 0) while (ref.load(cuda::memory_order_acquire) != w) { }
    __syncwarp();
    unsigned v = *(volatile unsigned*)&baton;
    acc += s[(l * v) & 1023];
    if (v & 1) s[(l * 2) & 1023] = v;
    __syncwarp();
    if (l == 0) { *(volatile unsigned*)&baton = (v * 3 + w) & 31; ref.store(w + 1, cuda::memory_order_release); ref.notify_all(); }
    if (l == 3) { ref.wait(0u, cuda::memory_order_acquire); acc += s[(ref.fetch_add(0u) ? 5 : 6)]; }
    __syncthreads();
    acc += s[(l * baton) & 1023] + s[(l * turn) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
