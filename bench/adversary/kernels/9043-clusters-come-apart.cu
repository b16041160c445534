// launch 2 32 n=1 cluster=2
// launch 2 96 n=2 cluster=1
// launch 4 20 n=0 cluster=2
// Cluster barriers on two paths of a branch; elections, reductions and votes on its paths.
extern "C" __global__ void k9043(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0, r;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    if ((l ^ n) & 1) { acc += s[(l * 2) & 1023]; asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory"); s[(l * 3) & 1023] = acc; }
    else { s[(l * 4) & 1023] = 1; asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory"); acc += s[(l * 8) & 1023]; }
    acc += s[(l * 5) & 1023];
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    if (l % 3 == 0) { s[(l * 6) & 1023] = acc; asm volatile("barrier.cluster.wait;" ::: "memory"); acc += s[(l * 7) & 1023]; }
    else asm volatile("barrier.cluster.wait;" ::: "memory");
    acc += s[(l * 9) & 1023];
    __syncthreads();
    if (l & 2) { unsigned here = __activemask(); asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(here)); acc += s[(l * 2 + r) & 1023]; }
    else { acc += __reduce_min_sync(__activemask(), l) + s[(l * 4) & 1023]; s[(l * 3) & 1023] = __ballot_sync(__activemask(), l & 4); }
    acc += s[(l * 10) & 1023];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    acc += s[(l * 11) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
