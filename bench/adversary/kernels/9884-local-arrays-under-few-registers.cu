// launch 1 64 n=3
// launch 3 96x2 n=6
// launch 2 7x9x3 n=10
// launch 2x2 128 n=1
// Local memory under launch bounds of 32 registers: 48 values alive round a loop, a heap and a ring in local arrays, two names for one array,
// structures by value and by pointer, pointers kept in memory, constant tables with any index, copies and fills of lengths that turn.

__constant__ unsigned char order[32] = {7, 0, 19, 4, 30, 11, 2, 25, 14, 9, 28, 1, 22, 17, 6, 31,
                                        12, 3, 26, 21, 8, 15, 29, 10, 5, 24, 18, 13, 27, 16, 23, 20};
__constant__ unsigned weights[8][4] = {{1, 2, 4, 8}, {16, 32, 1, 3}, {33, 5, 31, 64}, {0, 128, 2, 9},
                                       {65, 1, 17, 4}, {8, 8, 24, 40}, {3, 96, 7, 11}, {127, 1, 0, 2}};
__constant__ short moves[16] = {0, -32, 5, -1, 64, -17, 2, -96, 31, 1, -4, 128, -8, 33, 7, -64};

struct Item {
    unsigned key;
    unsigned short low, high;
    unsigned char tag[8];
};

struct Pile {
    Item items[4];
    unsigned* row;                                      // into shared memory
    unsigned count;
};

// Changes its copies only; the caller's stay.
__device__ __noinline__ unsigned by_value(Item a, Pile p, unsigned k) {
    a.key += p.items[k & 3].key;
    p.items[(k + 1) & 3] = a;
    p.count += a.tag[k & 7];
    return p.row[(p.items[(k + 2) & 3].key + p.items[(k + 1) & 3].low + p.count) & 255];
}

// The two may be one and the same.
__device__ __noinline__ void by_pointer(Item* a, Item* b, unsigned k) {
    a->key += 8;
    b->key = a->key * 2 + b->key + k;
    a->tag[b->key & 7] = (unsigned char)b->key;
    *(unsigned*)&b->low += 0x00fff0ffu;                 // both halves in one addition
}

// One call within the other, each with an array made from the caller's.
template <unsigned level>
__device__ __noinline__ unsigned deep(unsigned stop, const unsigned* above, const unsigned* s) {
    unsigned here[4];
    for (unsigned i = 0; i < 4; i++) here[i] = above[(i + stop) & 3] * 3 + i;
    unsigned below = 1;
    if constexpr (level > 0)
        if (level > stop) below = deep<level - 1>(stop, here, s);
    return below + s[(here[below & 3] * 2 + above[level & 3]) & 1023];
}

extern "C" __launch_bounds__(256, 8) __global__ void k9884(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(16) unsigned char bytes[2048];
    __shared__ unsigned short halves[1024];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z, b = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned* const region = out + b * 8192;
    unsigned acc = 0;
    for (unsigned i = t; i < 1024; i += nt) { s[i] = i * 9; halves[i] = i * 2; }
    for (unsigned i = t; i < 2048; i += nt) bytes[i] = i >> 1;
    for (unsigned i = t; i < 256; i += nt) region[i] = i * 6 + b;
    __syncthreads();

    // many values alive at once
    unsigned v[48];
    #pragma unroll
    for (unsigned i = 0; i < 48; i++) v[i] = t * (i & 3) + i * n;
    #pragma unroll 1
    for (unsigned r = 0; r < n; r++) {
        #pragma unroll
        for (unsigned i = 0; i < 48; i++) {
            v[i] = (v[i] >> 1) + v[(i * 5 + 7) % 48] + r;
            if (i % 16 == 5) acc += s[v[i] & 1023];
            if (i % 16 == 13) acc += bytes[(v[i] * 4 + v[i - 3]) & 2047];
        }
        if (t & 2) { const unsigned w = v[3]; v[3] = v[41]; v[41] = w; }
        acc += halves[(v[3] + v[r & 1 ? 20 : 30] * 2) & 1023];
    }
    #pragma unroll
    for (unsigned i = 0; i < 48; i++) acc += v[i];

    // a heap in a local array; what comes off the top addresses shared memory
    unsigned heap[24], last = 12 + (t & 7);
    for (unsigned i = 0; i < 24; i++) heap[i] = (t * order[i] + i * weights[t & 7][i & 3]) & 1023;
    #pragma unroll 1
    for (unsigned i = last / 2 + last; i-- > 0;) {
        const unsigned from = i >= last ? i - last : 0; // first into order from the middle, then off the top
        if (i < last) { acc += s[heap[0]]; heap[0] = heap[i]; heap[i] = acc & 1023; }
        const unsigned size = i < last ? i : last, x = heap[from];
        unsigned at = from;
        while (at * 2 + 1 < size) {
            unsigned child = at * 2 + 1;
            if (child + 1 < size && heap[child + 1] > heap[child]) child++;
            if (heap[child] <= x) break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = x;
    }

    // one array under two names and two widths, moved by constants of either sign
    unsigned char ring[64];
    unsigned* const p = heap + (t & 7);
    unsigned* const q = heap + (n & 15);
    for (unsigned i = 0; i < 64; i++) ring[i] = order[i & 31] + t;
    #pragma unroll 1
    for (unsigned k = 0; k < n; k++) {
        p[k & 7] = k * 32 + t;
        q[(k + 2) & 7] += 3;
        acc += s[(p[(k + 5) & 7] + q[k & 7]) & 1023] + s[511 + moves[(t + k) & 15] * 4];
        memcpy(ring + 3 + (k & 7), heap + (k & 7), 5 + ((t + k) & 7));
        memset(ring + 32 + (t & 15), (int)(k + n), 1 + (k & 15));
        unsigned short two;
        memcpy(&two, ring + ((t + k * 3) & 31) + 1, 2);
        acc += halves[two & 1023] + bytes[((unsigned)ring[(k * 5 + 30) & 63] << 3 | (t & 7)) & 2047];
    }

    // structures and pointers that stand in memory
    Pile pile;
    Item item = {t, (unsigned short)(t * 2), (unsigned short)n, {1, 2, 4, 8, 16, 32, 64, 128}};
    for (unsigned i = 0; i < 4; i++) { pile.items[i] = item; pile.items[i].key = order[(t + i) & 31] * weights[i][t & 3]; }
    pile.row = s + 256 * (t & 3);
    pile.count = t;
    unsigned* rows[4] = {s, region + (t & ~3u), heap, s + 512};
    #pragma unroll 1
    for (unsigned k = 0; k < n + 2; k++) {
        acc += by_value(item, pile, k);
        by_pointer(&pile.items[(t + k) & 3], k & 1 ? &item : &pile.items[(t * 3 + k) & 3], k);
        acc += bytes[(item.key + item.low * 8 + pile.items[k & 3].tag[t & 7]) & 2047];
        const unsigned* row = rows[(t + k) & 3];
        rows[k & 1] = rows[3 - (k & 1)];                // read before
        acc += s[row[(k + (t & 1)) & 3] & 1023];        // through a pointer to any of three memories
    }
    acc += deep<3>((t + n) & 3, heap + 4, s);
    ((unsigned**)(region + 1024))[t] = s + ((t * 12 + n) & 1023);
    __syncthreads();
    acc += *((unsigned**)(region + 1024))[(t * 5 + 1) % nt];

    // a word of src into one place of the array, that only some lanes look at
    heap[t & 15] = src[(b * 512 + t) & 65535];
    acc += s[heap[(t * 3) & 15] & 1023];
    __syncthreads();
    ((unsigned**)(region + 1024))[t] = nullptr;
    region[4096 + t] = acc + (f > 6.0f ? 1 : 0);
}
