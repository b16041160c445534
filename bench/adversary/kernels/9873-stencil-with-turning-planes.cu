// launch 1 5x7x3 n=4
// launch 2 16x4x2 n=6
// launch 1 33x3 n=5
// launch 1 3x2x16 n=7
// 3-D star stencil: pointers to three shared planes rotate each trip (a swap of registers, no modulo), a register
// queue of 2R+1 values rotates too, the pitch is a run-time sum, halo threads wrap round by signed arithmetic; radius
// and padding by template
template <int R, int PAD> struct Stencil {
  int bx, by, pitch, tx, ty;
  float* plane[3];
  float q[2 * R + 1];
  __device__ Stencil(float* m, int tz) : bx(blockDim.x), by(blockDim.y), tx(threadIdx.x), ty(threadIdx.y) {
    pitch = bx + 2 * R + PAD;
    int size = pitch * (by + 2 * R);
    for (int i = 0; i < 3; ++i) plane[i] = m + (tz * 3 + i) * size;
    for (int i = 0; i <= 2 * R; ++i) q[i] = (float)i;
  }
  __device__ float* cell(int p, int y, int x) { return plane[p] + (y + R) * pitch + x + R; }
  __device__ void turn(float v) {
    float* x = plane[0];
    plane[0] = plane[1]; plane[1] = plane[2]; plane[2] = x;
#pragma unroll
    for (int i = 0; i < 2 * R; ++i) q[i] = q[i + 1];
    q[2 * R] = v;
    *cell(2, ty, tx) = v;
    if (tx < R) *cell(2, ty, tx - R) = v + 1;
    else if (tx >= bx - R) *cell(2, ty, tx + R) = v + 2;
    if (ty < R) *cell(2, ty - R, tx) = v - 1;
    if (ty + R >= by) *cell(2, ty + R, bx - 1 - tx) = v - 2;      // mirrored
  }
  __device__ float sum(float f) {
    float s = q[R] * f;
#pragma unroll
    for (int r = 1; r <= R; ++r) {
      s += *cell(1, ty, tx - r) + *cell(1, ty, tx + r);
      s += *cell(1, ty - r, tx) - *cell(1, ty + r, tx);
      s += q[R - r] - q[R + r];
    }
    return s;
  }
};

template <int R, int PAD>
__device__ float sweep(float* m, const unsigned* src, int depth, float f, unsigned t) {
  Stencil<R, PAD> st(m, threadIdx.z);
  int z0 = threadIdx.z * depth;
  float total = 0;
  for (int k = 0; k < 2; ++k) { st.turn((float)((t * 3 + k) & 63)); }
  __syncthreads();
#pragma unroll 1
  for (int z = 0; z < depth; ++z) {
    st.turn((float)(src[(z0 + z + t) & 1023] & 255));
    __syncthreads();
    float s = st.sum(f);
    int lean = __float2int_rd(s * 0.125f);
    if ((z + (int)threadIdx.z) % 3 == 1) s += *st.cell(0, st.by - 1 - st.ty, st.tx);
    lean = ((lean % 3) + 3) % 3 - 1;                                 // -1, 0, 1 of a negative number
    s -= *st.cell(2, st.ty, (st.tx + lean + st.bx) % st.bx);
    total = fmaf(total, 0.5f, s);
    __syncthreads();
  }
  return total;
}

extern "C" __global__ void k9873(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ float m[4096];
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned nt = blockDim.x * blockDim.y * blockDim.z;
  float r;
  if (n & 1) r = sweep<1, 2>(m, src, n, f, t);
  else r = sweep<2, 1>(m, src, n, f, t);
  out[(blockIdx.x * nt + t) & 1023] = __float_as_uint(r);
}
