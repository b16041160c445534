// launch 1 128 n=6
// launch 2 96 n=9
// launch 3 40x4 n=5
// launch 5 72 n=17 shared=4096
// Copies in stages over contents that were computed before: three-stage and two-role cuda::pipeline, 12-byte elements by a
// pipeline of one thread, cp.async with zero-fill, bulk copies of a runtime length, and a barrier that warps drop out of.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/span>
#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

struct Triple { unsigned a; short b, c; int d; };                                 // 12 bytes
struct alignas(16) Four { unsigned v[4]; };

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// 16 bytes arrive, of which the first ones come from src and the others are zeros
__device__ void copy16(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
}

__device__ void copy8(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
}

extern "C" __global__ void k9899(unsigned* out, const unsigned* src, unsigned n, float f) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ __align__(128) unsigned ring[3][260], bulk[256], table[1024];
    __shared__ Four filled[256];
    __shared__ double weights[256];
    __shared__ __align__(16) Triple triples[256];
    __shared__ short queue[2][256];
    __shared__ unsigned char box[2][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> stages;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> roles;
    __shared__ Barrier whole, leaving;
    __shared__ __align__(8) unsigned long long arrived;
    auto block = cg::this_thread_block();
    const unsigned t = block.thread_rank(), T = block.num_threads(), l = t & 31, w = t / 32, b = blockIdx.x;
    unsigned acc = 0;
    for (unsigned i = t; i < 1024; i += T) table[i] = (i * 3 + b) & 1023;
    for (unsigned i = t; i < 256; i += T) {
        for (unsigned j = 0; j < 4; j++) filled[i].v[j] = i * 4 + j * n;
        weights[i] = i + 0.5;
        triples[i] = {i * 7, short(i), short(n), int(i * 2)};
        bulk[i] = i * 5 & 255;
        box[0][i] = box[1][i] = (unsigned char)(i * 3);
        for (unsigned k = 0; k < 3; k++) ring[k][i] = i * (k + 2) & 1023;
    }
    if (t == 0) {
        init(&whole, T);
        init(&leaving, T);
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n fence.proxy.async.shared::cta;" :: "r"(shared_address(&arrived)) : "memory");
    }
    block.sync();

    // three stages, each of a length of its own; the rest of the stage keeps what was computed or copied before
    {
        auto pipe = cuda::make_pipeline(block, &stages);
        for (unsigned k = 0, fetched = 0; k < n; k++) {
            for (; fetched < n && fetched < k + 3; fetched++) {
                pipe.producer_acquire();
                cuda::memcpy_async(block, ring[fetched % 3], src + ((b * n + fetched) * 64 & 16383), cuda::aligned_size_t<16>(64 * (1 + fetched % 3)), pipe);
                pipe.producer_commit();
            }
            pipe.consumer_wait();
            const unsigned kept = 64 + (t * (k + 1) & 127), copied = (t * 2 + k) & 15;
            acc += table[(ring[k % 3][kept] * 2) & 1023] + table[ring[k % 3][copied] & 1023];
            pipe.consumer_release();
        }
    }
    block.sync();

    // the first warp writes queues of shorts, the others read them a trip later
    {
        auto pipe = cuda::make_pipeline(block, &roles, 32u);
        for (unsigned k = 0; k < n; k++) {
            if (t < 32) {
                pipe.producer_acquire();
                for (unsigned i = t; i < T; i += 32) queue[k & 1][i] = short(i * (2 * k + 1) + b);
                pipe.producer_commit();
            } else {
                pipe.consumer_wait();
                acc += table[(unsigned short)queue[k & 1][(t * 2 + k) % T] & 1023];
                pipe.consumer_release();
            }
        }
    }
    block.sync();

    // every thread copies elements of 12 bytes for itself, two batches deep
    {
        auto pipe = cuda::make_pipeline();
        for (unsigned k = 0; k < 2; k++) {
            pipe.producer_acquire();
            if (t % 2 == k) cuda::memcpy_async(&triples[k ? t ^ 2 : t], reinterpret_cast<const Triple*>(src) + t * 2 + k, sizeof(Triple), pipe);
            pipe.producer_commit();
        }
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        if (t % 2 == 0) acc += table[triples[t].a & 1023];
        pipe.consumer_wait();
        pipe.consumer_release();
        block.sync();
        const Triple there = triples[(t * 5 + 2) & 255];
        acc += table[(there.a + there.c) & 1023] + there.b + there.d;
    }

    // zero-fill: lanes of a warp bring 0 to 16 bytes, so the last word of most entries is 0 and no longer computed
    const unsigned bytes = (t * 3 + n) % 5 * 4, place = (t * 5 + 1) & 255;
    copy16(&filled[place], src + t * 4, bytes);
    if (l & 2) copy8(&weights[place], src + t * 2, 0);
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;\n fence.proxy.async.shared::cta;" ::: "memory");
    block.sync();
    const unsigned last = bytes < 16 ? filled[place].v[3] : 5, second = bytes < 8 ? filled[place].v[1] : n;
    acc += table[(last + second * l) & 1023] + table[((unsigned)weights[place] * 8 + l) & 1023];
    acc += table[(filled[(t * 5 + 2) & 255].v[2] * 32) & 1023] + table[(filled[t].v[0] * 4) & 1023];

    // a bulk copy covers a middle part of what was computed, and a barrier of the library brings the start of the first stage
    const unsigned length = 16 * (n % 5 + 3), lands = 4 * (b % 4) + 32;
    if (t == 0) {
        asm volatile("fence.proxy.async.shared::cta;\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(&arrived)), "r"(length) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(shared_address(bulk + lands)), "l"(src + 64 * b), "r"(length), "r"(shared_address(&arrived)) : "memory");
    }
    for (unsigned done = 0; !done;)
        asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(shared_address(&arrived)) : "memory");
    acc += table[(bulk[(t * 3) & 31] * 4) & 1023] + table[bulk[72 + t % 128] & 1023] + table[bulk[lands + (t & 7)] & 1023];
    cuda::memcpy_async(block, ring[0], src + 128 * b, cuda::aligned_size_t<16>(128), whole);
    whole.arrive_and_wait();
    acc += table[(ring[0][l] & 31) * l] + table[ring[0][128 + l] & 1023];

    // warps drop out one after the other; what they wrote last stays for those who go on
    for (unsigned k = 0; k < n; k++) {
        box[k & 1][t] = (unsigned char)(t * (k + 1) + w);
        if (w > 0 && k == w * 2 - 1) { leaving.arrive_and_drop(); break; }
        leaving.arrive_and_wait();
        acc += table[(box[k & 1][(t + 32) % T] * 4 + k) & 1023];
    }
    block.sync();
    cuda::std::span<const unsigned char> left(box[n & 1], T);
    out[b * T + t] = acc + table[left[(t * 7) % T] * 3 & 1023] + left.size();
}
