// launch 1 32 n=6
// launch 1 64 n=10
// launch 2 43 n=8
// Huffman decoding: lanes start at bits of a stream, a table of three bits and another for longer codes; an encoder with bit offsets before it.
extern "C" __global__ void k9154(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned stream[128], total, s[1024];
    __shared__ unsigned short first[8], second[8];  // symbol << 8 | length
    __shared__ unsigned char decoded[64 * 12];
    unsigned t = threadIdx.x, l = t & 31, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 128; k += size) stream[k] = 0;
    for (unsigned k = t; k < 768; k += size) decoded[k] = (unsigned char)k;
    if (t < 8) {
        first[t] = t < 4 ? 0x0001 : t < 6 ? 0x0102 : t == 6 ? 0x0203 : 0xff03;
        second[t] = t < 4 ? 0x0304 : t < 6 ? 0x0405 : t == 6 ? 0x0506 : 0x0606;
    }
    __syncthreads();
    if (t == 0) {  // the encoder: most significant bits first
        unsigned at = 0;
        for (unsigned k = 0; at < 700; k++) {
            unsigned symbol = min(6, __clz((src[k * 11 & 2047] * 2654435761u) | 1) & 7), length = symbol < 6 ? symbol + 1 : 6;
            unsigned code = symbol < 6 ? (1u << length) - 2 : 63;
            unsigned left = 32 - (at & 31);
            if (length <= left) stream[at >> 5] |= code << (left - length);
            else { stream[at >> 5] |= code >> (length - left); stream[(at >> 5) + 1] |= code << (32 - length + left); }
            at += length;
        }
        total = at;
    }
    __syncthreads();
    unsigned bit = t * (total / size), count = 0;
    while (count < n && bit + 6 <= total) {
        unsigned window = __funnelshift_l(stream[(bit >> 5) + 1], stream[bit >> 5], bit & 31);
        unsigned entry = first[window >> 29];
        if (entry >> 8 == 0xff) entry = second[window >> 26 & 7];
        decoded[t * 12 + count] = (unsigned char)(entry >> 8);
        if (entry >> 8 > 2) s[((entry >> 8) * 32 + l + bit) & 1023] = bit;
        bit += entry & 255;
        count++;
    }
    acc += s[(bit * 2) & 1023] + s[(count * t) & 1023];
    __syncthreads();
    unsigned a = decoded[t * 12] * 49u + decoded[t * 12 + 1] * 7u + decoded[(t * 12 + 40) % (size * 12)];
    acc += s[(a * 3) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
