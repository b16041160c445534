// launch 1 32 n=4096
// launch 1 16 n=1000
// launch 2 13 n=2052
// Strides of a page and near it, of lines less a word, of powers of two plus one; products that pass 32 bits.
extern "C" __global__ void k9641(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x & 15, g = (blockIdx.x * blockDim.x + threadIdx.x) & 15, acc = 0; const char* p = (const char*)src; char* o = (char*)out;
    acc += *(const unsigned*)(p + t * 4096) + *(const unsigned*)(p + g * 4092) + *(const unsigned*)(p + t * 2052) + *(const unsigned*)(p + t * (n & ~3u) % 65532 / 4 * 4) + p[t * 4095] + p[g * 2049 + 3];
    acc += ((const uint2*)(p + t * 1016))->x + ((const uint4*)(p + g * 1040))->y + *(const unsigned short*)(p + t * 4094) + ((const uint4*)(p + t * 4080))->w;
    acc += *(const unsigned*)(p + ((unsigned long long)t * 0x100000004ull & 0xffff)) + *(const unsigned*)(p + (t * 0x01010104u >> 12 & 0xfffc));
    *(unsigned*)(o + t * 4100 % 65536) = acc; *(uint4*)(o + g * 4048) = make_uint4(acc, t, g, n); o[t * 4095 + 1] = 5; *(unsigned long long*)(o + t * 2040) = acc;
    atomicAdd((unsigned*)(o + t * 4004), 1); acc += atomicMax((unsigned*)(o + g * 3996), t); *(unsigned*)(o + 61440 + threadIdx.x * 4) = acc;
}
