// launch 1 64 n=2026
// launch 2 7x9 n=4294967295
// launch 2 128 n=0
// launch 3 5x4x5 n=77777
// Generators for each thread (Philox, xorshift with its state in shared memory, a 64-bit congruence with jumps, PCG), a CRC by a
// table the kernel builds, FNV and murmur, Morton, Hilbert and Gray indices, a shuffled deck, fixed-point and integer lines.
__device__ __forceinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 0x01000193u + (a >> 7); }

__device__ __forceinline__ unsigned spread(unsigned v)
{
    v = (v | v << 8) & 0x00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}

__device__ __forceinline__ unsigned murmur(unsigned h)
{
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

extern "C" __global__ void k9890(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned crc_table[256];
    __shared__ unsigned cells[32 * 33];
    __shared__ unsigned state[5 * 128];
    __shared__ unsigned buckets[128];
    __shared__ unsigned char deck[128];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;
    const unsigned lane = t & 31;
    for (unsigned i = t; i < 256; i += all) {
        unsigned c = i;
        for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
        crc_table[i] = c;
    }
    for (unsigned i = t; i < 32 * 32; i += all) cells[spread(i & 31) | spread(i >> 5) << 1] = i * 3 + n;
    for (unsigned i = t; i < 32; i += all) cells[1024 + i] = i;
    for (unsigned i = t; i < 128; i += all) {
        buckets[i] = 0;
        deck[i] = static_cast<unsigned char>(i);
    }
    for (unsigned j = 0; j < 4; ++j) state[t * 5 + j] = murmur(n + t * 4 + j) | 1;
    __syncthreads();
    unsigned acc = 0;

    // a word's CRC through the table, then the word's bucket
    unsigned crc = ~n, word = t * 0x01020304u + blockIdx.x;
#pragma unroll 1
    for (int byte = 0; byte < 4; ++byte, word >>= 8) crc = crc >> 8 ^ crc_table[(crc ^ word) & 255];
    atomicAdd(&buckets[crc & 127], 1u + (crc >> 31));

    // one lane shuffles the deck, by a 64-bit congruence and a product's high half
    if (t == 0) {
        unsigned long long seed = n * 2862933555777941757ull + blockIdx.x;
#pragma unroll 1
        for (unsigned i = 127; i > 0; --i) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            const unsigned j = __umulhi(static_cast<unsigned>(seed >> 32), i + 1);
            const unsigned char card = deck[i];
            deck[i] = deck[j];
            deck[j] = card;
        }
    }
    __syncthreads();
    acc = mix(acc, cells[(deck[t] * 8 + buckets[deck[(t + 1) & 127]]) & 1023]);

    // Philox: ten rounds, four draws of one access
    unsigned c[4] = {t, blockIdx.x, n, 0}, k0 = 0xA4093822u, k1 = 0x299F31D0u;
#pragma unroll 1
    for (int round = 0; round < 10; ++round) {
        const unsigned h0 = __umulhi(0xD2511F53u, c[0]), l0 = 0xD2511F53u * c[0], h1 = __umulhi(0xCD9E8D57u, c[2]), l1 = 0xCD9E8D57u * c[2];
        c[0] = h1 ^ c[1] ^ k0;
        c[1] = l1;
        c[2] = h0 ^ c[3] ^ k1;
        c[3] = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    acc = mix(acc, cells[c[0] >> 22] + cells[__umulhi(c[1], 1000) + lane % 24]);
    if (c[2] & 1) acc = mix(acc, cells[(c[3] & 31) * 32]);

    // xorshift of 128 bits with its words in memory, at a stride of five
#pragma unroll 1
    for (unsigned trip = 0; trip < 3 + (lane & 1); ++trip) {
        unsigned* own = state + t * 5;
        unsigned x = own[3];
        const unsigned y = own[0];
        own[3] = own[2], own[2] = own[1], own[1] = y;
        x ^= x << 11, x ^= x >> 8;
        own[0] = x ^ y ^ y >> 19;
        acc = mix(acc, cells[(own[0] * 0x9E3779B1u) >> 22]);
    }

    // a congruence jumps t * 7 steps ahead by squaring, PCG permutes what it finds
    unsigned long long factor = 1, plus = 0, a = 6364136223846793005ull, b = 1442695040888963407ull;
#pragma unroll 1
    for (unsigned jump = t * 7 + (n & 7); jump != 0; jump >>= 1) {
        if (jump & 1) {
            factor *= a;
            plus = plus * a + b;
        }
        b *= a + 1;
        a *= a;
    }
    const unsigned long long pcg = factor * n + plus;
    const unsigned folded = static_cast<unsigned>((pcg >> 18 ^ pcg) >> 27), turn = static_cast<unsigned>(pcg >> 59);
    acc = mix(acc, cells[__funnelshift_r(folded, folded, turn) & 1023]);

    // Hilbert's curve of 32 by 32 from t, by Gray codes of its quadrants
    unsigned x = 0, y = 0, d = (t * 8 + n) & 1023;
#pragma unroll 1
    for (unsigned side = 1; side < 32; side <<= 1, d >>= 2) {
        const unsigned rx = d >> 1 & 1, ry = (d ^ rx) & 1;
        if (ry == 0) {
            if (rx) x = side - 1 - x, y = side - 1 - y;
            const unsigned swap = x;
            x = y;
            y = swap;
        }
        x += side * rx;
        y += side * ry;
    }
    acc = mix(acc, cells[y * 32 + x] + cells[spread(y) | spread(x) << 1]);
    const unsigned gray = t * 4 ^ t * 4 >> 1;
    unsigned plain = gray ^ n % 1024;
    for (unsigned shift = 1; shift < 16; shift <<= 1) plain ^= plain >> shift;
    acc = mix(acc, cells[gray & 1023] + cells[plain & 1023]);

    // a line in 16.16 fixed point with a falling slope, and one with an integer error term
    int at = static_cast<int>(lane << 16) + 0x8000, slope = (static_cast<int>(n % 9) - 4) * 0x6666 - static_cast<int>(t << 8);
    int error = static_cast<int>(lane) / 2, row = 0;
#pragma unroll 1
    for (int column = 0; column < 6 + static_cast<int>(t % 5); ++column, at += slope) {
        acc = mix(acc, cells[(at >> 16 & 31) * 33 + (column & 31)]);
        error -= static_cast<int>(n % 13);
        if (error < 0) {
            ++row;
            error += static_cast<int>(lane) + 13;
        }
        acc = mix(acc, cells[(row & 31) * 32 + column]);
    }
    unsigned fnv = 0x811C9DC5u;
    for (unsigned shift = 0; shift < 32; shift += 8) fnv = (fnv ^ (src[t & 1023] >> shift & 255)) * 0x01000193u;
    acc = mix(acc, cells[murmur(fnv) & 1023]);
    out[(blockIdx.x * all + t) & 65535] = acc + __float_as_uint(f);
}
