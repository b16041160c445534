// launch 1 64 n=2
// launch 1 70 n=4
// cuda::barrier with a completion function that rotates a pitch, and arrivals for others; cuda::latch and a binary semaphore between warps.
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <new>
__shared__ unsigned pitch;
struct Turn { __device__ void operator()() noexcept { pitch = (pitch * 3 + 1) & 31; } };
extern "C" __global__ void k9512(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ cuda::std::aligned_storage_t<64, 16> room[2];
    __shared__ cuda::binary_semaphore<cuda::thread_scope_block> sem;
    using B = cuda::barrier<cuda::thread_scope_block, Turn>;
    B* bar = reinterpret_cast<B*>(&room[0]);
    auto* latch = reinterpret_cast<cuda::latch<cuda::thread_scope_block>*>(&room[1]);
    if (t == 0) { pitch = n; new (bar) B(T); new (latch) cuda::latch<cuda::thread_scope_block>(T); new (&sem) cuda::binary_semaphore<cuda::thread_scope_block>(1); }
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        acc += s[(l * pitch) & 1023];
        bar->arrive_and_wait();
        s[(l * (pitch + 1)) & 1023] = k;
        bar->arrive_and_wait();
    }
    latch->arrive_and_wait();
    if (l == 0) { sem.acquire(); pitch = pitch + 1; sem.release(); }
    __syncthreads();
    acc += s[(l * pitch) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
