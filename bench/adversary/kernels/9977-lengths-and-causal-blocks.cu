// launch 1 64 n=2
// launch 3 128 n=6
// launch 2 83 n=9
// Sequences of unlike lengths in blocks of 16 rows, causal: rows past the length are zeroed by a store, blocks past the diagonal break, lanes above it sit out the middle of a block.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(unsigned to, const unsigned* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(__cvta_generic_to_global(from)) : "memory"); }
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void settle() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

extern "C" __global__ void k9977(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(128) unsigned char keys[2][2048];
    __shared__ unsigned scores[128 * 17], sums[16], info[2];
    const unsigned t = threadIdx.x, lane = t & 31;
    unsigned acc = 0;
    for (unsigned i = t; i < 128 * 17; i += blockDim.x) scores[i] = i;
    for (unsigned batch = blockIdx.x; batch < 2 + n; batch += gridDim.x) {
        if (t == 0) { info[0] = src[(batch * 307 + n * 3) & 4095] % 70; info[1] = src[(batch * 59 + 7) & 4095] % 3; }
        if (t < 16) sums[t] = 0;
        __syncthreads();
        const unsigned length = info[0], first = info[1];
        if (length < 6) { __syncthreads(); continue; }
        const unsigned query = first * 8 + t;
        unsigned side = 0, best = 0;
        for (unsigned block = first; ; block++) {
            const unsigned start = block * 16;
            if (start >= length) break;
            for (unsigned i = t; i < 128; i += blockDim.x) {
                const unsigned row = i >> 3, to = row * 128 + ((i & 7 ^ row & 7) << 4);
                if (start + row < length) copy16(sa(keys[side]) + to, src + (batch * 132 + (start + row) * 32 + (i & 7) * 4) % 4096);
                else *(uint4*)(keys[side] + to) = make_uint4(0, 0, 0, 0);
            }
            commit();
            settle<0>();
            __syncthreads();
            if (start > first * 8 + blockDim.x) break;
            if (query >= start) {
                const unsigned upto = query - start < 15 ? query - start : 15;
                for (unsigned j = 0; j <= upto; j++) {
                    const unsigned v = *(const unsigned*)(keys[side] + j * 128 + ((lane >> 2 ^ j & 7) << 4) + (lane & 3) * 4);
                    scores[t * 17 + j] = v;
                    if (v > best) best = v;
                }
            }
            acc += *(const unsigned*)(keys[side] + (lane & 15) * 128 + (start & 127));
            if (query >= start && (best & 1)) {
                const uint4 v = *(const uint4*)(keys[side] + ((lane * 128 + (best & 7) * 16) & 2047));
                acc += v.x + v.w;
                if (lane & 2) atomicAdd(sums + (best & 15), 1);
            }
            scores[t * 17 + 16] = best;
            __syncthreads();
            acc += scores[(t * 5 + block) % blockDim.x * 17 + 16] + sums[lane & 15];
            side ^= 1;
            __syncthreads();
        }
        for (unsigned j = 0; j < length % 16; j++) acc ^= scores[t * 17 + j];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
