// launch 6 96 n=4294967290
// launch 3x2 5x1x13 n=2147483648
// launch 9 33x3 n=16777217
// launch 4x1x3 45 n=700
// 64-bit products of blockIdx and blockDim compared with n as int, unsigned, long long, float and double; grid-stride loops with
// 64-bit counters that pass 2**32; quotients by n; f decides trips and indices, also lane by lane.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }

extern "C" __global__ void k9904(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[2048];
    __shared__ unsigned trips_of[512];
    typedef unsigned long long wide;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z, lane = lane_id();
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned bid = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    for (unsigned i = t; i < 2048; i += nt) s[i] = i * 5 + bid;
    __syncthreads();
    unsigned acc = 0, trips = 0;

    // A grid-stride loop with a 64-bit counter: at most five trips, the last of them for some lanes only.
    const wide scale = n > 1000000 ? 0x1000003ull : 3ull;
    const wide first = (wide)bid * nt * scale, count = (wide)n * 3, hop = count / 5 + nt;
    for (wide i = first + t; i < count; i += hop) {
        acc += s[((unsigned)(i >> 5) * 3 + t * (bid + 1)) & 2047];
        acc += s[(unsigned)(i % 509) * (bid % 4 + 1)];
        trips += (unsigned)(i >> 32) & 1 ? 4 : 1;
    }
    trips_of[t] = trips;

    // The same 32 bits, compared as signed and as unsigned numbers.
    const unsigned low = bid * nt * 0x00300001u;
    for (unsigned i = low + t * 0x00400000u, k = 0; (int)i < (int)n && k < 4; i += 0x1c000000u, ++k)
        acc += s[(i >> 22) + (t * 2 * k & 1023)];
    for (unsigned i = low + t * 0x00400000u, k = 0; i < n && k < 3; i += 0x28000000u, ++k)
        acc += s[((i >> 20) & 1023) + (lane * (k + 1) & 1023)];
    const long long left = (long long)n - (long long)first, signed_left = (long long)(int)n - (long long)first;
    if (left > (long long)t) acc += s[(t * 12 + 1) & 2047];
    if (signed_left > (long long)t) acc += s[(t * 6) & 2047];

    // Lanes close to n: a float steps by 1, 2 or 256 there, and rounds to even.
    const wide near = (wide)n + t + bid * 3 - 40;
    if (near < n) acc += s[(t * 8) & 2047];
    if ((float)near < (float)n) acc += s[(t * 8 + 2) & 2047];
    if ((float)near <= (float)n) acc += s[(t * 24) & 2047];
    if ((double)near * 0.5 <= (double)(n - bid) * 0.5) acc += s[(t * 10) & 2047];
    if ((float)first > (float)n * 0.5f) acc += s[(unsigned)((float)first * 0.0001f) % 1024 + t * 2];

    // Quotients and remainders of 64-bit numbers by n.
    const wide quotient = (first + t) / (n | 1), rest = (first + t) % (n | 1);
    acc += s[((unsigned)quotient * 33 + (unsigned)(rest >> 3) + t) & 2047];
    const wide lo = (wide)bid * n / blocks, hi = (wide)(bid + 1) * n / blocks, chunk = (hi - lo) / 4 + 1;
    for (wide at = lo; at < hi; at += chunk) {
        const unsigned part = (unsigned)(hi - at < chunk ? hi - at : chunk);
        if (t < part % 67) acc += s[((unsigned)(at & 31) * t) & 2047];
    }

    // The parameter f decides trips and indices.
    const float reach = fminf(fmaxf(f, 0.25f), 6.0f);
    for (float v = 0.25f * (float)(bid % 5); v < reach; v += 0.375f) acc += s[((unsigned)(v * 24.0f) * lane) & 2047];
    const unsigned times = (unsigned)__float2int_rn(reach * (float)(blockIdx.x % 3));
    for (unsigned k = 0; k < times; ++k) acc += s[((unsigned)(reach * (float)t) + k * 31) & 2047];
    for (unsigned k = 0; (float)k * reach < (float)(t % 7); ++k)
        acc += s[((unsigned)ceilf((float)(t + k) * reach * 0.7f) * 2) & 2047];
    acc += s[(src[(t + bid * nt) & 65535] * times + t) & 2047];

    __syncthreads();
    const unsigned after = trips_of[(t + 7) % nt];
    acc += s[(after * t) & 2047];
    for (unsigned k = 0; k < after; k += 2) acc += trips_of[(t * (k + 3)) % nt];
    out[(bid * nt + t) & 65535] = acc;
}
