// launch 2 64 n=4
// launch 1 100 n=9
// launch 3 16x9 n=50
// launch 1 32 n=1
// Recursion whose levels read shared memory before and after the calls, virtual functions of objects that lie in shared memory,
// tables of functions chosen by lane or by warp, lambdas called from divergent code, and a function that ends its callers.
#include <new>

namespace {
__shared__ unsigned heap[256], bins[512], trail[8][33];

__device__ unsigned lane_of_thread()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31;
}

__device__ __noinline__ unsigned descend(unsigned node, unsigned key, unsigned depth)
{
    const unsigned v = heap[node & 255];
    if (depth == 0 || v % 7 == key % 7) return v;
    const unsigned r = v % 64 < key % 64 ? descend(node * 2 + 1, key, depth - 1) : descend(node * 2 + 2, key + 3, depth - 1);
    return r + heap[(node + r) & 255];
}

__device__ __noinline__ unsigned spread(unsigned at, unsigned width, unsigned depth)
{
    unsigned sum = bins[at & 511];
    for (unsigned k = 0; depth && k < width; ++k) {
        if ((sum + k) % 5 == 2) break;
        sum += spread(at * 2 + k, (width + k) % 3, depth - 1);
        sum ^= bins[(sum + k) & 511];
    }
    return sum;
}

__device__ __noinline__ unsigned pong(unsigned a, unsigned depth);
__device__ __noinline__ unsigned ping(unsigned a, unsigned depth)
{
    const unsigned v = trail[a & 7][(a >> 3) & 31];
    return depth == 0 ? v : 1 + pong(v + a, depth - 1);
}
__device__ __noinline__ unsigned pong(unsigned a, unsigned depth)
{
    if (depth && a & 1) a += ping(a * 3, depth - 1);
    return a + bins[(a * 8) & 511];
}

struct Step {
    unsigned pitch;
    __device__ Step(unsigned p) : pitch(p) {}
    virtual __device__ unsigned take(unsigned a) const { return a * pitch; }
};
struct Across : Step {
    __device__ Across(unsigned p) : Step(p) {}
    __device__ unsigned take(unsigned a) const override { return bins[(a + lane_of_thread() * pitch) & 511]; }
};
struct Down : Step {
    __device__ Down(unsigned p) : Step(p) {}
    __device__ unsigned take(unsigned a) const override { return a & 1 ? heap[(a * pitch) & 255] : trail[a / 2 & 7][lane_of_thread()]; }
};

typedef unsigned (*Operation)(unsigned, unsigned);
__device__ unsigned by_rows(unsigned a, unsigned l) { return bins[(a + l * 4) & 511] + a; }
__device__ unsigned by_columns(unsigned a, unsigned l) { return heap[(a * 32 + l) & 255]; }
__device__ unsigned by_turns(unsigned a, unsigned l) { return l > 15 ? bins[(a * l) & 511] : a + 1; }
__constant__ Operation operations[4] = {by_rows, by_columns, by_turns, by_columns};

template <class F> __device__ __noinline__ unsigned fold(unsigned from, unsigned to, F what)
{
    unsigned sum = 0;
    for (; from < to; ++from) sum += what(from, sum);
    return sum;
}

__device__ __noinline__ void leave(unsigned* where, unsigned value)
{
    *where = value + bins[value & 511];
    asm volatile("exit;");
}
}

extern "C" __global__ void k9893(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ __align__(16) unsigned char room[4][16];
    __shared__ Operation chosen[8];
    const unsigned T = blockDim.x * blockDim.y, t = threadIdx.x + blockDim.x * threadIdx.y, lane = t & 31, w = t >> 5;
    const unsigned mine = blockIdx.x * T + t;
    for (unsigned i = t; i < 256; i += T) heap[i] = i * 11 + (i >> 3) * n;
    for (unsigned i = t; i < 512; i += T) bins[i] = i * 7 ^ (i >> 4);
    for (unsigned i = t; i < 264; i += T) trail[i / 33][i % 33] = i * (n & 7) + 1;
    if (t < 4) {
        if (t == n % 4) new (room[t]) Step(3);
        else if (t & 1) new (room[t]) Across(t + n % 5);
        else new (room[t]) Down(t * 2 + 3);
    }
    if (t < 8) chosen[t] = (t + n) % 3 == 0 ? by_rows : (t & 1) ? by_turns : by_columns;
    __syncthreads();

    unsigned acc = descend(lane & 3, lane * 5 + w, 4);
    if (lane & 2) acc += spread(lane + acc % 16, 1 + lane % 3, 3);
    else if (w & 1) acc ^= spread(acc, 2, 2) + ping(acc + lane, 3);
    else acc += pong(acc * 2 + 1, 4);

    for (unsigned k = 0; k < 3; ++k) {
        const Step* step = reinterpret_cast<const Step*>(room[(k & 1 ? lane + k : w + k) & 3]);
        acc += step->take(acc + k);
        acc += chosen[(lane * k + w) & 7](acc & 63, lane);
        acc += operations[k == 2 ? lane & 3 : (w + n) & 3](k, lane);
        if (lane % 7 > k) acc += heap[(acc + k * lane) & 255];
    }

    const auto near = [=](unsigned i, unsigned sum) { return bins[(i * lane + (sum & 1)) & 511]; };
    const auto far = [&acc, w](unsigned i, unsigned sum) { return heap[(acc + i * (w + 1) + sum % 3) & 255]; };
    if (lane < 9) acc += fold(lane / 3, 4, near);
    else if (acc & 1) acc += fold(0, lane & 3, far);
    else acc += fold(w, 3 + (lane & 1), near) + fold(1, 3, [src, lane](unsigned i, unsigned) { return bins[(src[i] + lane * i) & 511]; });

    if (lane % 6 == 5 && w != 0) leave(out + mine, acc);
    acc += bins[(lane * 16 + n) & 511];
    __syncthreads();
    trail[w & 7][lane] = acc;
    __syncthreads();
    out[mine] = acc + trail[(w + 1) & 7][31 - lane] + (unsigned)(f > 1);
}
