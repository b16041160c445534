// launch 1 64 n=2
// launch 2 96 n=10
// launch 1 70 n=24
// Objects with virtual members, of three sizes and pitches, are built in shared memory, so a lane reads its table's address with a 64-bit load from there; lanes call unlike members, which call one another's; then a visitor by template and a chain of owners, then objects change their class in place.
#include <new>
__shared__ alignas(16) unsigned char room[96 * 56];
__shared__ alignas(8) unsigned field[1056];
struct Shape {
    unsigned seed, kin;
    __device__ Shape(unsigned s, unsigned k) : seed(s), kin(k) {}
    __device__ virtual unsigned step(unsigned x) = 0;
    __device__ virtual unsigned many() const { return 1 + (seed & 3); }
    __device__ virtual bool ends(unsigned x) const { return (x & 7) == (seed & 7); }
};
__device__ Shape* find(unsigned i, unsigned pitch) { return reinterpret_cast<Shape*>(room + i * pitch); }
struct Line : Shape {
    unsigned stride;
    __device__ Line(unsigned s, unsigned k, unsigned d) : Shape(s, k), stride(d) {}
    __device__ unsigned step(unsigned x) override {
        for (unsigned i = 0; i < many(); i++) { x += field[(seed + (threadIdx.x & 31) * stride + i * 32) % 1056]; if (ends(x)) break; }
        return x;
    }
};
struct Ring : Shape {
    unsigned turn;
    __device__ Ring(unsigned s, unsigned k, unsigned d) : Shape(s, k), turn(d) {}
    __device__ unsigned many() const override { return 2 + __popc(seed) % 4; }
    __device__ unsigned step(unsigned x) override {
        unsigned at = seed & 1023;
        const uint2* const pairs = (const uint2*)field;
        for (unsigned i = many(); i; i--) { const uint2 v = pairs[(at + turn * i) % 528]; x ^= v.x; at += v.y & 15; }
        return x + at;
    }
};
struct Pair final : Shape {
    unsigned short a, b;
    unsigned long long mark;
    __device__ Pair(unsigned s, unsigned k, unsigned d) : Shape(s, k), a(d), b(s), mark((unsigned long long)s << 32 | k) {}
    __device__ bool ends(unsigned x) const override { return (x ^ a) % 3 == 0; }
    __device__ unsigned step(unsigned x) override;
};
__shared__ unsigned pitch_now;
__device__ unsigned Pair::step(unsigned x) {
    Shape* const other = find(kin, pitch_now);
    x += (unsigned)(mark >> 30) + other->many();
    if (!ends(x)) x += ((const unsigned char*)field)[(x * 5 + b) % 4224];
    else if (kin & 1) x ^= other->ends(x) ? b : other->seed;
    return x;
}
template <class Visit> __device__ __forceinline__ unsigned follow(unsigned i, unsigned pitch, unsigned limit, Visit&& visit) {
    unsigned acc = 0;
    for (unsigned k = 0; k < limit; k++) {
        const Shape* const s = find(i, pitch);
        acc += visit(*s, k);
        if (s->ends(acc)) break;
        i = s->kin;
    }
    return acc;
}
__device__ void build(unsigned i, unsigned pitch, unsigned kind, unsigned seed, unsigned kin) {
    void* const at = room + i * pitch;
    switch (kind % 3) {
        case 0: new (at) Line(seed, kin, 1 + kind / 3 % 5); break;
        case 1: new (at) Ring(seed, kin, 3 + kind / 3 % 4); break;
        default: new (at) Pair(seed, kin, kind);
    }
}

extern "C" __global__ void k9992(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = threadIdx.x, lane = t & 31, size = blockDim.x, pitch = n % 3 == 0 ? 32 : n % 3 == 1 ? 56 : 40;
    for (unsigned i = t; i < 1056; i += size) field[i] = src[(i * 15 + n * 3) & 4095];
    if (t == 0) pitch_now = pitch;
    const unsigned v = src[(t * 43 + n + blockIdx.x * 300) & 4095];
    build(t, pitch, v >> 1, v, (v * 7 + t) % size);
    __syncthreads();
    unsigned acc = t;
    for (unsigned r = 0; r < 4; r++) {
        Shape* const s = find((lane * (1 + r) + acc * (r & 1)) % size, pitch);
        if (r == 2 && (lane & 3) == 1) acc += s->seed;
        else {
            acc = s->step(acc) & 0xffffff;
            if ((acc & 12) == 8) acc += find(s->kin, pitch)->step(acc >> 2);
        }
        __syncwarp();
    }
    acc += follow((t * 5 + 1) % size, pitch, 2 + (lane & 5), [=](const Shape& s, unsigned k) { return s.seed * k + s.many(); });
    if (acc & 1) acc ^= follow(t, pitch, 6, [&](const Shape& s, unsigned k) { return field[(s.seed + s.kin * 33 + k) % 1056]; });
    __syncthreads();
    if ((v ^ lane) & 2) {
        Shape* const mine = find(t, pitch);
        const unsigned seed = mine->seed, kin = mine->kin;
        build(t, pitch, (v >> 1) + 1 + (v & 1), seed * 3 & 1023, (kin + lane) % size);
    }
    __syncthreads();
    unsigned who = acc % size;
    for (unsigned r = 0, trips = 1 + __ffs(acc | 16); r < trips; r++) {
        acc += find(who, pitch)->step(acc & 0xffff);
        who = (find(who, pitch)->kin + (acc & 1)) % size;
    }
    out[(blockIdx.x * size + t) & 4095] = acc;
}
