// launch 1 64 n=0
// launch 1 50 n=1
// launch 2 32 n=5
// One to sixteen bytes at strides of 31 to 33, 127 to 129, 24, 40, 48, 80 bytes.
template <typename T, int S> __device__ __forceinline__ unsigned at(const unsigned* src, unsigned i) {
    return *(const unsigned char*)(const T*)((const char*)src + i * S) + (unsigned)sizeof(T);
}
template <typename T, int S> __device__ __forceinline__ T whole(const unsigned* src, unsigned i) {
    return *(const T*)((const char*)src + (unsigned long long)i * S);
}
extern "C" __global__ void k9602(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    acc += at<char, 31>(src, g) + at<char, 32>(src, g) + at<char, 33>(src, g) + at<char, 127>(src, g) + at<char, 129>(src, g);
    acc += whole<unsigned short, 30>(src, g) + whole<unsigned short, 34>(src, g + n) + whole<unsigned short, 126>(src, g) + whole<unsigned short, 130>(src, t);
    acc += whole<unsigned, 28>(src, g) + whole<unsigned, 36>(src, g + n) + whole<unsigned, 124>(src, g) + whole<unsigned, 132>(src, t) + whole<unsigned, 12>(src, g);
    acc += (unsigned)whole<unsigned long long, 24>(src, g) + (unsigned)whole<unsigned long long, 40>(src, g + n) + (unsigned)whole<unsigned long long, 120>(src, g) + (unsigned)whole<unsigned long long, 136>(src, t);
    acc += whole<uint4, 48>(src, g).x + whole<uint4, 80>(src, g + n).y + whole<uint4, 112>(src, g).z + whole<uint4, 144>(src, t).w + whole<uint4, 16>(src, g).x;
    *(unsigned char*)((char*)out + g * 33) = (unsigned char)acc;
    *(unsigned short*)((char*)out + 16384 + g * 34) = (unsigned short)acc;
    *(unsigned*)((char*)out + 24576 + g * 36) = acc;
    *(unsigned long long*)((char*)out + 32768 + g * 40) = acc;
    *(uint4*)((char*)out + 40960 + g * 48) = make_uint4(acc, n, t, g);
}
