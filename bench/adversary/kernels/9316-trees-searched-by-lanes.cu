// launch 1 32 n=9
// launch 1 33 n=100
// launch 2 64 n=41
// A binary search tree built by one lane, searched by all for the nearest key, walked in order with a stack, and an implicit heap beside it.
struct Leaf { short left, right; unsigned key; };
extern "C" __global__ void k9316(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ Leaf tree[24];
    __shared__ unsigned heap[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    for (unsigned k = t; k < 64; k += blockDim.x) heap[k] = (k * 2654435761u + n) >> 22;
    if (t == 0) {
        for (int i = 0; i < 24; i++) {
            unsigned key = (unsigned)(i * 157 + (int)n * 31) % 509;
            tree[i].left = tree[i].right = -1; tree[i].key = key;
            for (int at = 0; i;) {
                short& side = key < tree[at].key ? tree[at].left : tree[at].right;
                if (side < 0) { side = (short)i; break; }
                at = side;
            }
        }
    }
    __syncthreads();
    unsigned want = t * 16 % 509, depth = 0; int at = 0, best = 0;
    while (at >= 0) {
        int apart = (int)tree[at].key - (int)want, before = (int)tree[best].key - (int)want;
        if (abs(apart) < abs(before)) best = at;
        depth++;
        at = apart > 0 ? tree[at].left : tree[at].right;
    }
    acc += s[(tree[best].key * 2) & 1023];
    acc += s[(depth * 32 + (unsigned)best) & 1023];
    short stack[24]; int top = 0; at = (int)(t % 24); unsigned seen = 0;
    while ((at >= 0 || top) && seen < 9) {
        if (at >= 0) { stack[top++] = (short)at; at = tree[at].left; continue; }
        at = stack[--top]; seen++;
        s[(tree[at].key + seen * 4) & 1023] = acc;
        at = tree[at].right;
    }
    unsigned node = 1 + (t & 1);
    while (node < 32) node = node * 2 + (heap[node * 2] < heap[node * 2 + 1] + t);
    acc += s[(node * 16 + heap[node]) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
