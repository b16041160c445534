// launch 1 64 n=3
// launch 2x3 48x2 n=4
// launch 5 200 n=7
// launch 3 16x5x3 n=1
// Cells in two halves of the block's region of out: a step reads one half and writes the other over what stood there two
// steps ago, then each thread sweeps its own strip in place, a cell read before and after it is overwritten; cells address shared memory.

struct Halves {
    unsigned* region;
    unsigned cells;
    __device__ unsigned* half(unsigned r) const { return region + (r & 1) * 1024; }
};

// A thread's strip of four cells, forward; cell j takes up what its left neighbour has just become.
__device__ __forceinline__ unsigned sweep(unsigned* own, unsigned r, const unsigned* table, const uint2* wide) {
    unsigned acc = 0, carry = own[3] & 255;
    #pragma unroll 1
    for (unsigned j = 0; j < 4; j++) {
        unsigned old = own[j];
        acc += table[(old * 4 + carry) & 1023];
        own[j] = (old + carry * 2 + r) & 4095;
        carry = own[(j + r) & 3];                       // the new cell when r is a multiple of four, else old or new
        acc += wide[(carry + j) & 255].x;
    }
    return acc;
}

extern "C" __launch_bounds__(256, 8) __global__ void k9879(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned table[1024];
    __shared__ unsigned short narrow[2048];
    __shared__ uint2 wide[256];
    __shared__ unsigned char turned[1024];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    Halves h = {out + b * 4096, nt * 4};
    unsigned* const turn = h.region + 2048;             // a permutation of 0..1023, turned in place
    unsigned acc = 0;

    for (unsigned i = t; i < 1024; i += nt) {
        table[i] = i * 11 + 3;
        turned[i] = i;
        turn[i] = (i * 5 + b) & 1023;
        h.region[i] = (i * 3 + b) & 4095;
        h.region[1024 + i] = (i >> 2) + n;
    }
    for (unsigned i = t; i < 2048; i += nt) narrow[i] = i ^ 85;
    for (unsigned i = t; i < 256; i += nt) wide[i] = make_uint2(i * 9, i + n);
    __syncthreads();

    #pragma unroll 1
    for (unsigned r = 0; r < n; r++) {
        const unsigned* from = h.half(r);
        unsigned* to = h.half(r + 1);
        for (unsigned i = t; i < h.cells; i += nt) {
            const unsigned before = to[i];              // two steps old, or the start
            const unsigned left = from[(i + h.cells - 1) % h.cells], right = from[(i + 1 + r) % h.cells];
            acc += table[(before + r * 32) & 1023];
            to[i] = (left + 2 * from[i] + right + before) & 4095;
            const unsigned after = h.region[(i + 1024 + r * 1024) & 2047];      // the same cell by another way
            acc += narrow[(after * 2 + (before & 1)) & 2047];
            if ((after ^ before) & 4) acc += wide[(after >> 2) & 255].y;
        }
        __syncthreads();
        acc += sweep(to + 4 * t, r, table, wide);
        __syncthreads();
        acc += table[(to[(4 * t + 4 + r) % h.cells] * 8) & 1023];               // the next thread's strip, swept

        // the permutation: squared once in two steps, else each element moved along by an odd factor, always in place
        unsigned kept[16];
        #pragma unroll
        for (unsigned k = 0; k < 16; k++) {
            const unsigned i = t + k * nt;
            kept[k] = i < 1024 ? ((r & 1) ? turn[turn[i]] : turn[i] * 3 + r) & 1023 : 0;
        }
        __syncthreads();
        #pragma unroll
        for (unsigned k = 0; k < 16; k++) {
            const unsigned i = t + k * nt;
            if (i < 1024) turn[i] = kept[k];
        }
        __syncthreads();
        for (unsigned i = t; i < 1024; i += nt) turned[turn[1023 - i]] = i + r;  // each byte once
        __syncthreads();
        for (unsigned i = t; i < nt * 2; i += nt) {
            const unsigned v = turned[(turn[i & 1023] + i) & 1023];
            acc += table[v * 4 + (r & 3)];
        }
        __syncthreads();
    }

    // words of src laid over a third of the cells of either half, by their own threads
    for (unsigned i = t; i < h.cells; i += nt) {
        const unsigned was = h.half(i)[i];
        if (i % 3 == 0) h.half(i)[i] = src[(was * 7 + i) & 65535];
        const unsigned now = h.half(i)[i];
        acc += table[(was + 1) & 1023] + narrow[now & 2047];
    }
    __syncthreads();
    acc += wide[h.half(t)[(t * 3) % h.cells] & 255].x + (f > 2.0f ? 1 : 0);
    h.region[3072 + t] = acc;
}
