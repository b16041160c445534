// launch 1 64 n=5
// launch 2 96 n=300
// launch 4 33 n=77
// launch 2 5x7x3 n=20
// atomics that change the words read as indices, and atomics that leave them: a compare that fails, a min that is
// larger, an or with nothing, 64 bits over two words of which one keeps its value; the old value that comes back
// is the initial one
extern "C" __global__ void k9857(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, base = blockIdx.x * 1024, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 7 + 2;
    __syncthreads();
    unsigned* w = (unsigned*)src;
    volatile unsigned* g = out;
    volatile unsigned* h = w;
    unsigned c0 = base + t, c1 = c0 + 256, c2 = c0 + 512, c3 = c0 + 768;
    atomicAdd(out + base + (t & 15), 3);                          // every warp on the same sixteen words
    atomicOr(out + base + 16 + (t & 7), 0);
    unsigned old = atomicCAS(out + c1, c1 & ~1u, 77 + t * 4);     // succeeds in even words only
    acc += s[(old * 2) & 1023];                                   // the initial one in all lanes
    acc += s[g[c1] & 1023];
    atomicMin(out + c2, base + 600 + (t & 7));                    // some are smaller already
    acc += s[(g[c2] * 4) & 1023];
    atomicMax(out + c3, base + l);                                // never larger
    acc += s[(g[c3] * 2 + 1) & 1023];
    unsigned inc = atomicInc(w + c0, n);                          // wraps to nought above n
    acc += s[(inc + t) & 1023] + s[(h[c0] * 8 + l) & 1023];
    atomicCAS(w + base + 1020, ((base + 1020) * 7 ^ (base + 1020) >> 3) % 1024, 24);   // one wins, all win alike
    if (l & 4) atomicExch(w + c1, t * 3);
    acc += s[(h[c1] * 2) & 1023];
    atomicXor(w + c2, 32u << (l & 3));
    atomicXor(w + c2, 32u << ((l + n * 4) & 3));                  // and back again
    acc += s[h[c2] & 1023];
    __threadfence_block();
    __syncthreads();
    acc += s[(g[base + (t & 31)] * 2) & 1023];                    // 0 to 15 added to, 16 to 31 as they were
    acc += s[(h[base + 1016 + (t & 7)] + t) & 1023];
    if (!(t & 1) && t + 1 < nt) {
        unsigned long long v = ((unsigned long long)(c3 + 1) << 32) | (t * 6);         // the upper word keeps its value
        unsigned long long was = atomicExch((unsigned long long*)(out + c3), v);
        acc += s[(unsigned)(was >> 32) * 2 & 1023];
    }
    __threadfence_block();
    __syncthreads();
    acc += s[g[c3] & 1023];
    __syncthreads();
    out[c3] = acc;
}
