// launch 1 32 n=4
// launch 1 45 n=9
// launch 1 64 n=0
// memset and memcpy in shared memory, of structs, of constant and of runtime lengths that differ by lane; overlaps by order.
struct Line { unsigned w[5]; unsigned char b[12]; };
extern "C" __global__ void k9304(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(8) Line l[64];
    __shared__ __align__(16) unsigned char m[64 * 20];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    for (unsigned k = t; k < sizeof m; k += blockDim.x) m[k] = (unsigned char)k;
    memset(&l[t], 0x11, sizeof(Line));
    __syncthreads();
    unsigned length = (t * 3 + n) % 13;
    memset(l[t].b, (int)t, length);
    acc += s[(l[t].b[5] * 8 + l[t].b[11]) & 1023];
    memcpy(m + t * 20 + (t & 3), l[t].b, 8);
    __syncthreads();
    unsigned word; memcpy(&word, m + ((t + 1) % blockDim.x) * 20 + 4, 4);
    acc += s[(word >> 6) & 1023];
    memcpy(&l[t].w[1], src + (t & 255), 16);
    acc += s[(l[t].w[2] * 4 + l[t].w[4]) & 1023];
    Line held = l[t];
    for (unsigned i = 0; i < length; i++) held.b[i] = (unsigned char)(held.b[i] + i * t);
    __syncthreads();
    l[(t + 1) % blockDim.x] = held;
    __syncthreads();
    if (l[t].b[3] & 1) acc += s[(l[t].b[3] + l[t].w[0] % 61 * 16) & 1023];
    for (int i = (int)(t & 7); i >= 0; i--) m[t * 20 + 2 + i] = m[t * 20 + i];
    memcpy(&word, m + t * 20, 4);
    s[(word ^ word >> 13) & 1023] = acc;
    if (n) memset(l + t, 0, n * 3 < 32 ? n * 3 : 32);
    acc += s[((l[t].w[1] & 15) * 64 + (l[t].w[n & 3] & 31)) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
