// launch 1 32 n=3
// launch 2 64 n=6
// launch 1 45 n=1
// Pointers to data members and to (virtual) member functions of a diamond, chosen by lane; the adjusted this decides the stride.
struct Top { unsigned top; __device__ virtual unsigned at(unsigned i) { return i * top; } __device__ unsigned flat(unsigned i) { return i + top; } };
struct Left : virtual Top { unsigned left; __device__ unsigned at(unsigned i) override { return i * left + top; } __device__ virtual unsigned lean(unsigned i) { return i * 2 + left; } };
struct Right : virtual Top { unsigned right; __device__ virtual unsigned tilt(unsigned i) { return (i >> 1) * right; } };
struct Low : Left, Right {
    unsigned low;
    __device__ unsigned at(unsigned i) override { return i * low + Left::at(i); }
    __device__ unsigned lean(unsigned i) override { return (i ^ low) * 8; }
    __device__ unsigned own(unsigned i) { return i * (low + right); }
};
struct Plain { unsigned a, b, c, d; };
extern "C" __global__ void k9201(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k * 3 & 63; }
    __syncthreads();
    Low x; x.top = 1; x.left = 2 + (n & 1); x.right = 4; x.low = l & 3;
    unsigned (Low::*way[4])(unsigned) = { &Low::at, &Low::lean, &Low::own, &Low::tilt };
    for (unsigned i = 0; i < 4; i++) {
        unsigned k = (x.*way[(i + (l >> 3)) & 3])(l + i * 32);
        acc += s[k & 1023];
    }
    Plain p = { 1, 5, 16, 33 }, o = { l & 1, l & 7, n, 32 };
    unsigned Plain::*field[] = { &Plain::a, &Plain::b, &Plain::c, &Plain::d };
    unsigned Plain::*mine = field[q[l] & 3];
    s[(t * (p.*mine)) & 1023] = acc;
    for (unsigned i = 0; i < n; i++) {
        unsigned Plain::*turn = i & 1 ? mine : field[i & 3];
        if (o.*turn) acc += s[(l * (o.*turn) + i * 64) & 1023];
    }
    Top* base = l & 4 ? static_cast<Top*>(static_cast<Left*>(&x)) : static_cast<Right*>(&x);
    acc += s[base->at(l) & 1023];
    acc += s[(base->flat(l * 4)) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
