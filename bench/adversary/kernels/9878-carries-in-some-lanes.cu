// launch 2 96 n=70
// launch 3 33 n=500
// launch 1 7x5x3 n=90
// Pointers as sums of three 64-bit addends in lanes that differ from trip to trip; the carry registers hold other things in
// the remaining lanes, and one pointer continues from what only some lanes have set.
extern "C" __global__ void k9878(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[1024];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned i = t; i < 1024; i += all) s[i] = i * 5;
    __syncthreads();
    const char* base = reinterpret_cast<const char*>(src);
    const unsigned char* where = reinterpret_cast<const unsigned char*>(base);
    unsigned acc = 0;
    unsigned long long begin = blockIdx.x * 256ull;
#pragma unroll 1
    for (unsigned trip = 0; trip < 6; ++trip) {
        const unsigned long long left = (unsigned long long)n + 13 * trip - 3 * t;
        if (t + trip < n % 61) {
            where = reinterpret_cast<const unsigned char*>(base) + begin + t * 4;
            acc += s[(*where + trip) & 1023];
        } else if ((long long)left > 0) {
            acc += s[(where[(t & 7) * 4 + (trip & 1)] * 3 + t) & 1023];
        }
        if (t & 1) begin += 64 + trip * 4;
        acc += s[(reinterpret_cast<const unsigned*>(base + begin)[t & 15] + 8 * t) & 1023];
    }
    out[t & 1023] = acc;
}
