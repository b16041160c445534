// launch 5 7x5x3 n=19 shared=5003
// launch 3 64 n=32 shared=12288
// launch 2x2x3 33x3 n=26 shared=6001
// launch 6 1x40 n=48 shared=9422
// Six arrays of 8 to 128 bits carved from one extern array with rounding: pitches come from n, the first array's length from
// the block, the last one's (and some trips) from %dynamic_smem_size, which is no multiple of anything.
__device__ __forceinline__ unsigned dynamic_bytes() { unsigned r; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned round_up(unsigned at, unsigned to) { return (at + to - 1) & ~(to - 1); }

extern "C" __global__ void k9905(unsigned* out, const unsigned* src, unsigned n, float f)
{
    extern __shared__ __align__(16) unsigned char pool[];
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned bid = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned m = n < 1 ? 1 : n > 48 ? 48 : n;

    // Pitches in elements: a column of words, of pairs and of quads.
    const unsigned lda = m + (m % 32 == 0), ldp = (m + 1) / 2;
    unsigned ldq = (m + 3) / 4;
    if (ldq % 8 == 0) ++ldq;

    unsigned at = 0;
    unsigned char* flags = pool;
    at = round_up(at + nt + bid % 5, 2);
    unsigned short* halves = (unsigned short*)(pool + at);
    at = round_up(at + m * 8 * 2, 4);
    unsigned* words = (unsigned*)(pool + at);
    at = round_up(at + 12 * lda * 4, 8);
    uint2* pairs = (uint2*)(pool + at);
    at = round_up(at + 10 * ldp * 8, 16);
    uint4* quads = (uint4*)(pool + at);
    at = at + 9 * ldq * 16;
    unsigned* rest = (unsigned*)(pool + at);
    const unsigned bytes = dynamic_bytes();
    const unsigned length = bytes > at + 8 ? (bytes - at) / 4 : 1;

    for (unsigned i = t; i < nt; i += nt) flags[i] = (unsigned char)(i * 7 + bid);
    for (unsigned i = t; i < m * 8; i += nt) halves[i] = (unsigned short)(i * 3);
    for (unsigned i = t; i < 12 * m; i += nt) words[i % 12 * lda + i / 12] = i * (bid + 1);
    for (unsigned i = t; i < 10 * ldp; i += nt) pairs[i % 10 * ldp + i / 10] = make_uint2(i * 2, ~i);
    for (unsigned i = t; i < 9 * ldq; i += nt) quads[i % 9 * ldq + i / 9] = make_uint4(i, i * 5, src[i & 65535], bid);
    if (bytes > at + 8)
        for (unsigned i = t; i < length; i += nt) rest[length - 1 - i] = i * 4 + bid;
    __syncthreads();

    unsigned acc = 0;
    // Down the columns, then along the rows, each array at its own pitch.
    for (unsigned k = 0; k < m; k += 5 + bid % 3) {
        acc += words[t % 12 * lda + (t / 12 + k) % m];
        const uint2 p = pairs[t % 10 * ldp + (k + bid) % ldp];
        acc += p.x ^ p.y;
        if (t % m >= k) {
            const uint4 q = quads[t % 9 * ldq + (k + t / 9) % ldq];
            acc += q.x + q.z * q.w;
            acc ^= halves[q.y % (m * 8)];
        }
    }
    acc += words[t / m % 12 * lda + t % m];

    // The size of dynamic shared memory decides the trips, the length and so every remainder.
    if (bytes > at + 8) {
        for (unsigned k = 0; k < bytes / 2500; ++k) {
            const unsigned v = rest[(t * (n + k) + bid) % length];
            acc += v + flags[(v + t) % nt];
            acc += words[v % 12 * lda + k % m];
        }
        acc += rest[length - 1 - t % length] + rest[src[(bid * nt + t) & 65535] % length];
    }
    acc += flags[t * 5 % nt] + flags[(nt - 1 - t) & ~3u];
    acc += halves[t * (m | 1) % (m * 8)];

    // Pairs seen as words of quads' neighbours: the alignment of each array decides the bank it starts in.
    const unsigned* view = (const unsigned*)pairs;
    acc += view[t * 2 % (20 * ldp)] + ((const unsigned*)quads)[(t * ldq * 4 + bid) % (36 * ldq)];
    __syncthreads();

    if (t < m * 2) pairs[t % 10 * ldp + t / 10 % ldp].x = acc;
    __syncthreads();
    const uint2 p = pairs[(t * (bid + 1)) % (10 * ldp)];
    acc += p.x * 3 + p.y;
    out[(bid * nt + t) & 65535] = acc;
}
