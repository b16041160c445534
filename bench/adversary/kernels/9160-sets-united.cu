// launch 1 32 n=3
// launch 1 64 n=9
// launch 2 47 n=4
// Union-find: one lane per set of edges with path halving, then components by minima and pointer jumping until no thread changes.
extern "C" __global__ void k9160(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned parent[8][33], root[2][64], s[1024];
    __shared__ unsigned char rank[8 * 36];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, now = 0, trips = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 264; k += size) (&parent[0][0])[k] = k % 33;
    for (unsigned k = t; k < 288; k += size) rank[k] = 0;
    root[0][t] = t;
    __syncthreads();
    if (t < 8) {
        unsigned* mine = parent[t];
        for (unsigned e = 0; e < 14 + t; e++) {
            unsigned a = (src[e * 9 + t] + e * e) % 32, b = (src[e * 5] * 3 + t * e) % 32;
            while (mine[a] != a) { mine[a] = mine[mine[a]]; a = mine[a]; }
            while (mine[b] != b) { mine[b] = mine[mine[b]]; b = mine[b]; }
            if (a == b) continue;
            unsigned char x = rank[t * 36 + a], y = rank[t * 36 + b];
            if (x < y) { unsigned c = a; a = b; b = c; }
            mine[b] = a;
            if (x == y) rank[t * 36 + a] = x + 1;
        }
    }
    __syncthreads();
    unsigned set = parent[t & 7][t >> 3 & 31], depth = 0;
    while (parent[t & 7][set] != set) { set = parent[t & 7][set]; depth++; }
    acc += s[(set * 32 + depth) & 1023];
    for (;;) {
        unsigned least = root[now][t], other = (t * n + 1) % size;
        least = min(least, root[now][other]);
        if (t % n) least = min(least, root[now][least]);
        for (unsigned hop = 0; hop < 2 && root[now][least] < least; hop++) least = root[now][least];
        bool changed = least != root[now][t];
        root[now ^ 1][t] = least;
        if (changed) s[(least * 4 + trips * 32) & 1023] = trips;
        now ^= 1;
        trips++;
        if (!__syncthreads_or(changed)) break;
    }
    unsigned label = root[now][t], same = 0;
    for (unsigned k = 0; k < size; k += 1 + (k & 1)) same += root[now][k] == label;
    acc += s[(label * t) & 1023] + s[(same * 8 + trips) & 1023];
    s[(label * 16 + (t & 15)) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
