// launch 1 32 n=0
// launch 2 64 n=1
// launch 1 96 n=3
// Blocks of 8x8 halves: vectors stored at swizzled places, columns gathered as 16-bit, transposed by shuffles in between.
struct __align__(16) Eight { unsigned short h[8]; };
extern "C" __global__ void k9114(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ Eight tile[96 * 2];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    Eight v;
#pragma unroll
    for (unsigned k = 0; k < 8; k++) v.h[k] = (unsigned short)(src[t * 8 + k & 2047] & 63);
    unsigned row = t >> 3, chunk = t & 7;
    tile[row * 8 + (chunk ^ (n & 1 ? row & 7 : 0))] = v;
    __syncthreads();
    Eight u;
#pragma unroll
    for (unsigned k = 0; k < 8; k++) {  // element k of the chunks of another row order
        unsigned r = (t + k * n) % (size / 8), c = (chunk + k) & 7;
        u.h[k] = tile[r * 8 + (c ^ (n & 1 ? r & 7 : 0))].h[(t + k) & 7];
    }
    unsigned pack = u.h[0] | u.h[7] << 16;
#pragma unroll
    for (unsigned d = 1; d < 8; d *= 2) {
        unsigned o = __shfl_xor_sync(~0u, pack, d);
        pack = l & d ? __byte_perm(pack, o, 0x3276) : __byte_perm(pack, o, 0x5410);
    }
    acc += s[pack & 1023] + s[(pack >> 16) * 8 & 1023];
    __syncthreads();
    uint2* pairs = (uint2*)tile;
    pairs[(t * 5 + n) % (size * 2)] = make_uint2(u.h[1], u.h[2] * 16u);
    __syncthreads();
    uint4 q = ((uint4*)tile)[(t ^ (t >> 3)) % size];
    acc += s[q.x & 1023] + s[(q.w + l) & 1023];
    uint2 p = pairs[(size * 2 - 1 - t * 2)];
    acc += p.x + p.y;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
