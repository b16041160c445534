// launch 1 64 n=4
// launch 3 96 n=9
// launch 2x2 6x7x3 n=2
// launch 5 256 n=13 cluster=5
// Union-find in out: trees of the whole block by hooking with minima and pointer jumping, the number of rounds found by votes;
// then a forest of eight for each thread, paths halved while they are walked; roots, sizes and depths address shared memory.

__device__ __forceinline__ unsigned find_and_halve(unsigned* parent, unsigned x, unsigned* steps) {
    #pragma unroll 1
    while (parent[x] != x) {
        parent[x] = parent[parent[x]];                  // read before and after in the same line
        x = parent[x];
        ++*steps;
    }
    return x;
}

// All pointers of the block to their roots; returns how many rounds that took (the same for all threads).
__device__ unsigned jump(unsigned* parent, unsigned size, unsigned t, unsigned nt) {
    unsigned rounds = 0;
    int more;
    do {
        const unsigned a = t < size ? parent[parent[t]] : 0, c = t + nt < size ? parent[parent[t + nt]] : 0;
        const bool moved = (t < size && a != parent[t]) || (t + nt < size && c != parent[t + nt]);
        more = __syncthreads_or(moved);
        if (t < size) parent[t] = a;
        if (t + nt < size) parent[t + nt] = c;
        __syncthreads();
        rounds++;
    } while (more);
    return rounds;
}

extern "C" __global__ void k9881(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned tally[512];
    __shared__ uint2 twos[512];
    __shared__ unsigned char small[4096];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned b = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned* const parent = out + b * 8192;            // 2 * nt nodes
    unsigned* const sizes = parent + 1024;
    unsigned* const forest = parent + 2048 + t * 8;     // of this thread alone
    const unsigned size = nt * 2 - (n & 1);
    unsigned acc = 0;

    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 5;
    for (unsigned i = t; i < 512; i += nt) { tally[i] = 0; twos[i] = make_uint2(i, i * 7); }
    for (unsigned i = t; i < 4096; i += nt) small[i] = i >> 3;
    for (unsigned i = t; i < size; i += nt) { parent[i] = i; sizes[i] = 0; }
    __syncthreads();

    // edges that the launch gives: every third node stays without one
    const unsigned u = t, v = (t * 5 + n + b) % size;
    int open;
    #pragma unroll 1
    do {
        const unsigned p = parent[u], q = parent[v];
        const bool apart = u % 3 != 1 && p != q;
        acc += s[(p * 2 + q) & 1023];
        open = __syncthreads_or(apart);
        if (apart) atomicMin(&parent[max(p, q)], min(p, q));
        __syncthreads();
        const unsigned rounds = jump(parent, size, t, nt);
        acc += twos[(parent[u] * rounds) & 511].y;
    } while (open);

    for (unsigned i = t; i < size; i += nt) atomicAdd(&sizes[parent[i]], 1);
    __syncthreads();
    for (unsigned i = t; i < size; i += nt) {
        const unsigned root = parent[i], many = sizes[root];
        atomicAdd(&tally[root & 511], many);
        if (root == i) s[i] = many;                     // roots alone
    }
    __syncthreads();
    for (unsigned i = t; i < size; i += nt) {
        acc += s[parent[size - 1 - i]] + tally[sizes[i] & 511];
        acc += small[(parent[i] * 4 + sizes[parent[i]]) & 4095];
    }

    // the thread's own eight: a chain or a star after the thread, then some unions
    for (unsigned i = 0; i < 8; i++) forest[i] = i && (t + i) % 4 ? i - 1 : t & 1 ? i / 2 : i;
    #pragma unroll 1
    for (unsigned k = 0; k < n; k++) {
        unsigned steps = 0;
        const unsigned x = find_and_halve(forest, (k * 3 + t) & 7, &steps);
        const unsigned y = find_and_halve(forest, (k + 5) & 7, &steps);
        acc += s[(x * 128 + y * 16 + steps) & 1023];
        if (x != y) forest[max(x, y)] = min(x, y);
        acc += twos[(forest[(t + k) & 7] * 64 + t) & 511].x;
        if (k % 5 == 4) forest[7] = 7 - (t & 3);        // cut off again; still below or equal
    }
    __syncthreads();
    const unsigned* other = parent + 2048 + ((t + 33) % nt) * 8;
    acc += tally[(other[t & 7] * 32 + other[6]) & 511];

    // edges of src over the finished trees, one round only; a root may be no root any more when it is asked
    const unsigned e = src[(b * 512 + t) & 65535] % size, p = parent[e], q = parent[u];
    __syncthreads();
    if (p != q) atomicMin(&parent[max(p, q)], min(p, q));
    __syncthreads();
    acc += s[parent[parent[u]] & 1023] + small[(parent[e] * 2) & 4095];
    __syncthreads();
    parent[7168 + t] = acc + (f > 4.0f ? 1 : 0);
}
