// launch 1 64 n=6
// launch 2 96 n=19
// launch 1 45 n=41
// Recursion by lane over shared memory: each lane quicksorts a run of its own pitch, walks a tree to a depth of its own, climbs the Towers of Hanoi on three shared stacks, all through tables of functions and mutual calls.
__shared__ unsigned run[96 * 19], tree[128 * 3];
__shared__ unsigned char pegs[96 * 20];
__device__ unsigned steps_of(unsigned x) { return 1 + (x * 5 >> 2) % 3; }
__device__ __noinline__ void quick(unsigned base, int lo, int hi) {
    while (lo < hi) {
        const unsigned pivot = run[base + (lo + hi >> 1)];
        int i = lo, j = hi;
        while (i <= j) {
            while (run[base + i] < pivot) i++;
            while (run[base + j] > pivot) j--;
            if (i <= j) {
                const unsigned a = run[base + i];
                run[base + i++] = run[base + j];
                run[base + j--] = a;
            }
        }
        if (j - lo < hi - i) { quick(base, lo, j); lo = i; }
        else { quick(base, i, hi); hi = j; }
    }
}
__device__ unsigned down_right(unsigned node, unsigned want);
__device__ __noinline__ unsigned down_left(unsigned node, unsigned want) {
    if (node >= 63) return tree[node * 3 % 384];
    unsigned sum = tree[node * 3 + 1];
    if (want & 1) sum += down_right(node * 2 + 1, want >> 1);
    if ((want & 6) == 4) sum ^= down_left(node * 2 + 2, want >> 2);
    return sum + tree[(sum & 127) * 3];
}
__device__ __noinline__ unsigned down_right(unsigned node, unsigned want) {
    if (node >= 63 || want == 0) return node;
    const unsigned key = tree[node * 3 + 2];
    switch (key & 3) {
        case 0: return down_left(node * 2 + 2, want) + key;
        case 1: want ^= 5;
        case 2: return down_right(node * 2 + 1 + (want >> 3 & 1), want >> 1) * 3;
    }
    return down_left(node * 2 + 1, want >> 1) - down_right(node * 2 + 2, want >> 2);
}
__device__ __noinline__ unsigned hanoi(unsigned base, unsigned many, unsigned from, unsigned to) {
    if (many == 0) return 0;
    const unsigned by = 3 - from - to;
    const unsigned moved = hanoi(base, many - 1, from, by);
    const unsigned top = --pegs[base + from], place = pegs[base + to]++;
    pegs[base + 3 + to * 5 + place] = pegs[base + 3 + from * 5 + top];
    return moved + place + hanoi(base, many - 1, by, to);
}
typedef unsigned (*Walk)(unsigned, unsigned);
__device__ __noinline__ unsigned level(unsigned node, unsigned want) {
    unsigned sum = 0;
    for (unsigned k = node; k < 127; k = k * 2 + 1 + (tree[k * 3] & 1)) { sum += tree[k * 3 + (want & 1)]; if (sum % 7 == want % 7) break; want >>= 1; }
    return sum;
}
__constant__ Walk walks[4] = {down_left, level, down_right, level};

extern "C" __global__ void k9987(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = threadIdx.x, lane = t & 31, pitch = n % 3 == 0 ? 16 : n % 3 == 1 ? 19 : 17, size = 5 + src[(t * 9 + n) & 4095] % 12;
    for (unsigned i = t; i < 384; i += blockDim.x) tree[i] = src[(i * 23 + n * 7) & 4095] ^ i;
    for (unsigned i = 0; i < pitch; i++) run[t * pitch + i] = src[(t * 37 + i * (i + 5) * 61 + n) & 4095];
    const unsigned disks = 1 + (lane * 3 + n) % 4;
    for (unsigned i = 0; i < 18; i++) pegs[t * 20 + i] = i == 0 ? disks : i < 3 ? 0 : i - 3 < disks ? disks - (i - 3) : 0;
    __syncthreads();
    unsigned acc = 0;
    if (lane % 5 != 3) quick(t * pitch, 0, size - 1);
    acc += run[t * pitch + size / 2];
    __syncthreads();
    const unsigned rounds = 2 + (n & 1);
    for (unsigned r = 0; r < rounds; r++) {
        const Walk walk = walks[(lane >> (r + 1) ^ acc) & 3];
        acc = acc * 5 + walk(r ? (acc >> 3) % 7 : 0, src[(t + r * 77 + n) & 4095]);
        if (acc & 1) acc += hanoi(t * 20, pegs[t * 20 + (r * 2) % 3] & 3, (r * 2) % 3, (r * 2 + 1 + (lane & 1)) % 3);
        for (unsigned k = 0; k < steps_of(acc); k++) acc += run[(acc ^ k * 8) % (blockDim.x * 16)];
        __syncwarp();
    }
    for (unsigned i = 3; i < 18; i++) acc = acc * 3 + pegs[t * 20 + i];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
