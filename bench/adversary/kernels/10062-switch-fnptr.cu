// launch 2 96 n=9
// launch 1 80 n=16
// launch 2 48 n=5 cluster=2
// a small byte-code interpreter: switch with fall-through per lane, then a table of function pointers called by divergent and by warp-uniform index
struct Rec { unsigned short a; unsigned short b; float w; };
__shared__ float4 quad[128];
__shared__ Rec recs[256];
__shared__ unsigned short half_[512];
typedef unsigned (*op_t)(unsigned, unsigned);
static __device__ __noinline__ unsigned op_quad(unsigned t, unsigned k)
{
    float4 q = quad[(t * 3 + k) & 127];
    return (unsigned)(q.x + q.w);
}
static __device__ __noinline__ unsigned op_rec(unsigned t, unsigned k)
{
    Rec r = recs[(t ^ (k * 9)) & 255];
    recs[(t + k * 16) & 255].w = r.w + 1.0f;
    return r.a;
}
static __device__ __noinline__ unsigned op_half(unsigned t, unsigned k)
{
    unsigned sum = 0;
    for (unsigned j = 0; j <= (k & 3); ++j)
        sum += half_[(t * 2 + j * 64 + (t >> 4)) & 511];
    return sum;
}
static __device__ __noinline__ unsigned op_both(unsigned t, unsigned k)
{
    if (t & 4) return op_quad(t >> 1, k);
    return op_half(t, k + 1) + recs[t & 255].b;
}
__device__ op_t table[4] = { op_quad, op_rec, op_half, op_both };
extern "C" __global__ void k10062(unsigned* out, const unsigned* src, unsigned n, float f)
{
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < 512; i += blockDim.x) {
        half_[i] = (unsigned short)src[i];
        if (i < 256) { recs[i].a = i; recs[i].b = i ^ 85; recs[i].w = f * i; }
        if (i < 128) quad[i] = make_float4(i, f, i * f, 2.0f);
    }
    __syncthreads();
    unsigned acc = 0;
    for (unsigned pc = 0; pc < n; ++pc) {
        const unsigned code = (t / 3 + pc * 5 + (t & pc)) % 7;
        switch (code) {
        case 0:
            acc += half_[(t * 33 + pc) & 511];
            // fall through
        case 1:
            acc += recs[(t * 2 + pc) & 255].b;
            break;
        case 2:
            quad[(t + pc) & 127].y = (float)acc;
            // fall through
        case 3:
        case 5:
            acc ^= (unsigned)recs[(t * 5) & 255].w;
            if (code == 5) break;
            half_[(t + pc * 4) & 511] = (unsigned short)acc;
            break;
        case 6:
            if (t & 1) continue;
            acc += (unsigned)quad[t & 127].z;
        default:
            break;
        }
        acc += table[(t >> 2) & 3](t, pc);                      // differs within a warp
        acc += table[((t >> 5) + pc + blockIdx.x) & 3](t, pc);  // the same for a warp (less those that continued)
    }
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
