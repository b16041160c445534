// launch 1 256 n=4 shared=36864
// launch 2 64 n=9 shared=9216
// launch 1 104 n=6 shared=18432
// Epilogues through two buffers a warp: stmatrix into swizzled or padded rows (the choice is data), guarded 16-byte reads, ldmatrix back; a partial warp stores words instead.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void stm4(unsigned a, unsigned x, unsigned y, unsigned z, unsigned w) { asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(a), "r"(x), "r"(y), "r"(z), "r"(w) : "memory"); }
__device__ __forceinline__ void stm2t(unsigned a, unsigned x, unsigned y) { asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" :: "r"(a), "r"(x), "r"(y) : "memory"); }
__device__ __forceinline__ uint4 ldm4(unsigned a) { uint4 v; asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(a) : "memory"); return v; }
__device__ __forceinline__ uint4 ldm4t(unsigned a) { uint4 v; asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(a) : "memory"); return v; }
__device__ __forceinline__ unsigned ldm1(unsigned a) { unsigned v; asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(a) : "memory"); return v; }

extern "C" __global__ void k9972(unsigned* out, const unsigned* src, unsigned n, float f) {
    extern __shared__ __align__(1024) unsigned char space[];
    __shared__ unsigned plan[16];
    const unsigned t = threadIdx.x, warp = t >> 5, lane = t & 31;
    const bool whole = warp * 32 + 32 <= blockDim.x;
    for (unsigned i = t; i < (blockDim.x + 31) / 32 * 1152; i += blockDim.x) ((unsigned*)space)[i] = i * 5;
    if (t < 16) plan[t] = src[n * 77 + blockIdx.x * 13 + t * 37];
    __syncthreads();
    unsigned acc = t * 3, buffer = 0;
    const unsigned tiles = 2 + plan[0] % 5;
    for (unsigned tile = 0; tile < tiles; tile++) {
        const unsigned word = plan[1 + tile], limit = word % 17, pitch = word & 32 ? 144 : 128, mask = word & 32 ? 0 : 7;
        unsigned char* base = space + (warp * 2 + buffer) * 2304;
        const unsigned at = sa(base), row = lane & 15;
        buffer ^= 1;
        if (word % 7 == 0) continue;
        if (whole) {
            #pragma unroll 2
            for (unsigned j = 0; j < 4; j++)
                stm4(at + row * pitch + ((j * 2 + (lane >> 4) ^ row & mask) << 4), acc + j, acc ^ j, acc * 3, ~acc);
            if (word & 64) stm2t(at + row * pitch + ((tile ^ row & mask) << 4), acc, acc + 1);
        } else {
            for (unsigned j = 0; j < 8; j++) *(unsigned*)(base + row * pitch + ((j ^ row & mask) << 4)) = acc + j;
        }
        __syncwarp();
        for (unsigned i = lane; i < 128; i += 32) {
            const unsigned r = i >> 3, c = i & 7;
            if (r >= limit) break;
            const uint4 v = *(const uint4*)(base + r * pitch + ((c ^ r & mask) << 4));
            acc += v.x + v.y + v.z + v.w;
        }
        if (whole) {
            const uint4 v = word & 128 ? ldm4(at + row * pitch + ((tile + (lane >> 4) & 7) << 4)) : ldm4t(at + row * 144 % 2048);
            acc ^= v.x + v.y * 3 + v.z * 5 + v.w * 7;
            for (unsigned k = 0; k < limit % 4; k++) acc += ldm1(at + (lane & 7) * pitch + k * 16);
        }
        __syncwarp();
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
