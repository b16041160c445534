// launch 1 96 n=0
// launch 2 48 n=2863311530
// launch 1 9x3x5 n=31
// funnel shifts with counts over 31 (wrapping and clamping forms), prmt in sign-replicating and special modes, brev, popc, ffs(0), clz(0), shift counts of 32 and more
extern "C" __global__ void k10054(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ uint4 vec[64];
    __shared__ unsigned word[33 * 8];
    __shared__ unsigned short half_[512];
    const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned i = tid; i < 64; i += nt) vec[i] = make_uint4(i, i + 1, i + 2, i + 3);
    for (unsigned i = tid; i < 33 * 8; i += nt) word[i] = i;
    for (unsigned i = tid; i < 512; i += nt) half_[i] = (unsigned short)i;
    __syncthreads();
    unsigned acc = 0;
    for (unsigned k = 0; k < 7; ++k) {
        unsigned key = tid * 0x01020408u + n + k;
        acc += vec[(__brev(tid + k) >> 26) ^ (k & 3)].z;
        acc += word[__clz((int)(tid & (24u << k))) * 8 + (k & 7)];              // clz(0) is 32
        acc += word[(__ffs((int)(tid & 28u)) + 32) * 4 + __popc(key) % 4];       // ffs(0) is 0
        half_[__funnelshift_l(tid, key, tid) & 511] = (unsigned short)k;         // count wraps at 32
        acc += half_[__funnelshift_lc(tid, key, tid + k) & 511];                 // count clamps at 32
        acc += half_[__funnelshift_rc(key, tid << 3, tid) & 511];
        unsigned p;
        asm("prmt.b32 %0, %1, %2, %3;" : "=r"(p) : "r"(key), "r"(tid * 0x11u), "r"((tid & 7) | 0x8080u | (k << 4)));
        vec[p & 63] = make_uint4(p, acc, k, tid);                                // selector bit 3 repeats the sign
        asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(p) : "r"(key), "r"(tid), "r"(tid >> 2));
        acc += half_[(p >> 4) & 511];
        asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(p) : "r"(key ^ tid), "r"(0u), "r"(tid));
        acc += word[p & 127];
        acc ^= vec[(__byte_perm(key, tid * 5, 0x3175 + (tid & 3) * 0x1000) >> (tid & 24)) & 63].x;
        unsigned sh;
        asm("shl.b32 %0, %1, %2;" : "=r"(sh) : "r"(tid | 1u), "r"(k * 6));       // 36 shifts everything out
        acc += word[sh & 255];
        int sr;
        asm("shr.s32 %0, %1, %2;" : "=r"(sr) : "r"((int)(tid << 27)), "r"(k * 9)); // clamps to the sign
        half_[sr & 511] = (unsigned short)acc;
        if (__popc(key) & 1) acc += vec[__popc(tid ^ (tid >> 1) ^ key) + 31].w;  // 31..63
    }
    if (__popcll(((unsigned long long)n << 32) | tid) % 3 == 1) word[__clzll((long long)tid << (tid & 31)) * 4] = acc;
    out[(blockIdx.x * nt + tid) & 4095] = acc + src[tid & 4095];
}
