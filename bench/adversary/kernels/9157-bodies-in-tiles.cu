// launch 1 32 n=2
// launch 1 64 n=3
// launch 2 50 n=2
// n-body: tiles of four and of three floats, read at the same or at rotated places, close pairs counted in cells; positions are exact.
struct Body { float x, y, z; };
extern "C" __global__ void k9157(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) float4 four[64];
    __shared__ Body three[64];
    __shared__ unsigned cells[8 * 9], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, close = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 72; k += size) cells[k] = 0;
    Body own = {(float)(src[t * 7] & 31), (float)(src[t * 3] * 5 & 31), (float)(t & 7)};
    float fx = 0.0f, fy = 0.0f, mass = 0.0f;
    for (unsigned tile = 0; tile < n; tile++) {
        unsigned i = tile * size + t;
        four[t] = make_float4((float)(src[i * 7 & 2047] & 31), (float)(src[i * 3 & 2047] * 5 & 31), (float)(i & 7), (float)(1 + i % 3));
        three[t] = Body{four[t].y, four[t].x, f * 2.0f * (float)tile};
        __syncthreads();
        for (unsigned j = 0; j < size; j++) {
            float4 b = four[j];
            float dx = b.x - own.x, dy = b.y - own.y, dz = b.z - own.z, d = dx * dx + dy * dy + dz * dz;
            if (d > 0.0f && d < 20.0f) {
                close++;
                atomicAdd(&cells[((unsigned)b.x >> 2) * 9 + ((unsigned)b.y >> 2)], 1u);
                mass += b.w;
            }
            fx += dx * b.w * rsqrtf(d + 1.0f);
        }
        for (unsigned j = 0; j < size; j += 3) {
            Body b = three[(t + j) % size];
            fy += b.y - own.y + b.z;
            if (b.x == own.y) s[((unsigned)b.x * 32 + j) & 1023] = tile;
        }
        __syncthreads();
    }
    acc += s[(close * 4 + t) & 1023] + s[(unsigned)(int)mass * t & 1023];
    acc += s[(unsigned)(int)fy & 1023];
    acc += s[(cells[t % 72] * 8 + cells[(t * 9) % 72]) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc + __float_as_uint(fx);
}
