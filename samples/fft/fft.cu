// A 512-point complex FFT by 64 threads, radix 8: two exchanges through shared memory,
// real and imaginary parts one after the other through the same array.

constexpr int kPoints = 512;
constexpr int kThreads = 64;

__device__ float2 add(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ float2 sub(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ float2 mul(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

__device__ void fft2(float2& a, float2& b) {
    float2 t = a;
    a = add(t, b);
    b = sub(t, b);
}

__device__ void fft4(float2& a, float2& b, float2& c, float2& d) {
    fft2(a, c);
    fft2(b, d);
    d = {d.y, -d.x};
    fft2(a, b);
    fft2(c, d);
}

// In place, the results in bit-reversed order.
__device__ void fft8(float2 (&v)[8]) {
    constexpr float h = 0.70710678f;
    fft2(v[0], v[4]);
    fft2(v[1], v[5]);
    fft2(v[2], v[6]);
    fft2(v[3], v[7]);
    v[5] = {h * (v[5].x + v[5].y), h * (v[5].y - v[5].x)};
    v[6] = {v[6].y, -v[6].x};
    v[7] = {h * (v[7].y - v[7].x), -h * (v[7].x + v[7].y)};
    fft4(v[0], v[1], v[2], v[3]);
    fft4(v[4], v[5], v[6], v[7]);
}

__device__ constexpr int reversed(int i) { return (i & 1) << 2 | (i & 2) | i >> 2; }

__device__ void twiddle(float2 (&v)[8], int i, int n) {
#pragma unroll
    for (int j = 1; j < 8; ++j) {
        float angle = -6.2831853f * reversed(j) * i / n;
        v[j] = mul(v[j], {__cosf(angle), __sinf(angle)});
    }
}

template <int Part>
__device__ float& part(float2& v) {
    if constexpr (Part == 0) return v.x;
    else return v.y;
}

// Element j of the thread goes to to + reversed(j) * to_step, comes back from from + j * from_step.
template <int Part>
__device__ void exchange_part(float2 (&v)[8], float* s, int to, int to_step, int from, int from_step) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) s[to + reversed(j) * to_step] = part<Part>(v[j]);     // site: put
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) part<Part>(v[j]) = s[from + j * from_step];           // site: get
}

__device__ void exchange(float2 (&v)[8], float* s, int to, int to_step, int from, int from_step) {
    exchange_part<0>(v, s, to, to_step, from, from_step);
    exchange_part<1>(v, s, to, to_step, from, from_step);
}

// Pitch: words between the eight rows of the first exchange; 64 and 65 + padding are the choices.
template <int RowPitch, int InnerPitch>
__device__ void fft512(float2* data) {
    __shared__ float s[8 * RowPitch];
    int tid = threadIdx.x;
    int high = tid / 8;
    int low = tid % 8;
    data += blockIdx.x * kPoints;
    float2 v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = data[tid + j * kThreads];
    fft8(v);
    twiddle(v, tid, 512);
    exchange(v, s, tid, RowPitch, high * RowPitch + low, 8);                          // site: first-exchange
    fft8(v);
    twiddle(v, low, 64);
    exchange(v, s, high * RowPitch + low, InnerPitch, high * RowPitch + low * InnerPitch, 1);   // site: second-exchange
    fft8(v);
#pragma unroll
    for (int j = 0; j < 8; ++j) data[high + low * 8 + reversed(j) * kThreads] = v[j];
}

extern "C" __global__ void __launch_bounds__(kThreads) fft_512(float2* data) { fft512<64, 8>(data); }
extern "C" __global__ void __launch_bounds__(kThreads) fft_512_padded(float2* data) { fft512<72, 9>(data); }
