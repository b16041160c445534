// launch 1 96 n=24
// launch 2 48 n=10
// launch 4 8x5x2 n=33
// lanes return before and inside loops, whole warps too; a do-while with two exits and a continue that goes to its condition; __syncwarp over a ballot of those left
extern "C" __global__ void k10063(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ float buf[8][130];
    __shared__ double dbl[128];
    __shared__ unsigned char seen[256];
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned lane = t & 31;
    for (unsigned i = t; i < 8 * 130; i += nt) (&buf[0][0])[i] = (float)(src[i & 4095] & 255);
    for (unsigned i = t; i < 128; i += nt) dbl[i] = i * 0.5;
    for (int i = 255 - (int)t; i >= 0; i -= (int)nt) seen[i] = (unsigned char)(i * 3);
    __syncthreads();
    unsigned id = (blockIdx.x * nt + t) & 4095;
    if (lane % 5 == 4 || (t >> 5) == 1 + blockIdx.x % 3) {
        if (lane & 1) { out[id] = (unsigned)buf[t & 7][lane]; return; }
        if (t > 64) return;
    }
    unsigned mask = __ballot_sync(0xffffffffu, lane < 27);
    if (lane >= 27) { out[id] = seen[(lane * 8) & 255]; return; }
    float acc = 0.0f;
    for (unsigned i = 0; i < n; ++i) {
        acc += buf[i & 7][(lane * 4 + i) % 130];
        if (i == ((lane * 3) & 31) + 4) { out[id] = (unsigned)acc; dbl[lane * 4 & 127] = acc; return; }
        if (i < 4) { __syncwarp(mask); acc += buf[(i + lane) & 7][lane]; }
    }
    unsigned k = lane;
    unsigned trips = 0;
    do {
        ++trips;
        k = k * 5 + 3;
        if ((k & 7) == 2) continue;
        acc += (float)dbl[k & 127];
        if ((k & 31) == 17) break;
        seen[(k + trips) & 255] = (unsigned char)k;
        if (trips > 12 && (lane & 3) == 1) { acc *= f; return; }
    } while (trips < n && trips < 20 + (lane >> 2));
    buf[trips & 7][lane * 2] = acc;
    out[id] = (unsigned)acc + trips;
}
