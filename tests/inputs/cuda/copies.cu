// Asynchronous copies, pipelines, barriers, matrix fragments; clusters and bulk copies from sm_90 on.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;

extern "C" __global__ void staged(const float4* in, float* out, int tiles) {
    constexpr int stages = 2;
    __shared__ float4 buffer[stages][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int fetch = 0, compute = 0; compute < tiles; compute++) {
        for (; fetch < tiles && fetch < compute + stages; fetch++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % stages], in + fetch * 128, sizeof(float4) * 128, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += buffer[compute % stages][threadIdx.x ^ 5].x;
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void waited(const int* in, int* out) {
    __shared__ int tile[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(cg::this_thread_block(), tile, in, sizeof(int) * 256, barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" __global__ void fragments(const __half* a, const __half* b, float* c) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half sa[16 * 24], sb[16 * 24];
    for (int i = threadIdx.x; i < 256; i += 32) sa[i / 16 * 24 + i % 16] = a[i], sb[i / 16 * 24 + i % 16] = b[i];
    __syncwarp();
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.f);
    load_matrix_sync(fa, sa, 24), load_matrix_sync(fb, sb, 24), mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c, fc, 16, mem_row_major);
}

extern "C" __global__ void inline_assembly(unsigned* out, const uint4* in, int n) {
    __shared__ __align__(128) uint4 tile[256];
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]), r[4];
#if __CUDA_ARCH__ >= 800
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }\n" ::"r"(at), "l"(in + threadIdx.x), "r"(n));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0+4096], [%1], 4, %2;\n" ::"r"(at & ~4095), "l"(in), "r"(n));
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;\n" ::: "memory");
#else
    tile[threadIdx.x] = in[threadIdx.x];
#endif
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    asm("{\n\t.reg .b16 lo, hi;\n\tmov.b32 {lo, hi}, %1;\n\tmov.b32 %0, {hi, lo};\n\t}" : "=r"(out[0]) : "r"(r[0]));
    asm("lop3.b32 %0, %1, %2, %3, 0xE8; // a comment\n" : "=r"(out[1]) : "r"(r[1]), "r"(r[2]), "r"(r[3]));
    asm("{.reg .pred p, q;\nsetp.lt.and.u32 p|q, %1, 0x10, !p;\nselp.b32 %0, 1, 2, q;}" : "=r"(out[2]) : "r"(r[1]));
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;" : "=r"(out[3]), "=r"(out[4]) : "r"(r[0]), "r"(r[3]));
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(int* out) {
    __shared__ int s[64];
    auto all = cg::this_cluster();
    s[threadIdx.x] = threadIdx.x;
    all.sync();
    int* other = all.map_shared_rank(s, all.block_rank() ^ 1);
    other[threadIdx.x] += 3;
    all.sync();
    out[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void bulk(const int* in, int* out) {
    __shared__ alignas(16) int tile[256];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        cuda::ptx::mbarrier_init(&barrier, 1);
        cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
        cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, tile, in, sizeof(tile), &barrier);
        cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, &barrier, sizeof(tile));
    }
    __syncthreads();
    while (!cuda::ptx::mbarrier_try_wait_parity(&barrier, 0)) {}
    tile[threadIdx.x * 3 & 255] += 1;
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, tile, sizeof(tile));
        cuda::ptx::cp_async_bulk_commit_group();
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
    }
}
#endif
