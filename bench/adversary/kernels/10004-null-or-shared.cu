// launch 1 64 n=1
// launch 2 128 n=38
// launch 3 45 n=2222
// Pointers that are null or shared (kept in shared memory, chased by lanes for unlike lengths), shared or global or local in one load, with a tag in the low bit, as a list linked by xor, and compared.
struct Node { unsigned value, both; Node* next; };

extern "C" __global__ void k10004(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ Node nodes[96];
    __shared__ unsigned s[1024];
    __shared__ unsigned* slot[128];
    __shared__ unsigned spare[136];
    __shared__ unsigned long long tagged[128];
    const unsigned t = threadIdx.x, lane = t & 31;
    const unsigned v = src[(t * 9 + n) & 4095], w = src[(t + blockIdx.x * 100 + n * 2) & 4095];
    unsigned acc = 0, loc[8];
    for (unsigned i = 0; i < 8; i++) loc[i] = i * v;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 11;
    for (unsigned i = t; i < 96; i += blockDim.x) {
        const unsigned j = i + 1 + (src[(i * 3 + n) & 4095] & 3) * 3;
        nodes[i].value = i * 7;
        nodes[i].both = (i ? i - 1 : 96) ^ (i < 95 ? i + 1 : 96);
        nodes[i].next = j < 96 ? nodes + j : nullptr;
    }
    for (unsigned i = t; i < 136; i += blockDim.x) spare[i] = i & 3;
    for (unsigned i = t; i < 128; i += blockDim.x) {
        const unsigned x = src[(i * 5 + n) & 4095];
        slot[i] = x & 1 ? s + (i * 32 & 1023) : nullptr;
        tagged[i] = (unsigned long long)(s + (i * 16 & 1023)) | (x & 3);
    }
    __syncthreads();
    unsigned* p = slot[t ^ 1];
    if (p) acc += *p;
    unsigned* const p2 = slot[(v + lane) & 127];
    if (p2 != nullptr && *p2 % 3 != 1) acc += p2[(int)(w & 31) - (p2 - s > 512 ? 31 : 0)];
    if (p == p2) acc ^= s[lane * 32];
    if (p < p2) acc += s[lane * 16 + 2];
    for (const Node* c = nodes + (v & 31); c; c = c->next) acc += c->value;
    unsigned hops = 0;
    for (const Node* c = nodes + 80 + (w & 15); c; c = c->next, hops++) acc ^= c->value;
    acc += s[hops * 32];

    const unsigned long long g = tagged[(t * 3 + (n & 1)) & 127];
    const unsigned* const q = (const unsigned*)(g & ~3ull);
    if (g & 1) acc += *q;
    if (g & 2) acc += *(const unsigned*)(g - (g & 3)) + 1;
    acc ^= ((const unsigned char*)q)[g & 3];

    const unsigned* mix = v & 2 ? s + (lane * 32 & 1023) : src + (lane + n & 1023);
    acc += *mix;
    mix = v & 4 ? loc : mix;
    acc += mix[w & 7 & (mix == s + 992 ? 7 : 3)];
    if (__isShared(mix)) acc += *mix * 3;
    loc[w & 7] = v;
    acc += mix[(v & 4) >> 1];
    unsigned* put = w & 8 ? loc + (w & 7) : spare + (t ^ 5);
    if (put != loc + 3) *put = lane;
    acc += loc[3] + loc[w & 7];
    __syncthreads();
    acc += s[(spare[t] & 31) * 32];

    unsigned before = 96, at = 0;
    for (unsigned i = 0; i < (v & 15) + 3 && at != 96; i++) {
        const unsigned after = nodes[at].both ^ before;
        acc += nodes[at].value;
        before = at;
        at = after;
    }
    acc += s[before * 8 + (at == 96)];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
