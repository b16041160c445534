/* Names for kernels in C, compiled by clang without any header of CUDA. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#define SHARED __attribute__((address_space(3)))
#define CONSTANT __attribute__((address_space(4)))
#define KERNEL __attribute__((device_kernel))
#define NOINLINE __attribute__((noinline))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define TIDY __nvvm_read_ptx_sreg_tid_y()
#define CTAID __nvvm_read_ptx_sreg_ctaid_x()
#define NTID __nvvm_read_ptx_sreg_ntid_x()
#define LANE __nvvm_read_ptx_sreg_laneid()
#define ALL 0xffffffffu
#define SHFL(mask, value, lane) __nvvm_shfl_sync_idx_i32(mask, value, lane, 31)
#define FILL(array, count, formula) \
    for (u32 i = TID; i < (count); i += NTID) \
        array[i] = (formula); \
    __syncthreads()
