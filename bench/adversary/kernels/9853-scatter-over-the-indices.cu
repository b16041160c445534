// launch 1 256 n=5
// launch 2 96 n=300
// launch 4 33 n=77
// launch 3 5x7x3 n=1023
// the lower half of each block's quarter is read as indices and scatters into the upper half, which is then read;
// then each thread overwrites its own index, reads it by another formula, and its neighbour's: the last thread
// finds the old one
extern "C" __global__ void k9853(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, base = blockIdx.x * 1024, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 3 + 1;
    __syncthreads();
    unsigned a = out[base + (t * 5 & 511)];                       // untouched so far
    acc += s[(a * 4) & 1023];
    out[base + 512 + ((a * 9 + n) & 511)] = a ^ 37;               // one-to-one
    __threadfence_block();
    __syncthreads();
    unsigned v = out[base + 512 + ((t * 3) & 511)];               // some scattered to, some not
    acc += s[(v * 2) & 1023];
    unsigned w = out[base + 1023 - ((t * 7 + 1) & 511)];
    acc += s[(w ^ (w >> 3)) & 1023];
    unsigned lo = out[base + ((t * 5 + 2560 - 5) & 511)];         // the lower half is still whole here
    acc += s[(lo * 8 + 3) & 1023];
    __syncthreads();
    out[base + (t * 5 & 511)] = v * 4 + t;
    unsigned m = *(volatile unsigned*)(out + base + ((t * 5 + (n << 9)) & 511));    // the very same word
    acc += s[m & 1023];
    __threadfence_block();
    __syncthreads();
    unsigned q = out[base + ((t + 1) * 5 & 511)];                 // the last thread finds the old one
    acc += s[(q * 2 + 1) & 1023];
    unsigned z = out[base + ((nt + 1 + t) * 5 & 511)];            // 256 threads: the last one wraps to word 0
    acc += s[(z * 16 + (z >> 5)) & 1023];
    acc += s[(src[(z * 3 + n) & 4095] * 2) & 1023];               // src is never written here
    __syncthreads();
    out[base + t] = acc;
}
