// launch 2 64 n=3
// launch 3 5x8x3 n=5
// launch 1 40 n=2
// launch 4x2 8x13 n=9
// Persistent loops with unlike trips by block, halos with reflected (negative) borders, a padded transpose, tiles of
// eight and binary partitions of them, sums by atomics that are addresses, int4/double2 at odd strides.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9840(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ int halo[18][19];
  __shared__ __align__(16) int4 wide[256];
  __shared__ unsigned part[64], s[1024];
  __shared__ unsigned short turn[32][33];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile8 = cg::tiled_partition<8>(block);
  unsigned nt = block.size(), t = block.thread_rank(), acc = 0;
  unsigned bid = blockIdx.x + gridDim.x * blockIdx.y, blocks = gridDim.x * gridDim.y;
  for (unsigned i = t; i < 1024; i += nt) s[i] = i * 5;
  for (unsigned i = t; i < 256; i += nt) wide[i] = make_int4(i, -(int)i, i * i, ~i);
  for (unsigned i = t; i < 64; i += nt) part[i] = i;
  for (unsigned i = t; i < 32 * 33; i += nt) ((unsigned short*)turn)[i] = (unsigned short)i;
  block.sync();
  int4* mid = wide + 128;
  for (int tile = bid; tile < (int)(n * 3 + 1); tile += blocks) {
    int tx = tile % 3 - 1, ty = (tile - 4) / 3;
    for (unsigned i = t; i < 18 * 18; i += nt) {
      int r = i / 18, c = i - r * 18, gx = tx * 16 + c - 1, gy = ty * 16 + r - 1;
      gx = gx < 0 ? -gx - 1 : gx > 20 ? 41 - gx : gx;
      gy = gy % 24;
      halo[r][c] = gy < 0 ? gy - gx : gy * 5 + gx * 3;
    }
    block.sync();
    for (unsigned i = t; i < 256; i += nt) {
      unsigned r = (i >> 4) + 1, c = (i & 15) + 1;
      int lap = halo[r - 1][c] + halo[r + 1][c] + halo[r][c - 1] + halo[r][c + 1] - 4 * halo[r][c];
      turn[i & 15][i >> 4] = (unsigned short)lap;
      if (lap != 0) acc += s[(lap >> 1) & 1023];
      atomicAdd(&part[(i * 3 + tile) & 63], (unsigned)(lap & 15));
    }
    block.sync();
    unsigned p = part[(t * 2) & 63];
    acc += s[(p * 4 + t) & 1023] + s[(int)(short)turn[t & 15][(t >> 4) & 15] & 1023];
    int v = tile8.shfl_xor((int)(p + t), 1 + (tile & 6)) + tile8.shfl(tile, t & 3);
    acc += s[(v * 2) & 1023] + s[(tile8.ballot(v & 1) * (tile8.meta_group_rank() + 1)) & 1023];
    cg::coalesced_group half = cg::binary_partition(tile8, ((t * 5 + tile) & 6) > 2);
    acc += s[(half.thread_rank() * 32 + half.size() + half.shfl(t, half.size() - 1) * 8) & 1023];
    int4 q = mid[(int)((t * 5) & 127) - 128 + (tile & 1)];
    acc += s[q.y & 1023] + (unsigned)(q.x + q.z);
    block.sync();
  }
  double2 d = ((double2*)wide)[(t * 3) & 255];
  long long bits = __double_as_longlong(d.x);
  acc += s[(int)(bits >> 32) & 1023] + s[(unsigned)(__double_as_longlong(d.y) >> 31) & 1023];
  acc += (unsigned)((long long*)wide)[(t * 7 + 1) & 511] + ((volatile unsigned char*)turn)[(t * 66 + 3) & 1023];
  out[(bid * nt + t) & 1023] = acc;
}
