#include "accesses.cuh"

// Without a result: RED. Places s elements apart; s = 0 is one place for all.
#define RED(name, T, call) KERNEL(name) { T* p = output<T>(out) + TID * s; call; }
RED(red_add_s32, int, atomicAdd(p, n))
RED(red_inc_s32, int, atomicAdd(p, 1))
RED(red_max_s32, int, atomicMax(p, (int)TID))
RED(red_and_u32, unsigned, atomicAnd(p, TID))
RED(red_add_u64, unsigned long long, atomicAdd(p, (unsigned long long)TID))
RED(red_max_u64, unsigned long long, atomicMax(p, (unsigned long long)TID))
RED(red_add_f32, float, atomicAdd(p, (float)TID))
RED(red_add_f64, double, atomicAdd(p, (double)TID))
KERNEL(red_add_f16x2) { unsigned v = TID; asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(output<unsigned>(out) + TID * s), "r"(v)); }
KERNEL(red_add_v2) { float v = TID; asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" :: "l"(output<float2>(out) + TID * s), "f"(v)); }
KERNEL(red_add_v4) { float v = TID; asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"(output<float4>(out) + TID * s), "f"(v)); }
KERNEL(red_mod) { atomicAdd(output<int>(out) + TID % s, (int)TID); }
KERNEL(red_mod_f32) { atomicAdd(output<float>(out) + TID % s, (float)TID); }
KERNEL(red_told) { atomicAdd(output<int>(out) + idx[TID], (int)TID); }
KERNEL(red_told_f32) { atomicAdd(output<float>(out) + idx[TID], (float)TID); }
KERNEL(red_some) { if (threadIdx.x % 3 == 0) atomicAdd(output<float>(out) + TID * s, (float)TID); }
KERNEL(red_guarded) { int i = TID; if (i < n) atomicAdd(output<float>(out) + i * s, 1.0f); }
KERNEL(red_transposed) { int x = threadIdx.x, y = threadIdx.y; atomicAdd(output<float>(out) + x * n + y + blockIdx.x * s, 1.0f); }

// With a result: ATOMG.
#define ATOM(name, T, call) KERNEL(name) { T* p = output<T>(out) + TID * s; output<T>(in)[TID] = call; }
ATOM(atom_add_s32, int, atomicAdd(p, (int)TID))
ATOM(atom_exch_s32, int, atomicExch(p, (int)TID))
ATOM(atom_cas_s32, int, atomicCAS(p, n, (int)TID))
ATOM(atom_cas_u64, unsigned long long, atomicCAS(p, (unsigned long long)n, (unsigned long long)TID))
ATOM(atom_add_f32, float, atomicAdd(p, (float)TID))
ATOM(atom_add_f64, double, atomicAdd(p, (double)TID))
ATOM(atom_add_u64, unsigned long long, atomicAdd(p, (unsigned long long)TID))
KERNEL(atom_told) { output<int>(in)[TID] = atomicAdd(output<int>(out) + idx[TID], (int)TID); }
