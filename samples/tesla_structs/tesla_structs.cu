// One member of an array of structs, on a machine with 16 banks that serves half-warps:
// an odd number of words a struct is free, an even number is not.

struct Three {
    float x, y, z;
};

struct Two {
    float x, y;
};

extern "C" __global__ void three_words(const Three* in, float* out) {
    __shared__ Three s[32];
    unsigned tid = threadIdx.x;
    s[31 - tid] = in[tid];                // site: fill-three
    __syncthreads();
    out[tid] = s[tid].x;                  // site: one-of-three
}

extern "C" __global__ void two_words(const Two* in, float* out) {
    __shared__ Two s[32];
    unsigned tid = threadIdx.x;
    s[31 - tid] = in[tid];                // site: fill-two
    __syncthreads();
    out[tid] = s[tid].x;                  // site: one-of-two
}

extern "C" __global__ void both_words(const Two* in, float* out) {
    __shared__ Two s[32];
    unsigned tid = threadIdx.x;
    s[31 - tid] = in[tid];                // site: fill-both
    __syncthreads();
    out[tid] = s[tid].x * s[tid].y;       // site: both-members
}
