// launch 1 32 n=1
// launch 1 64 n=2
// launch 2 29 n=5
// One instruction accesses shared, global and local memory, by lane: loads, stores, vectors, bytes, atomics.
template <typename T> __device__ __noinline__ T get(const T* p) { return *p; }
template <typename T> __device__ __noinline__ void put(T* p, T v) { *p = v; }
__device__ __noinline__ unsigned add(unsigned* p, unsigned v) { return atomicAdd(p, v); }
__device__ __noinline__ unsigned long long swap(unsigned long long* p, unsigned long long v) { return atomicExch(p, v); }
extern "C" __global__ void k9608(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[1024];
    __align__(16) unsigned own[16];
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k * 3;
    for (unsigned i = 0; i < 16; i++) own[i] = i * 7 + t;
    __syncthreads();
    for (unsigned i = 0; i < 3; i++) {
        unsigned c = (t + i * n) % 3;
        acc += get<unsigned>(c == 0 ? s + (t * 5 & 1023) : c == 1 ? own + (t + i & 15) : src + t * 3);
        uint2 v = get<uint2>(c == 1 ? (const uint2*)s + t * 2 : c == 2 ? (const uint2*)own + (i & 7) : (const uint2*)src + (t ^ i));
        uint4 w = get<uint4>(c == 2 ? (const uint4*)s + (t & 7) : c == 0 ? (const uint4*)own + (t & 3) : (const uint4*)src + t);
        acc += v.x + w.z + get<unsigned char>(t & 1 ? (const unsigned char*)src + t * 5 : (const unsigned char*)own + (t * 3 & 63));
        put<unsigned>(c == 0 ? out + g : c == 1 ? s + (t * 9 & 1023) : own + (t & 15), acc);
        put<uint4>(t & 2 ? (uint4*)own + (t & 3) : (uint4*)out + 100 + g, w);
        put<unsigned short>(c ? (unsigned short*)own + (t & 31) : (unsigned short*)out + 4000 + g * 3, (unsigned short)acc);
        acc += add(t & 4 ? out + 4096 + (g & 15) : s + (t & 63), i);
        acc += (unsigned)swap(c == 1 ? (unsigned long long*)s + t : (unsigned long long*)out + 3000 + g / 2, acc);
    }
    out[8192 + g] = acc + own[n & 15];
}
