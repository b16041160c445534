// launch 1 96 n=1
// launch 2 96 n=3
// cub::BlockExchange of seven and four items, with time slices: striped, by warps, scattered by computed ranks and with guards.
#include <cub/block/block_exchange.cuh>
extern "C" __global__ void k9138(unsigned* out, const unsigned* src, unsigned n, float f) {
    using Seven = cub::BlockExchange<unsigned, 96, 7>;
    using Sliced = cub::BlockExchange<unsigned short, 96, 4, true>;
    using Wide = cub::BlockExchange<unsigned long long, 96, 3>;
    __shared__ union { typename Seven::TempStorage seven; typename Sliced::TempStorage sliced; typename Wide::TempStorage wide; } temp;
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0, v[7];
    int rank[7];
    for (unsigned k = t; k < 1024; k += 96) s[k] = k;
    for (unsigned k = 0; k < 7; k++) v[k] = src[k * 96 + t];
    __syncthreads();
    Seven(temp.seven).StripedToBlocked(v, v);
    acc += s[(v[0] * n + v[6]) & 1023];
    for (unsigned k = 0; k < 7; k++) rank[k] = (int)(((t * 7 + k) * 5 + n) % 672);
    __syncthreads();
    Seven(temp.seven).ScatterToStriped(v, v, rank);
    acc += s[(v[3] * 2) & 1023];
    for (unsigned k = 0; k < 7; k++) rank[k] = (t + k) % (n + 1) ? (int)(k * 96 + (t ^ 1)) : -1;
    __syncthreads();
    Seven(temp.seven).ScatterToStripedGuarded(v, v, rank);
    acc += v[1] + v[5];
    __syncthreads();
    unsigned short h[4];
    for (unsigned k = 0; k < 4; k++) h[k] = (unsigned short)(t * 4 + k);
    Sliced(temp.sliced).BlockedToWarpStriped(h, h);
    acc += s[(h[1] * 4u + h[2]) & 1023];
    __syncthreads();
    Sliced(temp.sliced).WarpStripedToBlocked(h, h);
    __syncthreads();
    Sliced(temp.sliced).BlockedToStriped(h, h);
    s[(h[3] * 3u) & 1023] = t;
    unsigned long long w[3];
    for (unsigned k = 0; k < 3; k++) w[k] = (unsigned long long)t << 32 | (t * n + k);
    __syncthreads();
    Wide(temp.wide).BlockedToStriped(w, w);
    acc += s[((unsigned)(w[1] >> 32) * 8 + (unsigned)w[2]) & 1023];
    out[(blockIdx.x * 96 + t) & 2047] = acc;
}
