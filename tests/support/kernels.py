"""Small kernels for tests of the pipeline and the commands, as CUDA source and as PTX."""

from __future__ import annotations

# One warp stores a column of a 32 x 32 tile: line 4 has a 32-way conflict, line 6 none.
COLUMN = """\
extern "C" __global__ void column(const float* in, float* out) {
    __shared__ float s[1024];
    int tid = threadIdx.x;
    s[tid * 32] = in[tid];
    __syncthreads();
    out[tid] = s[31 - tid];
}
"""

# Lane addresses depend on n, and the loop on m.
PITCH = """\
extern "C" __global__ void pitch(float* out, int n, int m) {
    extern __shared__ float s[];
    for (int i = 0; i < m; ++i) s[threadIdx.x * n + i] = out[i];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""

PTX = """\
//
// a hand-written module
//
.version 8.0
.target sm_80
.address_size 64

.visible .entry stride(.param .u64 stride_param_0, .param .u32 stride_param_1)
{
    .reg .b32 %r<6>;
    .shared .align 4 .b8 s[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mad.lo.s32 %r3, %r1, 8, %r2;
    st.shared.u32 [%r3], %r1;
    ld.shared.u32 %r4, [%r2];
    ret;
}
"""
