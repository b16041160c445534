// launch 1 32 n=5
// launch 1 48 n=6
// launch 2 64 n=9
// A pipeline of three stages filled by cp.async of 4, 8 and 16 bytes, with sources cut off by lane at the end of a row, waits of all but some groups; stages turn.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9357(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(16) unsigned ring[3][64 * 4 + 8];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 3 * 264; k += T) ring[0][k] = 0xFFFF;
    __syncthreads();
    auto fill = [&](unsigned round) {
        unsigned stage = round % 3, from = (round * 64 + t * 4) & 1020;
        int left = (int)(n * 12 + round * 8) - (int)t * 4; unsigned bytes = left <= 0 ? 0 : left > 4 ? 16 : (unsigned)left * 4;
        if (round & 1) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at(&ring[stage][t * 4])), "l"(src + from), "r"(bytes) : "memory");
        else { asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(at(&ring[stage][t * 4 + 2])), "l"(src + from), "r"(bytes >> 1) : "memory");
               if (t % 3 != round % 3) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(&ring[stage][(t ^ 1) * 4])), "l"(src + from + 3) : "memory"); }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fill(0); fill(1);
    for (unsigned round = 0; round < n; round++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        unsigned* now = ring[round % 3]; uint4 v = *(uint4*)(now + ((t + round) % T) * 4);
        acc += s[(v.x * 4 + round) & 1023]; acc += s[(v.z * 8 + t) & 1023];
        if (v.w & 4) s[(v.w + v.y * 2) & 1023] = acc;
        __syncthreads();
        fill(round + 2);
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads();
    unsigned last = ring[(n + 1) % 3][t * 4 + (t & 3)]; acc += s[(last * 2) & 1023];
    for (unsigned k = last & 3; k < 3; k++) acc += s[(ring[k][t * 4 + 2] + k * 16) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
