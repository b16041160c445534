// launch 1 48 n=4
// launch 2 32x5 n=7
// launch 4 70 n=2
// struct arrays of 12, 20 and 36 bytes, struct memcpy (aligned and at odd byte offsets), an 8-byte union stored whole and read as 4/2/1 bytes whose value is an index, dynamic component selection
#include <cstring>
struct P12 { float x, y, z; };
struct P20 { unsigned a[5]; };
struct P36 { unsigned short h[6]; unsigned char b[8]; float g[4]; };
union U { uint2 v2; unsigned w[2]; unsigned short h[4]; unsigned char b[8]; };

extern "C" __global__ void k10074(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ P12 p12[256];
  __shared__ P20 p20[128];
  __shared__ P36 p36[96];
  __shared__ __align__(8) U un[256];
  __shared__ unsigned char raw[5 * 256 + 16];
  const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y;
  const unsigned bd = blockDim.x * blockDim.y;
  for (unsigned i = tid; i < 256; i += bd) {
    P12 t; t.x = f * i; t.y = (float)src[i]; t.z = f;
    p12[i] = t;
    U u; u.h[0] = (unsigned short)(i * 3); u.h[1] = (unsigned short)(i ^ 85);
    u.h[2] = (unsigned short)(i << 1); u.b[6] = (unsigned char)(255 - i); u.b[7] = (unsigned char)(i >> 2);
    un[i].v2 = u.v2;
    unsigned v = i * 0x01010101u;
    memcpy(raw + 5 * i + 1, &v, 4);
  }
  for (unsigned i = tid; i < 128; i += bd) {
    P20 t;
#pragma unroll
    for (int j = 0; j < 5; ++j) t.a[j] = i + j * 40;
    memcpy(&p20[i], &t, sizeof t);
  }
  for (unsigned i = tid; i < 96; i += bd) {
    P36 t;
#pragma unroll
    for (int j = 0; j < 6; ++j) t.h[j] = (unsigned short)(i * 2 + j);
#pragma unroll
    for (int j = 0; j < 8; ++j) t.b[j] = (unsigned char)(i + j * 11);
#pragma unroll
    for (int j = 0; j < 4; ++j) t.g[j] = f + j;
    p36[i] = t;
  }
  __syncthreads();

  unsigned acc = 0;
  for (unsigned k = 0; k < n; ++k) {
    const U* u = &un[(tid * 7 + k) & 255];
    unsigned i0 = u->h[k & 3] & 255;                  // u16 read of an 8-byte store, as an index
    unsigned i1 = u->b[(k + tid) & 7];                // u8 read, component differs per lane
    acc += __float_as_uint(p12[i0].y) ^ __float_as_uint((&p12[i1].x)[k % 3]);
    unsigned i2 = p20[i1 & 127].a[(k + (tid >> 3)) % 5];   // < 127 + 160 + 1
    acc += u->w[i2 & 1] + p36[i2 % 96].h[(k + tid) % 6];
    acc ^= __float_as_uint(p36[(tid * 5 + k) % 96].g[i0 & 3]);
    acc += p36[tid % 96].b[i2 & 7];
  }
  P36 whole;
  memcpy(&whole, &p36[(95 * tid + n) % 96], sizeof whole);
  P12 m = p12[(tid * 9) & 255];
  unsigned v;
  memcpy(&v, raw + 5 * ((tid * 3) & 255) + 1, 4);
  acc += whole.h[1] + whole.b[5] + __float_as_uint(whole.g[2]) + __float_as_uint(m.x + m.y * m.z) + v;
  __syncthreads();
  // update in place: only some fields, some lanes
  if ((tid & 3) != 1) p20[tid & 127].a[tid % 5] += acc;
  if (tid & 2) atomicAdd(&p12[(tid * 3) & 255].z, f);   // may wrap onto nobody else: 3 is odd
  out[(blockIdx.x * 256 + tid) & 4095] = acc;
}
