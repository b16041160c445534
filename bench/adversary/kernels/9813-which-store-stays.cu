// launch 1 32 n=3
// launch 1 64 n=7
// Lanes of one instruction store different values to one place: words, bytes of a word, overlapping vectors, matrix rows.
extern "C" __global__ void k9813(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ __align__(16) unsigned box[128];
    box[t] = 0; box[t + 64] = 0; __syncthreads();
    *(volatile unsigned*)&box[w] = l; __syncwarp();
    acc += s[(box[w] * l) & 1023];
    if (l % n == 1) box[4 + w] = l * 2; __syncwarp();
    acc += s[(box[4 + w] * l) & 1023];
    ((unsigned char*)box)[32 + w * 4 + (l & 3)] = l; __syncwarp();
    acc += s[(box[8 + w] & 31) * 32];
    *(uint2*)&box[16 + w * 8 + (l & 2)] = make_uint2(l, n); __syncwarp();
    acc += s[(box[16 + w * 8] * l) & 1023] + s[(box[17 + w * 8] * l) & 1023] + s[(box[19 + w * 8] * l) & 1023];
    box[64 + w * 8 + (l & 7)] = l & 7; __syncwarp();
    acc += s[(box[64 + w * 8 + (l & 7)] * 16) & 1023];
    unsigned row = (unsigned)__cvta_generic_to_shared(box) + 384 + w * 64;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(row + (l & 3) * 16), "r"(l * 0x10001) : "memory"); __syncwarp();
    acc += s[(box[96 + w * 16 + (l & 15)] & 31) * 32];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
