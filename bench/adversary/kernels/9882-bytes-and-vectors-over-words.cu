// launch 1 64 n=6
// launch 3 90 n=11
// launch 2 16x4x5 n=3
// launch 4 40 n=1
// Each thread's 32 bytes of out are written in all widths over each other, 16 bytes down to one, at offsets that turn with the trip, with
// copies onto themselves one byte ahead and signed parts read back; the words that come of it address shared memory of all widths.

struct Fields {
    unsigned kind : 3, place : 10, rest : 19;
};

// Back reference as in LZ: copies forward byte by byte, so that a short distance repeats what was just written.
__device__ void copy_back(unsigned char* to, unsigned distance, unsigned length) {
    #pragma unroll 1
    for (unsigned i = 0; i < length; i++) to[i] = to[(int)i - (int)distance];
}

extern "C" __global__ void k9882(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned words[1024];
    __shared__ unsigned short halves[2048];
    __shared__ unsigned char bytes[4096];
    __shared__ uint4 fours[128];
    __shared__ double doubles[256];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z, b = blockIdx.x;
    unsigned* const region = out + b * 8192;
    unsigned* const cell = region + t * 8;              // 32 bytes of this thread
    unsigned char* const byte = (unsigned char*)cell;
    unsigned short* const half = (unsigned short*)cell;
    unsigned acc = 0;

    for (unsigned i = t; i < 1024; i += nt) words[i] = i * 7;
    for (unsigned i = t; i < 2048; i += nt) halves[i] = i + 5;
    for (unsigned i = t; i < 4096; i += nt) bytes[i] = i * 3;
    for (unsigned i = t; i < 128; i += nt) fours[i] = make_uint4(i, i + 1, i + 2, i + 3);
    for (unsigned i = t; i < 256; i += nt) doubles[i] = i;
    ((uint4*)cell)[0] = make_uint4(t, t * 0x10001, 0x03020100u + t * 0x01010101u, n);
    ((uint4*)cell)[1] = make_uint4(b, ~t, t << 12, t * n);
    __syncthreads();

    #pragma unroll 1
    for (unsigned k = 0; k < n; k++) {
        half[(t + k) & 15] = t * 4 + k;                 // half of a word, the other half stays
        acc += words[(cell[((t + k) & 15) >> 1] >> (k & 7)) & 1023];
        byte[(t * 3 + k) & 31] = t;
        byte[(k * 5 + 2) & 31] -= 9;
        acc += halves[cell[k & 7] & 2047];
        if ((t ^ k) & 1) ((uint2*)cell)[(k >> 1) & 3] = make_uint2(cell[7 - (k & 7)] + 32, t << 3 | k);
        acc += bytes[half[(k * 3 + 1) & 15] & 4095];
        const signed char low = (signed char)byte[(k + 7) & 31];
        const short signed_half = (short)half[(k + (t & 1)) & 15];
        acc += words[512 + low * 2] + halves[1024 + signed_half / 64];          // also below the middle
        const unsigned long long eight = ((unsigned long long*)cell)[(k + 1) & 3];
        acc += (unsigned)doubles[(eight >> (24 + (k & 3))) & 255];              // across the middle of the two words

        copy_back(byte + 8 + (k & 7), 1 + (k + t) % 5, 3 + (k & 7));
        memcpy(byte + 1 + (k & 3), byte + 20, 5);       // neither end on a word
        acc += fours[(cell[2 + (k & 1)] >> 5) & 127].z;
        if (t % 3 == 0) memset(byte + 13, (int)(k + t), 1 + (k & 3));
        acc += bytes[cell[3] >> 20];

        // the word at an odd byte, put together from two
        const unsigned at = (t + k * 3) % 29;
        const unsigned over = __funnelshift_r(cell[at >> 2], cell[(at >> 2) + (at & 3 ? 1 : 0)], (at & 3) * 8);
        acc += words[(over ^ byte[at]) & 1023];         // the low bytes are equal
        acc += words[__byte_perm(cell[4], cell[5], 0x4523 + (k & 1)) & 1023];
    }
    __syncthreads();

    // two threads' cells in one vector: the odd thread writes the seam of both, the even one has read it before
    const unsigned mate = t ^ 1;
    const bool both = mate < nt;
    const unsigned seam = both ? region[(t | 1) * 8 - 1] : 0;
    acc += words[(seam >> 4) & 1023];
    __syncthreads();
    if (both && (t & 1)) {
        unsigned char* p = byte - 3;                    // three bytes of the mate's last word, four of the own first one
        #pragma unroll 1
        for (unsigned i = 0; i < 7; i++) p[i] = t * 2 + i;
    }
    __syncthreads();
    if (both) {
        const unsigned left = region[(t | 1) * 8 - 1], right = region[(t | 1) * 8];
        acc += bytes[(left >> 8) & 4095] + bytes[(left & 255) + (right & 0xf00)];
        acc += halves[__byte_perm(left, right, 0x0043 + (t & 1) * 0x10) & 2047];
    }

    // fields of bits and floats: the same word as a structure, as a number and as a pattern
    Fields* const fields = (Fields*)(region + 4096 + t * 4);
    fields[0] = Fields{t, t * 3 + n, n};
    fields[1] = Fields{n, nt - t, t};
    #pragma unroll 1
    for (unsigned k = 0; k < (n & 7) + 1; k++) {
        fields[k & 1].place += 31 - k;                  // wraps within ten bits
        fields[k & 1].kind = fields[~k & 1].place;      // loses all but three
        acc += words[fields[k & 1].place] + bytes[((unsigned*)fields)[k & 1] & 4095];
    }
    ((double*)fields)[1] = t * 3.0 + 1.0;
    acc += words[((unsigned*)fields)[3] >> 16 & 1023];
    ((float*)fields)[2] = (float)(t << (n & 3)) + 0.5f;
    acc += words[(((unsigned*)fields)[2] >> 13) & 1023] + (unsigned)doubles[(unsigned)((float*)fields)[2] & 255];

    // one byte of src in a word of known ones
    byte[5] = src[(b * 512 + t) & 65535];
    acc += words[cell[1] & 1023] + halves[cell[1] >> 16 & 2047];
    __syncthreads();
    region[6144 + t] = acc + (f > 3.0f ? 1 : 0);
}
