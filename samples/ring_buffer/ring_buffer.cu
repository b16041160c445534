// Buffers that turn: a ring of three rows for a vertical filter, and pointers swapped in a loop.

// Each thread owns a column; the ring keeps the last three rows, index modulo 3.
extern "C" __global__ void vertical_blur(const float* in, float* out, int width, int height) {
    __shared__ float ring[3][130];
    int tid = threadIdx.x;   // 128 threads, columns 1-128 of 130
    int x = blockIdx.x * 128 + tid;
    auto fetch = [&](int y) {
        ring[y % 3][tid + 1] = in[y * width + x];                              // site: ring-store
        if (tid == 0) ring[y % 3][0] = x > 0 ? in[y * width + x - 1] : 0;      // site: ring-left
        if (tid == 127) ring[y % 3][129] = x + 1 < width ? in[y * width + x + 1] : 0;   // site: ring-right
    };
    fetch(0);
    fetch(1);
    for (int y = 1; y < height - 1; ++y) {
        fetch(y + 1);
        __syncthreads();
        float sum = 0;
        for (int d = -1; d <= 1; ++d)
            sum += ring[(y + d) % 3][tid] + ring[(y + d) % 3][tid + 1] + ring[(y + d) % 3][tid + 2];   // site: ring-load
        out[y * width + x] = sum / 9;
        __syncthreads();
    }
}

// Jacobi's iteration in one dimension with a stride: the buffers' pointers change places every step.
extern "C" __global__ void swap_buffers(float* data, int steps, int stride) {
    __shared__ float first[1024 + 64];
    __shared__ float second[1024 + 64];
    int tid = threadIdx.x;   // 256 threads
    float* from = first;
    float* to = second;
    from[tid * stride] = data[blockIdx.x * 256 + tid];                         // site: swap-fill
    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        int left = tid == 0 ? 255 : tid - 1;
        int right = tid == 255 ? 0 : tid + 1;
        to[tid * stride] = 0.5f * (from[left * stride] + from[right * stride]);   // site: swap-step
        float* other = from;
        from = to;
        to = other;
        __syncthreads();
    }
    data[blockIdx.x * 256 + tid] = from[tid * stride];                         // site: swap-back
}
