// launch 1 32 n=1
// launch 1 64 n=3
// Pointers kept in local arrays, structures, shared memory and halves; a local array whose size is not constant.
struct Node { unsigned* at; unsigned step; Node* next; };
__device__ __noinline__ unsigned walk(Node* p, unsigned t, unsigned n) { unsigned v = 0; while (p) { v += p->at[(t * p->step) & 255]; p->at[(t + p->step * n) & 255] = v; p = p->next; } return v; }
extern "C" __global__ void k9030(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; __shared__ unsigned* kept[64]; __shared__ Node nodes[4];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    if (t < 64) kept[t] = s + t * 8;
    if (t < 4) { nodes[t].at = s + t * 256; nodes[t].step = t + 1; nodes[t].next = t < 3 ? &nodes[t + 1] : 0; }
    __syncthreads();
    acc += kept[t & 63][t & 7];
    kept[(t * n) & 63][1] = acc;
    acc += walk(nodes, t, n);
    unsigned own[8]; for (unsigned i = 0; i < 8; i++) own[i] = src[(t + i) & 1023] & 63;
    Node a = { own, 1, 0 }, b = { s + 512, 2, t & 1 ? &a : 0 };
    unsigned* list[3] = { s, s + 300, (unsigned*)own };
    acc += list[t % 3][(t + n) & 7];
    for (Node* p = &b; p; p = p->next) { acc += p->at[(p->step * t) & 7]; }
    unsigned long long w = (unsigned long long)(s + (t * 4 & 1023)); unsigned half[2] = { (unsigned)w, (unsigned)(w >> 32) };
    acc += *(unsigned*)((unsigned long long)half[n & 0 | 1] << 32 | half[0]);
    s[(own[t & 7] * 4 + t) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
