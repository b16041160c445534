// launch 1 32 n=5
// launch 2 64 n=8
// launch 1 47 n=3
// Linked lists with cycles in shared memory: tortoise and hare by lane, reversal of a list by one lane, iteration over iterators.
struct Link { unsigned short next, stride; };
struct Iter { const Link* base; unsigned at, left; __device__ unsigned operator*() const { return base[at].stride; } __device__ Iter& operator++() { at = base[at].next; left--; return *this; } __device__ bool operator!=(unsigned end) const { return left != 0 && at != end; } };
struct List { const Link* base; unsigned from, most; __device__ Iter begin() const { return { base, from, most }; } __device__ unsigned end() const { return 63; } };
extern "C" __global__ void k9258(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ Link link[64];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    for (unsigned k = t; k < 64; k += nt) { link[k].next = (unsigned short)((k * k + n) & 63); link[k].stride = (unsigned short)(k % 9 + 1); }
    __syncthreads();
    unsigned slow = l, fast = l, steps = 0;
    do { slow = link[slow].next; fast = link[link[fast].next].next; steps++; acc += s[(slow * 16 + fast) & 1023]; } while (slow != fast && steps < 30);
    unsigned length = 0, x = slow;
    do { x = link[x].next; length++; s[(x * 32 + l) & 1023] = length; } while (x != slow && length < 20);
    acc += s[(l * length) & 1023];
    unsigned start = l, head = 0;
    while (start != slow) { start = link[start].next; slow = link[slow].next; if (++head > 20) break; if (head & 1) acc += s[(l * 4 + head) & 1023]; }
    s[(l * (head + steps)) & 1023] = start;
    __syncthreads();
    if (t == 0) { unsigned prev = 63, now = n; for (unsigned i = 0; i < 10 && now != 63; i++) { unsigned then = (now + 6) & 63; link[now].next = (unsigned short)prev; s[(now * 8) & 1023] = i; prev = now; now = then; } link[62].next = (unsigned short)prev; }
    __syncthreads();
    for (unsigned stride : List{ link, 62, 3 + (l & 7) }) { if (stride == 4 && (l & 1)) continue; acc += s[(l * stride) & 1023]; if (stride == 9) break; }
    for (unsigned stride : List{ link, l, 4 }) s[(stride * 64 + l * 2) & 1023] = stride;
    acc += s[(l * link[(l + head) & 63].stride) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
