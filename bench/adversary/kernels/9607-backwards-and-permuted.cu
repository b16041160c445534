// launch 1 64 n=255
// launch 1 44 n=100
// launch 2 64 n=129
// Descending lanes, bit reversal, exclusive or, odd multiples, Gray codes, rotations of the lane; all widths.
extern "C" __global__ void k9607(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0, lane = t & 31, base = g - lane;
    acc += src[n - t] + src[base + (__brev(lane) >> 27)] + src[g ^ 17] + src[base + (lane * 5 & 31)] + src[base + (lane ^ lane >> 1)];
    acc += src[base + (lane + 13 & 31)] + src[base + (31 - lane) * 3] + src[(n ^ t) & 1023] + src[base + ((lane << 1 | lane >> 4) & 31)];
    acc += ((const uint2*)src)[base + (31 - lane)].x + ((const uint4*)src)[base + (lane ^ 6)].y + ((const unsigned char*)src)[n - t] + ((const unsigned short*)src)[base + (lane * 11 & 31)];
    out[base + 31 - lane] = acc;
    ((uint4*)out)[256 + (base ^ (lane * 9 & 31))] = make_uint4(acc, t, n, g);
    ((unsigned char*)out)[12000 + (base | (__brev(lane) >> 27))] = (unsigned char)acc;
    ((unsigned long long*)out)[3000 + 127 - g] = acc;
}
