// Kernels whose addresses need every bit followed: widths, signs, warps cut across rows, lanes that leave, frames.
#define KERNEL(name) extern "C" __global__ void name(char* __restrict__ in, char* __restrict__ out, const int* __restrict__ idx, int n, int s)
#define TID (blockIdx.x * blockDim.x + threadIdx.x)
template <class T> __device__ const T* input(const char* p) { return reinterpret_cast<const T*>(p); }
template <class T> __device__ T* output(char* p) { return reinterpret_cast<T*>(p); }

// Indices that wrap, change their width or their sign before they become addresses.
KERNEL(wide_shift) { output<float>(out)[TID] = *reinterpret_cast<const float*>(in + (long long)(((unsigned long long)TID << 33) >> 31)); }
KERNEL(byte_index) { output<int>(out)[TID] = input<int>(in)[(unsigned char)(TID * n)]; }
KERNEL(short_index) { output<int>(out)[TID] = input<int>(in)[(short)(TID * n) & 1023]; }
KERNEL(wrapping_product) { output<int>(out)[TID] = input<int>(in)[(TID * 0xFFFFFFF1u + n) & 2047]; }
KERNEL(negative_step) { const int* p = input<int>(in) + 2048; int i = -(int)TID * s; output<int>(out)[TID] = p[i]; }
KERNEL(negative_64) { long long i = (long long)TID * -s; output<int>(out)[TID] = input<int>(in)[i + 4096]; }
KERNEL(wraps_within) { unsigned i = TID + 0xFFFFFF00u + n; output<int>(out)[TID] = input<int>(in)[i + 256u]; }
KERNEL(wraps_in_warp) { unsigned i = TID * 4 - n * 4; output<int>(out)[TID] = *reinterpret_cast<const int*>(in + (i >> 20) + (i & 4095)); }
KERNEL(divided) { output<int>(out)[TID] = input<int>(in)[TID / n * s + TID % n]; }
KERNEL(divided_64) { long long i = TID; output<int>(out)[TID] = input<int>(in)[i / n * s + i % n]; }
KERNEL(reversed_bits) { output<int>(out)[TID] = input<int>(in)[__brev(threadIdx.x) >> 24]; }
KERNEL(counted_bits) { output<int>(out)[TID] = input<int>(in)[__popc(TID) * s]; }
KERNEL(square) { int x = threadIdx.x; output<int>(out)[TID] = input<int>(in)[(x * x + n) % 1021]; }
KERNEL(least) { int x = threadIdx.x; output<int>(out)[TID] = input<int>(in)[min(x * s, n)] + input<int>(in)[max(x, n)]; }
KERNEL(through_float) { output<int>(out)[TID] = input<int>(in)[(int)((float)threadIdx.x * 0.75f)]; }

// Blocks whose warps are cut across rows, and lanes that leave.
KERNEL(across_rows) { int x = threadIdx.x, y = threadIdx.y; output<float>(out)[y * s + x] = input<float>(in)[y * n + x]; }
KERNEL(columns) { int x = threadIdx.x, y = threadIdx.y; output<float>(out)[x * s + y] = input<float>(in)[x * n + y]; }
KERNEL(leaves_early) { if (TID % 5 == 1) return; float v = input<float>(in)[TID * s]; if (TID > (unsigned)n) return; output<float>(out)[TID] = v; }
KERNEL(trips_by_lane) { float v = 0; for (unsigned i = 0; i < threadIdx.x % 7; i++) v += input<float>(in)[i * s + TID]; output<float>(out)[TID] = v; }
KERNEL(triangle) { float v = 0; for (unsigned i = threadIdx.x; i < (unsigned)n; i += s) v += input<float>(in)[i * 3]; output<float>(out)[TID] = v; }
KERNEL(breaks) { float v = 0; for (int i = 0; i < n; i++) { v += input<float>(in)[i * 32 + TID]; if (i == (int)(threadIdx.x >> 3)) break; } output<float>(out)[TID] = v; }
KERNEL(chosen) { const float* p; switch (threadIdx.x & 3) { case 0: p = input<float>(in); break; case 1: p = input<float>(in) + 64; break; case 2: p = input<float>(in) + n; break; default: p = input<float>(in) + threadIdx.x * s; } output<float>(out)[TID] = p[threadIdx.x >> 2]; }
KERNEL(either_side) { float v; if (threadIdx.x & 4) v = input<float>(in)[TID * s]; else v = input<float>(in)[TID + n]; if (threadIdx.x % 3) output<float>(out)[TID] = v; else output<float>(out)[TID * 2 + 1024] = v; }
KERNEL(halves_of_blocks) { if (threadIdx.x < blockDim.x / 2) output<float4>(out)[TID] = input<float4>(in)[TID * s]; else output<float>(out)[TID + 8192] = input<float>(in)[TID]; }
KERNEL(odd_blocks) { if (blockIdx.x & 1) output<float2>(out)[TID] = input<float2>(in)[TID + n]; else output<float>(out)[TID * s] = 1.0f; }
KERNEL(guarded_vector) { if ((int)TID * 4 + 3 < n) output<float4>(out)[TID] = input<float4>(in)[TID]; else for (int k = 0; k < 4; k++) if ((int)TID * 4 + k < n) output<float>(out)[TID * 4 + k] = input<float>(in)[TID * 4 + k]; }

// Structures of odd sizes, and copies of bytes.
struct Three { float x, y, z; };
struct Five { int a; char b[3]; short c; };
struct __align__(8) Twelve { int a, b, c; };
KERNEL(three_floats) { output<Three>(out)[TID] = input<Three>(in)[TID]; }
KERNEL(mixed) { Five f = input<Five>(in)[TID]; f.b[1] += n; output<Five>(out)[TID] = f; }
KERNEL(aligned_twelve) { output<Twelve>(out)[TID] = input<Twelve>(in)[TID * s]; }
KERNEL(bytes_of) { char b[8]; memcpy(b, in + TID * 9, 8); memcpy(out + TID * 9, b, 8); }

// Local memory: indices of lanes, frames of functions, elements of several sizes.
KERNEL(local_mixed) { struct { double d; int i; char c[4]; } a[24]; for (int i = 0; i < 24; i++) { a[i].d = i * n; a[i].i = i; a[i].c[i & 3] = i; } int k = (threadIdx.x * s) % 24; output<double>(out)[TID] = a[k].d + a[(k + n) % 24].i + a[k].c[k & 3]; }
KERNEL(local_vectors) { float4 a[16]; for (int i = 0; i < 16; i++) a[i] = input<float4>(in)[i]; output<float4>(out)[TID] = a[(threadIdx.x / n) & 15]; }
KERNEL(local_some) { int a[32]; for (int i = 0; i < 32; i++) a[i] = i * n; if (threadIdx.x % 3) a[(threadIdx.x * s) & 31] = n; output<int>(out)[TID] = a[threadIdx.x & 31] + a[n & 31]; }
KERNEL(local_bytes) { unsigned char a[64]; for (int i = 0; i < 64; i++) a[i] = i * n; a[(threadIdx.x * s) & 63] = 1; output<int>(out)[TID] = a[(threadIdx.x + n) & 63]; }
__device__ __noinline__ int deeper(int* a, int k) { int b[8]; for (int i = 0; i < 8; i++) b[i] = a[i] + k; a[k & 7] = b[(k * 3) & 7]; return b[k & 7]; }
KERNEL(frames) { int a[8]; for (int i = 0; i < 8; i++) a[i] = i + n; int v = deeper(a, threadIdx.x * s); output<int>(out)[TID] = v + a[threadIdx.x & 7]; }
KERNEL(frames_some) { int a[8]; for (int i = 0; i < 8; i++) a[i] = i + n; int v = 0; if (threadIdx.x % 4 != 1) v = deeper(a, threadIdx.x >> 2); output<int>(out)[TID] = v + a[n & 7]; }
