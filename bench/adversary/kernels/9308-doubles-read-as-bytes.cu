// launch 1 32 n=6
// launch 1 47 n=2
// launch 2 64 n=100
// One buffer written as double2, int4, long long, short and byte, read as another: the bits of doubles are indices.
extern "C" __global__ void k9308(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned char m[64 * 16];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    double2 d; d.x = (double)t * 0.37 + (double)n; d.y = -(double)f / (double)(t + 1);
    reinterpret_cast<double2*>(m)[t] = d;
    __syncthreads();
    acc += s[m[t * 16 + 6] * 4];
    acc += s[(reinterpret_cast<unsigned short*>(m)[t * 8 + 5] >> 3) & 1023];
    acc += s[(reinterpret_cast<int*>(m)[t * 4 + 3] >> 18) & 1023];
    int4 q = reinterpret_cast<int4*>(m)[(t * 3) % blockDim.x];
    acc += s[(unsigned)(q.y ^ q.w >> 7) & 1023];
    __syncthreads();
    reinterpret_cast<long long*>(m)[t * 2] = (long long)q.y * (long long)(t + 1);
    reinterpret_cast<short*>(m)[t * 8 + 3] = (short)(0u - t * 3);
    long long back = reinterpret_cast<long long*>(m)[t * 2];
    acc += s[(unsigned)(back >> 47) & 1023];
    if (reinterpret_cast<signed char*>(m)[t * 16 + 1] < 0) acc += s[((unsigned char)m[t * 16 + 1] * 2) & 1023];
    reinterpret_cast<int2*>(m)[t * 2 + 1] = make_int2((int)t, (int)(t << 4 | 3));
    float half = reinterpret_cast<float2*>(m)[t * 2 + 1].y;
    acc += s[(__float_as_uint(half) * 2) & 1023];
    __syncthreads();
    unsigned long long two = reinterpret_cast<ulonglong2*>(m)[(t + 9) % blockDim.x].y;
    s[(two >> 30) & 1023] = acc;
    float4 v = reinterpret_cast<float4*>(m)[t];
    unsigned bits = __float_as_uint(v.z) + __float_as_uint(v.w);
    acc += s[(bits * 7) & 1023];
    double mixed = __hiloint2double((int)(0x3FF00000u | bits << 8), (int)bits);
    acc += s[(unsigned)(mixed * 512.0) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
