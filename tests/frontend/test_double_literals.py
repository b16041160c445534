"""Special functions of a double's upper word: machine code prints a literal there as the whole double.

(Indices `t / 10.5` of doubles, 32 words apart: an H100 counted 3 wavefronts for each of 3 requests of 32, 32 and 16
lanes.)
"""

import pytest

import ptxaudit

SOURCE = """
extern "C" __global__ void quotient(int* out)
{
    __shared__ int t[1024];
    t[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = t[(int)((double)(threadIdx.x + 1) / DIVISOR) * 32 & 1023];
}
"""


@pytest.mark.parametrize("divisor", [10.5, -3.0, 7.0])
def test_quotient_by_a_double_literal_is_exact(divisor, tmp_path):
    source = tmp_path / "quotient.cu"
    source.write_text(f"#define DIVISOR {divisor}\n{SOURCE}")
    launch = ptxaudit.Launch("quotient", grid=(1,), block=(32,), params=[None])
    words = {int((lane + 1) / divisor) * 32 & 1023 for lane in range(32)}  # all in bank 0
    for isa in ("ptx", "sass"):
        report = ptxaudit.audit(source, arch="sm_90", isa=isa, launches=[launch])
        (load,) = [s for s in report.sites if s.access == "load"]
        assert (str(load.status), load.wavefronts) == ("exact", len(words)), (isa, load.reason)
