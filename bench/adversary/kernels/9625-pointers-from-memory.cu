// launch 1 64 n=1
// launch 1 28 n=3
// launch 2 32 n=6
// Pointers kept in local, shared and global memory, exchanged by shuffles, in structs, rows of pointers; chains of indices.
struct View { const unsigned* p; unsigned pitch; unsigned char* q; };
extern "C" __global__ void k9625(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ const unsigned* rows[32]; __shared__ View views[8];
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; const unsigned* own[8];
    if (t < 32) rows[t] = src + t * 33; if (t < 8) views[t] = View{src + t * n, 5 + t, (unsigned char*)out + 32768 + t * 100};
    for (unsigned i = 0; i < 8; i++) own[i] = src + (i ^ (t & 3)) * 64 + n;
    const unsigned** table = (const unsigned**)out; table[g] = src + g * 7;
    __syncthreads();
    acc += rows[t & 7][t] + rows[n][t * 2] + own[t & 7][t] + own[n & 7][t] + table[g][1] + table[g ^ 1][0];
    for (unsigned r = 0; r < 4; r++) acc += rows[r * 3][t & 31];
    View v = views[t & 7]; acc += v.p[v.pitch * (t >> 3)]; v.q[t] = (unsigned char)acc; acc += views[n & 7].p[views[n & 7].pitch * t];
    const unsigned* other = (const unsigned*)__shfl_xor_sync(__activemask(), (unsigned long long)(src + t * 5), 1); acc += *other;
    unsigned i = t; for (unsigned k = 0; k < 4; k++) i = src[i & 4095]; acc += src[i + t];
    i = n; for (unsigned k = 0; k < 3; k++) i = src[i]; acc += src[i + t * 2];
    out[12288 + g] = acc;
}
