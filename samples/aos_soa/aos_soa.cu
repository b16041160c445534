// The same records as an array of structs and as a struct of arrays, read whole or one member.

constexpr int kRecords = 256;

struct Two {
    float a, b;
};

struct Three {
    float a, b, c;
};

struct Four {
    float a, b, c, d;
};

struct FourPadded {
    float a, b, c, d, unused;
};

template <typename Record>
__device__ void fill(Record* s, const float* in) {
    float* words = reinterpret_cast<float*>(s);
    for (unsigned i = threadIdx.x; i < kRecords * sizeof(Record) / sizeof(float); i += kRecords)
        words[i] = in[i];                            // site: fill
    __syncthreads();
}

// Array of structs, one member a thread: as many ways as the even part of the struct's words.
extern "C" __global__ void aos_two_single(const float* in, float* out) {
    __shared__ Two s[kRecords];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x].a;             // site: two-single
}

extern "C" __global__ void aos_three_single(const float* in, float* out) {
    __shared__ Three s[kRecords];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x].b;             // site: three-single
}

extern "C" __global__ void aos_four_single(const float* in, float* out) {
    __shared__ Four s[kRecords];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x].c;             // site: four-single
}

extern "C" __global__ void aos_four_padded_single(const float* in, float* out) {
    __shared__ FourPadded s[kRecords];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x].c;             // site: four-padded-single
}

// All members.
extern "C" __global__ void aos_two(const float* in, float* out) {
    __shared__ Two s[kRecords];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x].a * s[threadIdx.x].b;                           // site: two-both
}

extern "C" __global__ void aos_three(const float* in, float* out) {
    __shared__ Three s[kRecords];
    fill(s, in);
    out[threadIdx.x] = s[threadIdx.x].a * s[threadIdx.x].b + s[threadIdx.x].c;        // site: three-all
}

extern "C" __global__ void soa_two(const float* in, float* out) {
    __shared__ float a[kRecords], b[kRecords];
    a[threadIdx.x] = in[threadIdx.x];                                                 // site: soa-fill
    b[threadIdx.x] = in[threadIdx.x + kRecords];                                      // site: soa-fill
    __syncthreads();
    out[threadIdx.x] = a[kRecords - 1 - threadIdx.x] * b[kRecords - 1 - threadIdx.x]; // site: soa-both
}
