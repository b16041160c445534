// launch 1 32 n=3
// launch 2 64 n=7
// launch 1 34 n=5
// Lanes are served one at a time or in groups by masks popped from either end; votes and shuffles inside loops of few lanes.
extern "C" __global__ void k9253(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 19 + 3) & 31; }
    __syncthreads();
    unsigned full = __ballot_sync(__activemask(), true), todo = __ballot_sync(full, q[l] > 20 - n), served = 0;
    while (todo) {
        unsigned lane = __ffs(todo) - 1;
        unsigned key = __shfl_sync(full, q[l], lane), near_ = __ballot_sync(full, (q[l] ^ key) < 4) & todo;
        if (l == lane) s[(key * 32 + served) & 1023] = key;
        if (near_ >> l & 1) acc += s[(l * (served + 1)) & 1023];
        todo &= ~near_; todo &= ~(1u << lane);
        served++;
    }
    s[(l * served) & 1023] = acc;
    bool open = (l + n) & 1;
    while (open) {
        unsigned m = __activemask(), last = 31 - __clz(m);
        unsigned x = __shfl_sync(m, q[l + 32], last);
        if (l == last) { open = false; s[(l * 4) & 1023] = x; }
        else if (q[l + 32] == x) { open = false; acc += s[(l * 8 + (x & 1)) & 1023]; }
        else if (__popc(m) < 4) { acc += s[(l * 3) & 1023]; open = false; }
        __syncwarp(m);
    }
    __syncwarp(full);
    unsigned mine = q[l + 64] & 7, sum = 0;
    for (unsigned i = 0; ; i++) {
        unsigned more = __ballot_sync(full, mine > i);
        sum += __popc(more);
        if (!(more & (more - 1))) break;
        if (mine <= i) continue;
        acc += s[(l * 2 + sum) & 1023];
        if (__popc(more) > 16) s[(l * i) & 1023] = sum;
    }
    acc += s[(l * sum) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
