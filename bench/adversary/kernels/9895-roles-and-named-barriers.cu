// launch 2 128 n=5
// launch 1 200 n=8
// launch 1 64 n=3
// launch 2 16x4x5 n=12
// Warps with roles: a loader, workers and a collector hand two stages on by named barriers, then pairs of warps with trip
// counts of their own, then two groups of warps of which some return within their loops.
namespace {
__device__ __forceinline__ void meet(unsigned id, unsigned warps)
{
    __syncwarp();
    asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(warps * 32) : "memory");
}
__device__ __forceinline__ void arrive(unsigned id, unsigned warps)
{
    __syncwarp();
    asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(warps * 32) : "memory");
}
enum class Role { loader, worker, collector };
}

extern "C" __global__ void k9895(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned tile[2][33 * 16], product[2][512], swapped[512], totals[16][2], loose[256];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned lane = t & 31, w = t >> 5, warps = (T + 31) / 32, mine = blockIdx.x * T + t;
    for (unsigned i = t; i < 33 * 16; i += T) { tile[0][i] = i; tile[1][i] = i * 2; }
    for (unsigned i = t; i < 512; i += T) { product[0][i] = i; product[1][i] = ~i; swapped[i] = i * 3; }
    for (unsigned i = t; i < 256; i += T) loose[i] = src[i + blockIdx.x];
    if (t < 32) totals[t >> 1][t & 1] = t;
    __syncthreads();

    unsigned acc = w, noise = 0;
    const unsigned trips = 2 + n % 7;
    if (warps >= 3) {
        const Role role = w == 0 ? Role::loader : w + 1 == warps ? Role::collector : Role::worker;
        const unsigned front = warps - 1;                          // the loader with the workers, or these with the collector
        switch (role) {
        case Role::loader:
            for (unsigned k = 0; k < trips; ++k) {
                const unsigned s = k & 1;
                if (k >= 2) meet(3 + s, front);
                for (unsigned i = lane; i < 16 * 32; i += 32) tile[s][(i >> 5) * (s ? 33 : 32) + (i & 31)] = i * (k + 1) + (i >> 4);
                if (lane < k) noise += loose[(lane * 8 + k) & 255] & 15;
                arrive(1 + s, front);
            }
            break;
        case Role::worker:
            for (unsigned k = 0; k < trips; ++k) {
                const unsigned s = k & 1;
                meet(1 + s, front);
                unsigned sum = 0;
                for (unsigned j = w - 1; j < 16; j += 1 + (lane & 1)) {
                    const unsigned v = tile[s][(lane & 15) * (s ? 33 : 32) + j];
                    if (v % 9 == lane % 9) break;
                    sum += v + tile[s][(v * 2 + j) & 511];
                }
                if (k + 2 < trips) arrive(3 + s, front);
                if (k >= 2) meet(7 + s, front);
                if (lane % 3 != k % 3) product[s][(w - 1) * 32 + (lane ^ k)] = sum;
                arrive(5 + s, front);
                acc += sum;
            }
            break;
        case Role::collector:
            for (unsigned k = 0; k < trips; ++k) {
                const unsigned s = k & 1;
                meet(5 + s, front);
                for (unsigned j = 0; j < warps - 2; ++j)
                    acc += product[s][j * 32 + (lane * (k + 1) & 31)];
                if (acc & 1) acc += product[s][acc % ((warps - 2) * 32)];
                if (k + 2 < trips) arrive(7 + s, front);
            }
        }
    } else {
        for (unsigned k = 0; k < trips; ++k) {
            swapped[t] = tile[k & 1][(t * (k + 1)) & 511];
            __syncthreads();
            acc += swapped[(t + k) % T] * (k & 1 ? 1 : tile[0][(lane * 16 + k) & 511]);
            __syncthreads();
        }
    }
    __syncthreads();

    const unsigned friend_warp = w ^ 1, pair = w >> 1;
    const unsigned theirs = (friend_warp + 1) * 32 <= T ? 32 : T - friend_warp * 32;
    unsigned turn = 0;
    do {
        swapped[t] = tile[turn & 1][(acc + lane * turn) & 511];
        if (friend_warp < warps) meet(8 + pair, 2);
        else __syncwarp();
        acc += friend_warp < warps ? swapped[friend_warp * 32 + lane % theirs] : swapped[w * 32];
        if (lane >= 8 && swapped[w * 32 + (lane & 7)] & 1) acc += product[0][(acc & 15) * 32 + pair];
        if (friend_warp < warps) meet(8 + pair, 2);
        else __syncwarp();
    } while (turn++ < pair + n % 2);
    __syncthreads();

    const unsigned group = w % 2, members = (warps + 1 - group) / 2;
    for (unsigned k = 0; k < 3 + group * 2; ++k) {
        if (lane == k) totals[w][k & 1] = acc & 255;
        meet(1 + group, members);
        for (unsigned j = group; j < warps; j += 2) acc += tile[0][(totals[j][k & 1] + lane * k) & 511];
        meet(1 + group, members);
        if (group && k == 4 && w % 4 == 3) { out[mine] = acc + noise; return; }
        if (loose[(t + k * 7) & 255] & 1) noise += tile[1][(lane * 16 + k) & 511];
    }
    if (__syncthreads_or(acc % 5 == 0)) acc += tile[0][(lane * 33) % (33 * 16)];
    else acc += product[1][lane * 4];
    out[mine] = acc + noise + (unsigned)(f > 0);
}
