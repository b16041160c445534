// Interleaved colours to planes: words in, three bytes a pixel out of shared memory, and complex numbers apart.

// 256 pixels of 3 bytes are 192 words.
extern "C" __global__ void __launch_bounds__(256) rgb_planes(const unsigned* in, unsigned char* red, unsigned char* green, unsigned char* blue) {
    __shared__ unsigned words[192];
    int tid = threadIdx.x;
    if (tid < 192) words[tid] = in[blockIdx.x * 192 + tid];            // site: words-store
    __syncthreads();
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(words);
    int i = blockIdx.x * 256 + tid;
    red[i] = bytes[3 * tid];                                           // site: colours
    green[i] = bytes[3 * tid + 1];                                     // site: colours
    blue[i] = bytes[3 * tid + 2];                                      // site: colours
}

// Four complex numbers a thread: 16-byte loads in, real and imaginary parts out, and back in the other order.
extern "C" __global__ void __launch_bounds__(128) complex_planes(const float4* in, float4* real, float4* imaginary) {
    __shared__ float2 numbers[512];
    int tid = threadIdx.x;
    reinterpret_cast<float4*>(numbers)[tid] = in[blockIdx.x * 256 + tid];              // site: pairs-store
    reinterpret_cast<float4*>(numbers)[tid + 128] = in[blockIdx.x * 256 + tid + 128];  // site: pairs-store
    __syncthreads();
    float2 a = numbers[4 * tid];                                       // site: four-numbers
    float2 b = numbers[4 * tid + 1];                                   // site: four-numbers
    float2 c = numbers[4 * tid + 2];                                   // site: four-numbers
    float2 d = numbers[4 * tid + 3];                                   // site: four-numbers
    real[blockIdx.x * 128 + tid] = {a.x, b.x, c.x, d.x};
    imaginary[blockIdx.x * 128 + tid] = {a.y, b.y, c.y, d.y};
}
