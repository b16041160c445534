// launch 1 32 n=5
// launch 1 70 n=3
// launch 2 40 n=2
// Linked lists in shared memory by 16-bit links: each lane builds its own of odd length, reverses it, splices it to a neighbour's, and walks it.
struct Node { unsigned short next, value; };
extern "C" __global__ void k9315(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ Node nodes[70 * 8 + 1];
    __shared__ unsigned short heads[70];
    unsigned t = threadIdx.x, acc = 0, T = blockDim.x;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned head = 0, count = t % 7 + 1;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = 1 + (i * T + t);
        nodes[at].value = (unsigned short)(t * n + i * 11);
        nodes[at].next = (unsigned short)head;
        head = at;
    }
    heads[t] = (unsigned short)head;
    __syncthreads();
    unsigned back = 0;
    for (unsigned p = head; p;) { unsigned next = nodes[p].next; nodes[p].next = (unsigned short)back; back = p; p = next; }
    heads[t] = (unsigned short)back;
    __syncthreads();
    for (unsigned p = heads[(t + 1) % T]; p; p = nodes[p].next) acc += s[(nodes[p].value * 4) & 1023];
    __syncthreads();
    if (t % 3 == 0 && t + 1 < T) {
        unsigned p = heads[t];
        while (nodes[p].next) p = nodes[p].next;
        nodes[p].next = heads[t + 1];
        s[p & 1023] = acc;
    }
    __syncthreads();
    unsigned slow = heads[t], fast = slow, sum = 0;
    while (fast && nodes[fast].next) { slow = nodes[slow].next; fast = nodes[nodes[fast].next].next; sum++; }
    acc += s[(slow * 8 + sum) & 1023];
    Node* middle = &nodes[slow];
    if (middle->value & 1) acc += s[(middle->value ^ t) & 1023]; else s[(middle->next * 2) & 1023] = acc;
    out[(blockIdx.x * T + t) & 2047] = acc;
}
