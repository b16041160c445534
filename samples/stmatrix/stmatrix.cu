// An epilogue with stmatrix: 8 x 8 fragments go to shared memory, rows of 16 bytes leave it.
#include <cuda_fp16.h>

// A warp transposes a 16 x 16 tile of halves: fragments in, rows out. Pitch in halves.
template <int Pitch>
__device__ void store_fragments(const unsigned* in, uint4* out) {
    __shared__ alignas(128) __half tile[16 * Pitch];
    int lane = threadIdx.x;
    in += blockIdx.x * 128;
    unsigned r0 = in[lane], r1 = in[lane + 32], r2 = in[lane + 64], r3 = in[lane + 96];
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane % 16 * Pitch + lane / 16 * 8]));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"    // site: stmatrix
                 :: "r"(address), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
    __syncwarp();
    out[blockIdx.x * 32 + lane] = *reinterpret_cast<const uint4*>(&tile[lane / 2 * Pitch + lane % 2 * 8]);   // site: row-load
}

extern "C" __global__ void stmatrix_pitch_16(const unsigned* in, uint4* out) { store_fragments<16>(in, out); }
extern "C" __global__ void stmatrix_pitch_24(const unsigned* in, uint4* out) { store_fragments<24>(in, out); }
extern "C" __global__ void stmatrix_pitch_64(const unsigned* in, uint4* out) { store_fragments<64>(in, out); }
