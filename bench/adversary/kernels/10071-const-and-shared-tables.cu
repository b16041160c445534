// launch 2 96 n=5
// launch 1 48 n=3
// launch 4 250 n=6
// indices come from __constant__ tables (lane-indexed, byte/short/struct) and from a shared u16 table filled in reverse by other warps; trip count from a constant table per block
struct Tap { short off; unsigned char mul; unsigned char sh; };
__constant__ unsigned char c_perm[64] = {
  0,17,34,51,4,21,38,55,8,25,42,59,12,29,46,63,1,16,35,50,5,20,39,54,9,24,43,58,13,28,47,62,
  2,19,32,49,6,23,36,53,10,27,40,57,14,31,44,61,3,18,33,48,7,22,37,52,11,26,41,56,15,30,45,60};
__constant__ unsigned short c_stride[8] = {1, 2, 33, 8, 16, 31, 4, 64};
__constant__ Tap c_taps[6] = {{0,1,0},{-32,2,1},{7,4,2},{64,1,3},{-129,8,0},{15,3,1}};
__constant__ int c_trips[4] = {2, 6, 1, 4};

extern "C" __global__ void k10071(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(16) unsigned data[512];
  __shared__ unsigned short idx[256];
  __shared__ unsigned hist[40];
  __shared__ unsigned char order[64];
  const unsigned tid = threadIdx.x, bd = blockDim.x;
  for (unsigned i = tid; i < 512; i += bd) data[i] = src[(i + blockIdx.x * 13) & 4095];
  for (unsigned i = tid; i < 256; i += bd)
    idx[255 - i] = (unsigned short)((i * c_stride[(i >> 3) & 7] + blockIdx.x) & 511);
  if (tid < 40) hist[tid] = 0;
  for (unsigned i = tid; i < 64; i += bd) order[c_perm[i]] = (unsigned char)i;
  __syncthreads();

  unsigned acc = 0;
  unsigned base = idx[tid & 255];                       // written by another warp
  const int trips = c_trips[blockIdx.x & 3];
  for (int t = 0; t < trips; ++t) {
    Tap tp = c_taps[t];
    unsigned a = (base * tp.mul + (unsigned)(int)tp.off) >> tp.sh;
    acc += data[a & 511];
  }
  for (unsigned k = 0; k < n; ++k) {
    unsigned p = c_perm[(tid * 3 + k) & 63];            // lane-varying constant load
    unsigned o = order[p];                              // inverse permutation from shared bytes
    acc ^= data[(o * c_stride[k & 7]) & 511];
    // known keys for the histogram: only some of the lanes
    if ((p ^ o) & 1) atomicAdd(&hist[(c_perm[tid & 63] + k) % 37], 1u);
  }
  __syncthreads();
  // counts are deterministic: used as an index
  unsigned h = hist[tid % 37];
  float2 v = reinterpret_cast<float2*>(data)[(h * 5 + tid) & 255];
  acc += __float_as_uint(v.x * f) ^ __float_as_uint(v.y);
  out[(blockIdx.x * 256 + tid) & 4095] = acc;
}
