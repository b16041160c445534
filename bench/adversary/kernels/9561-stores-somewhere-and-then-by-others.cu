// launch 1 64 n=1
// launch 1 96 n=2
// launch 1 64 n=3
// A warp reads words, then stores through a pointer that data decide; before the next barrier another warp changes what it has read.
extern "C" __global__ void k9561(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[128], turn[32]; __shared__ unsigned* where[2];
    box[t] = 1; if (t < 32) { box[96 + t] = 3; turn[t] = 1; }
    if (t == 0) { where[0] = s; where[1] = box; }
    __syncthreads();
    if (w == 1) { box[l] = (l * 2) & 31; turn[l] = l; asm volatile("bar.arrive 4, 64;" ::: "memory"); acc += s[(l * 3) & 1023]; }
    else if (w == 0) {
        asm volatile("bar.sync 4, 64;" ::: "memory");
        unsigned a = box[l], b = turn[l ^ 1];
        acc += s[(a * 16) & 1023];
        where[src[n] & 1][(src[l] & 7) + 64] = a;
        acc += s[(b * 32) & 1023];
        if (b & 1) s[(l * 4) & 1023] = b;
    }
    __syncthreads();
    acc += s[(l * (box[96] & 7)) & 1023];
    if (l & 1) { acc += s[(turn[l] * 8) & 1023]; }
    __syncwarp();
    turn[l] = 2;
    __syncthreads();
    acc += s[(turn[5] * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
