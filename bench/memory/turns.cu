// One atomic of one warp: lane i's byte offset is table[32 * row + i]; a negative one takes no part.
#define OFFSET int at = table[row * 32 + threadIdx.x]; if (at >= 0)
extern "C" __global__ void red_u32(char* out, const int* table, int row) { OFFSET atomicAdd((unsigned*)(out + at), threadIdx.x + 2); }
extern "C" __global__ void red_u64(char* out, const int* table, int row) { OFFSET atomicAdd((unsigned long long*)(out + at), (unsigned long long)threadIdx.x + 2); }
extern "C" __global__ void red_f32(char* out, const int* table, int row) { OFFSET atomicAdd((float*)(out + at), threadIdx.x + 2.f); }
extern "C" __global__ void atom_u32(char* out, const int* table, int row) { OFFSET if (atomicAdd((unsigned*)(out + at), threadIdx.x + 2) == 77) out[1 << 25] = 1; }
