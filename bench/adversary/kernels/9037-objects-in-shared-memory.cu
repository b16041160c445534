// launch 1 32 n=1
// launch 1 64 n=2
// Objects with virtual functions in shared and local memory, chosen by lane; lambdas; functions passed as arguments.
struct Shape { unsigned k; __device__ Shape(unsigned k) : k(k) {} __device__ virtual unsigned area(unsigned* s, unsigned t) { return s[(t * k) & 1023]; } __device__ virtual void mark(unsigned* s, unsigned t) { s[(t + k) & 1023] = k; } };
struct Wide : Shape { unsigned w; __device__ Wide(unsigned k, unsigned w) : Shape(k), w(w) {} __device__ unsigned area(unsigned* s, unsigned t) override { if (t & 1) mark(s, t * w); return s[(t * w + k) & 1023]; } };
struct Deep : Wide { __device__ Deep(unsigned k) : Wide(k, 8) {} __device__ void mark(unsigned* s, unsigned t) override { for (unsigned i = 0; i < (t & 3); i++) s[(t * 4 + i * 16) & 1023] = i; } };
template <class G> __device__ __noinline__ unsigned apply(G g, unsigned* s, unsigned t) { unsigned v = g(t); s[(v * 2 + t) & 1023] = v; return v; }
extern "C" __global__ void k9037(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; __shared__ __align__(16) unsigned char place[3][32];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    Wide mine(t & 7, 3); Shape own(n);
    if (t == 0) { new ((void*)place[0]) Wide(2, 5); new ((void*)place[1]) Deep(3); }
    __syncthreads();
    Shape* p = t % 3 == 0 ? &own : t % 3 == 1 ? (Shape*)&mine : (Shape*)place[t & 1];
    acc += p->area(s, t);
    Deep deep(n + 1);
    Shape* q = t & 8 ? (Shape*)&deep : p;
    q->mark(s, t);
    acc += q->area(s, t + n);
    acc += apply([=](unsigned x) { return (x * n) & 31; }, s, t);
    acc += apply([&](unsigned x) { return s[(x * 5) & 1023] & 15; }, s, t * 2);
    s[(t * 3) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
