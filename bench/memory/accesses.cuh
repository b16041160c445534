// What every kernel of this folder takes: memory to read, memory to write, indices that the launch tells, and two numbers.
#pragma once
#define KERNEL(name) extern "C" __global__ void name(char* __restrict__ in, char* __restrict__ out, const int* __restrict__ idx, int n, int s)
#define TID (blockIdx.x * blockDim.x + threadIdx.x)
template <class T> __device__ const T* input(const char* p) { return reinterpret_cast<const T*>(p); }
template <class T> __device__ T* output(char* p) { return reinterpret_cast<T*>(p); }
