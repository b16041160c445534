// launch 3 112 n=14 shared=6144
// launch 1 80 n=5 shared=6144
// launch 4 96 n=31 shared=6144 cluster=2
// a persistent loop over tiles with a stride of gridDim and a double buffer in dynamic shared memory; warps have roles that rotate; short-circuit conditions that themselves read shared memory; predicated accesses
extern __shared__ __align__(16) unsigned char dyn[];
extern "C" __global__ void k10069(unsigned* out, const unsigned* src, unsigned n, float f)
{
    uint4* const stage[2] = { reinterpret_cast<uint4*>(dyn), reinterpret_cast<uint4*>(dyn + 2048) };
    unsigned* const keys = reinterpret_cast<unsigned*>(dyn + 4096);       // 256
    unsigned char* const bytes = dyn + 4096 + 1024;                       // 1024
    const unsigned t = threadIdx.x, lane = t & 31, w = t >> 5, warps = (blockDim.x + 31) / 32;
    for (unsigned i = t; i < 256; i += blockDim.x) { keys[i] = src[(i * 3) & 4095] & 255; reinterpret_cast<unsigned*>(bytes)[i] = i * 0x01030507u; }
    for (unsigned i = t; i < 256; i += blockDim.x) reinterpret_cast<uint4*>(dyn)[i] = make_uint4(i, 0, 0, i);
    __syncthreads();
    unsigned acc = 0, buf = 0;
    for (unsigned tile = blockIdx.x; tile < n; tile += gridDim.x, buf ^= 1) {
        const unsigned role = (w + tile) % warps;
        if (role == 0) {
            for (unsigned i = lane; i < 100 + (tile & 7); i += 32) stage[buf][i & 127] = make_uint4(tile, i, src[(tile * 64 + i) & 4095], lane);
        } else if (role == 1 && (tile & 1)) {
            const unsigned short* h = reinterpret_cast<const unsigned short*>(bytes);
            for (unsigned i = 0; i < 6; ++i) acc += h[(lane * (i + tile) + i) & 511];
        } else {
            const uint2* old = reinterpret_cast<const uint2*>(stage[buf ^ 1]);
            uint2 v = old[(lane * 2 + role + tile) & 255];
            acc += v.x + v.y;
        }
        // each condition reads only where the ones before let it
        if (keys[(t + tile) & 255] < 128 && (bytes[(t * 4 + tile) & 1023] & 1) == 0
            && (keys[(t * 2) & 255] > 60 || bytes[(t * 9 + tile * 32) & 1023] > 100))
            acc += keys[(lane * 8 + w) & 255];
        unsigned y = lane < (tile & 31) ? keys[(lane * 16 + tile) & 255] : 0;
        y += (t & 2) ? bytes[(t * 3) & 1023] : (t & 4) ? bytes[(t * 16) & 1023] : 0;
        acc += y;
        __syncthreads();
        if (w == tile % 3 && lane % 3 == 0) stage[buf][(lane * 3) & 127].z = acc;
        __syncthreads();
    }
    if (blockIdx.x + gridDim.x < n) acc += reinterpret_cast<float*>(stage[buf])[(t * 5) & 511] > f;
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
