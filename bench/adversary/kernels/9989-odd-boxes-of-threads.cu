// launch 2 7x5x3 n=5
// launch 2x2 9x3x2 n=12
// launch 1 33x2x1 n=7
// launch 1x1x2 3x11x5 n=2
// A 3-D stencil in a block of odd sides: halos by a switch that falls through (face, edge, corner), a tile whose pitch n picks, lambdas and templates for words, halves and bytes, a sweep of z whose depth is by lane, and transposed reads.
template <class T, unsigned Shift> struct Box {
    T* cells;
    unsigned px, py;
    __device__ __forceinline__ T& at(unsigned x, unsigned y, unsigned z) const { return cells[((z * py + y) * px + x) << Shift]; }
};
template <class B, class F> __device__ __forceinline__ unsigned around(const B& box, unsigned x, unsigned y, unsigned z, F&& take) {
    unsigned acc = 0;
    #pragma unroll
    for (int d = -1; d <= 1; d += 2) {
        acc += take(box.at(x + d, y, z), 0u);
        acc += take(box.at(x, y + d, z), 1u);
        acc ^= take(box.at(x, y, z + d), 2u);
    }
    return acc;
}

extern "C" __global__ void k9989(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(16) unsigned words[1024];
    __shared__ unsigned short shorts[2048];
    __shared__ alignas(16) unsigned char bytes[1024];
    const unsigned X = blockDim.x, Y = blockDim.y, Z = blockDim.z, x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const unsigned t = (z * Y + y) * X + x, all = X * Y * Z, lane = t & 31, block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const Box<unsigned, 0> w = {words, X + 2 + (n & 1), Y + 2};
    const Box<unsigned short, 1> h = {shorts, X + 2, Y + 2 + (n >> 1 & 1)};
    const Box<unsigned char, 0> b = {bytes, X + 3, Y + 2};
    for (unsigned i = t; i < 2048; i += all) { shorts[i] = i; if (i < 1024) { words[i] = i; bytes[i] = i * 3; } }
    __syncthreads();
    const unsigned own = src[(t * 3 + n * 31 + block * 200) & 4095];
    auto put = [&](unsigned px, unsigned py, unsigned pz, unsigned v) {
        w.at(px, py, pz) = v;
        h.at(px, py, pz) = v * 5;
        if (v & 2) b.at(px, py, pz) = v >> 1;
    };
    put(x + 1, y + 1, z + 1, own);
    const unsigned sx = x == 0 ? 0 : X + 1, sy = y == 0 ? 0 : Y + 1, sz = z == 0 ? 0 : Z + 1;
    const bool ex = x == 0 || x == X - 1, ey = y == 0 || y == Y - 1, ez = z == 0 || z == Z - 1;
    switch (ex + 2 * ey + 4 * ez) {
        case 7: put(sx, sy, sz, own ^ 1);
        case 6: if (ey && ez) put(x + 1, sy, sz, own + 1);
        case 5: if (ex && ez) put(sx, y + 1, sz, own + 2);
        case 4: if (ez) put(x + 1, y + 1, sz, own + 3);
        case 3: if (ex && ey) put(sx, sy, z + 1, own + 4);
        case 2: if (ey) put(x + 1, sy, z + 1, own + 5);
        case 1: if (ex) put(sx, y + 1, z + 1, own + 6);
        default: break;
    }
    __syncthreads();
    unsigned acc = 0;
    const unsigned sweeps = 1 + n % 3;
    for (unsigned s = 0; s < sweeps; s++) {
        unsigned sum = around(w, x + 1, y + 1, z + 1, [&](unsigned v, unsigned axis) { return v >> axis; });
        if ((own >> s) & 1) sum += around(h, x + 1, y + 1, z + 1, [](unsigned v, unsigned axis) { return v * (axis + 1); });
        else if ((x + y) % 3 == s) sum ^= around(b, x + 1, y + 1, z + 1, [=](unsigned v, unsigned axis) { return axis == s ? v : 1u; });
        for (unsigned d = 0, depth = 1 + __clz(own | 1) % (Z + 1); d < depth; d++) {
            sum += w.at(x + 1, y + 1, d);
            if (h.at(x, Y + 1 - y, d + 1) % 4 == 3) continue;
            sum = sum * 3 + b.at(x + (sum & 1), y + 1, d);
            if (sum % 11 == 10) break;
        }
        acc += sum;
        __syncthreads();
        w.at(x + 1, y + 1, z + 1) = sum & 1023;
        if (lane % (3 + s) == 0) h.at(x + 1, y + 1, z + 1) = sum;
        __syncthreads();
    }
    const unsigned turned = (x * Z + z) * Y + y;
    acc += words[turned] + shorts[turned * 2 + 1] + bytes[turned * 4 & 1023];
    const unsigned long long* const wide = (const unsigned long long*)words;
    if ((y ^ z) & 1) acc += (unsigned)(wide[(t * Z) & 511] >> 16);
    else if (x & 1) acc += ((const uint4*)bytes)[(t * Y) & 63].z;
    out[(block * all + t) & 4095] = acc;
}
