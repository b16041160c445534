// launch 1 32 n=2
// launch 1 50 n=5
// launch 2 64 n=1
// Tagged pointers: kinds in the low bits, counts in the top bits; the pointer leads to shared, local or global memory by lane.
typedef unsigned long long W;
__device__ __forceinline__ W tag(void* p, unsigned kind, unsigned count) { return (W)p | kind | (W)count << 56; }
__device__ __forceinline__ unsigned* bare(W p) { return (unsigned*)(p & 0x00FFFFFFFFFFFFF8ull); }
extern "C" __global__ void k9306(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[1024];
    __shared__ W kept[64];
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __align__(8) unsigned own[8];
    for (unsigned i = 0; i < 8; i++) own[i] = src[(t * 8 + i) & 2047];
    W mine = tag(t % 3 == 2 ? own : s + (t * 6 & 1022), t & 7, (t * n) % 11);
    kept[t] = tag(s + ((t * 10) & 1022), t % 5, t % 7);
    __syncthreads();
    if ((mine & 7) < 4) acc += *bare(mine);
    for (unsigned i = 0; i < (unsigned)(mine >> 56); i += 3) acc += bare(mine)[i & 3];
    W theirs = kept[(t + n) % blockDim.x];
    switch (theirs & 7) {
    case 0: acc += bare(theirs)[0]; break;
    case 1: { uint2 v = *(uint2*)bare(theirs); acc += v.x ^ v.y; break; }
    case 2: acc += ((unsigned short*)bare(theirs))[theirs >> 56]; break;
    default: bare(theirs)[1] = acc;
    }
    __syncthreads();
    kept[t] = theirs ^ ((theirs >> 56 & 3) << 4);
    unsigned* again = bare(kept[t]);
    if (__isShared(bare(mine))) acc += s[((again - s) * 3) & 1023]; else acc += again[(t & 1) * 2];
    unsigned* any = t & 8 ? out + 1024 + (g & 511) : __isShared(bare(mine)) ? bare(mine) + (t & 1) : s + (t & 31) * 8;
    if (!__isGlobal(any)) *any = acc; else acc += s[(unsigned)(mine >> 56) * 32 + (t & 31)];
    W rot = mine << 8 | mine >> 56; rot = rot >> 8 | rot << 56;
    acc += *(bare(rot) + (t & 1));
    out[g & 1023] = acc;
}
