// launch 1 64 n=2
// launch 1 21 n=5
// launch 2 32 n=9
// Variables in global memory of several alignments, initialised and not, structs, pointers to variables, managed by index from the end.
__device__ unsigned table[300] = {5, 6, 7}; __device__ unsigned char bytes[1001]; __device__ __align__(16) float4 vectors[64]; struct Q { short a; double b; int c[3]; }; __device__ Q records[70]; __device__ unsigned short halves[515] = {1};
__device__ unsigned* chosen = table + 7; __device__ unsigned counters[5]; static __device__ const unsigned fixed[12] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 10};
extern "C" __global__ void k9639(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    acc += table[g + 3] + table[299 - t] + bytes[g * 7] + bytes[1000 - t] + (unsigned)vectors[t & 63].y + (unsigned)vectors[(g * 5) & 63].w + records[g & 63].c[1] + records[t].a + halves[g * 3] + halves[514 - t];
    acc += src[fixed[t % 12] * 8] + fixed[(t + n) % 12] + src[fixed[n % 12] + t];
    unsigned* p = n & 1 ? table : (unsigned*)records; acc += p[t]; acc += chosen[t & 15];
    table[g * 2] = acc; records[g & 63].b = acc; vectors[63 - (t & 63)].x = acc; bytes[g] = (unsigned char)acc; atomicAdd(&counters[t % 5], 1); atomicAdd(&table[100 + g], 1); out[g] = acc;
}
