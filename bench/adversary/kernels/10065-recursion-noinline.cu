// launch 1 96 n=5
// launch 2 48 n=3
// launch 1 16x3x2 n=6
// recursion over a tree of 12-byte nodes in shared memory, called by some lanes, of a depth that differs by lane; mutual recursion; one noinline function called from three divergent places
struct Node { unsigned key; unsigned short left, right; float w; };
__shared__ Node tree[128];
__shared__ unsigned stk[512];
static __device__ __noinline__ unsigned touch(unsigned i, unsigned d)
{
    unsigned v = stk[(i * 4 + d) & 511];
    if (d & 1) stk[(i + d * 33) & 511] = i;
    return v & 1;
}
static __device__ __noinline__ unsigned walk(unsigned node, unsigned want, int depth)
{
    if (depth == 0 || node >= 127) return depth;
    const Node nd = tree[node];
    if (nd.key == want) return touch(want, depth) + 100;
    if (nd.key > want) return walk(nd.left, want, depth - 1) + 1;
    return walk(nd.right, want, depth - 1) + 2;
}
static __device__ unsigned odd(unsigned i, unsigned d);
static __device__ __noinline__ unsigned even(unsigned i, unsigned d)
{
    if (d == 0) return touch(i, 0);
    unsigned r = stk[(i * 2 + d * 8) & 511] & 3;
    if (i & d) r += odd(i >> 1, d - 1);
    r += odd(i + 1, d - 1);
    return r;
}
static __device__ __noinline__ unsigned odd(unsigned i, unsigned d)
{
    if (d == 0) return 1;
    tree[i & 127].w = (float)d;
    return even(i * 3, d - 1) + touch(i, d);
}
extern "C" __global__ void k10065(unsigned* out, const unsigned* src, unsigned n, float f)
{
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (unsigned i = t; i < 128; i += nt) {
        // a full search tree of 127 nodes, in heap order: the key is the node's in-order place
        const unsigned level = 31 - __clz(i + 1), within = i + 1 - (1u << level);
        tree[i].key = ((2 * within + 1) << (6 - (level > 6 ? 6 : level))) - 1;
        tree[i].left = (unsigned short)(2 * i + 1);
        tree[i].right = (unsigned short)(2 * i + 2);
        tree[i].w = f;
    }
    for (unsigned i = t; i < 512; i += nt) stk[i] = src[i];
    __syncthreads();
    unsigned acc = 0;
    if (t % 3 != 1) acc += walk(0, (t * 11) % 127, (int)n + 1);
    else acc += touch(t, n);
    if ((t & 31) > 20) acc += walk(t & 3, t, (int)(t & 7));
    __syncthreads();
    acc += t & 8 ? even(t, (n < 4 ? n : 4) - (t & 1)) : odd(t, t & 3);
    __syncthreads();
    out[(blockIdx.x * nt + t) & 4095] = acc + (unsigned)tree[(t * 5) & 127].w;
}
