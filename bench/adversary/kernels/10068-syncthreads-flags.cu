// launch 2 96 n=10
// launch 1 48 n=3
// launch 4 16x7 n=25
// __shared__ flags and limits read after barriers decide branches and trips; __syncthreads_or/_and/_count decide loops; label propagation until nothing changes
extern "C" __global__ void k10068(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ int flag, limit;
    __shared__ unsigned label[2][256];
    __shared__ unsigned short perm[256];
    __shared__ double dd[128];
    const unsigned nt = blockDim.x * blockDim.y;
    const unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
    label[0][t] = t;
    label[1][t] = 0;
    perm[t] = (unsigned short)((t * 5 + 1 + blockIdx.x) % nt);
    for (unsigned i = t; i < 128; i += nt) dd[i] = i + f;
    if (t == nt - 1) { flag = (int)(n & 1) + (int)blockIdx.x; limit = (int)(src[n & 4095] % 7) + 2; }
    __syncthreads();
    unsigned acc = 0;
    if (flag == 1 || flag == 3) {
        for (int i = 0; i < limit; ++i) acc += (unsigned)dd[(t * 2 + i) & 127];
    } else if (flag == 0 && t >= (unsigned)limit) {
        acc += (unsigned)dd[(t + limit) & 127];
    } else {
        dd[(t * (unsigned)limit) & 127] = t;
    }
    __syncthreads();
    // labels sink to the least of each neighbourhood, until none changes or n rounds
    unsigned cur = 0, rounds = 0;
    int moved;
    do {
        const unsigned mine = label[cur][t], left = label[cur][t >= 3 ? t - 3 : 0], p = label[cur][perm[t]];
        unsigned next = mine;
        if (t & 1) { if (left < next) next = left; }
        else if (p < mine && (t & 31) != 30) next = p;
        label[cur ^ 1][t] = next;
        if (next != mine) acc += perm[(next * 2 + rounds) % nt];
        moved = __syncthreads_or(next != mine);
        cur ^= 1;
    } while (moved && ++rounds < n);
    // how many threads have reached a root, and a loop of as many trips, less for some warps
    const int roots = __syncthreads_count(label[cur][t] < 4);
    for (int i = (int)(t >> 5); i < roots; i += 4) {
        acc += label[cur][(t + (unsigned)i * 32) % nt];
        if (label[cur][t] == (unsigned)i) break;
    }
    if (__syncthreads_and(label[cur][t] <= t) && label[cur][t] != t) acc ^= (unsigned)dd[label[cur][t] & 127];
    if (t == 40) flag = (int)label[cur][t] + 5;
    __syncthreads();
    for (int i = flag; i > 0; i -= (int)(t & 1) + 1) acc += perm[(t + i * 3) % nt];
    out[(blockIdx.x * nt + t) & 4095] = acc + rounds;
}
