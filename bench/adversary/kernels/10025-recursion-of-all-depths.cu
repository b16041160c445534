// launch 2 64 n=700
// launch 1 96 n=6
// launch 1 4x10x2 n=1
// Recursion whose depth is by lane and by data, with a loop in each frame, an early return before the call, a second call by some lanes, and mutual recursion; rows are by depth or by the count of calls, so frames of other depths conflict.
__shared__ unsigned tab[32 + 31 * 80];
__shared__ unsigned trail[24 * 159];
__device__ __noinline__ unsigned odd(unsigned lane, unsigned depth, unsigned v);
__device__ __noinline__ unsigned even(unsigned lane, unsigned depth, unsigned v) {
    unsigned acc = tab[lane + 31 * depth];
    if (depth >= 9 || v == 0) return acc + 1;
    if (v & 1) acc += odd(lane, depth + 1, v >> 1);
    else acc ^= even(lane, depth + 1, v >> 1);
    return acc + tab[lane + 31 * (depth + 5)];
}
__device__ __noinline__ unsigned odd(unsigned lane, unsigned depth, unsigned v) {
    unsigned acc = v;
    for (unsigned i = 0; i < 1 + ((v + lane) & 3); i++) {
        acc += tab[lane + 31 * (depth + i)];
        if ((v >> i) % 3 == 2) return acc;
    }
    return depth < 8 ? even(lane, depth + 1, v * 5 & 255) + acc : acc;
}
__device__ __noinline__ unsigned tree(unsigned t, unsigned depth, unsigned most, unsigned& calls) {
    const unsigned lane = t & 31, call = calls++;
    trail[depth * 159 + t] = call;
    unsigned acc = tab[lane + 31 * call];
    if (depth >= most) return acc;
    acc += tree(t, depth + 1, most, calls);
    acc ^= trail[depth * 159 + t] << 3;
    if ((lane + call) % 3 == 0) return acc + 5;
    acc += tab[lane + 31 * (depth + 40)];
    if (calls < 30) acc += 3 * tree(t, depth + 2, most, calls);
    return acc;
}

extern "C" __global__ void k10025(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y * blockDim.z, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 80; i += all) tab[i] = i * 9;
    for (unsigned i = t; i < 24 * 159; i += all) trail[i] = 0;
    __syncthreads();
    const unsigned own = src[(t * 7 + n) & 4095];
    unsigned calls = 0, acc = tree(t, 0, 1 + lane % 5, calls);
    acc += tab[lane + 31 * calls];
    if (own & 2) acc += even(lane, 0, own);
    acc += odd(lane, lane & 1, own >> 2);
    if (lane % 3 == 1) acc ^= tree(t, 6, 7 + (own & 3), calls);
    acc += tab[lane + 31 * calls];
    __syncthreads();
    acc += trail[159 + (t ^ 1) % all] + tab[lane];
    out[(blockIdx.x * all + t) & 4095] = acc;
}
