"""Indices that depend on a square root: machine code computes it in steps, PTX has one instruction; both must agree."""

import pytest

import ptxaudit

SOURCE = """
extern "C" __global__ void triangle(TYPE* out)
{
    __shared__ float t[2048];
    t[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int k = blockIdx.x * 8 + threadIdx.x / 4;
    int row = (int)FLOOR((SQRT((TYPE)8 * k + 1) - 1) / 2);
    out[threadIdx.x] = t[row * 33 + k - row * (row + 1) / 2];
}
"""


def by_hand() -> int:
    """The wavefronts of the load, in which groups of four lanes share a word.

    Adds up the number of distinct words per bank of each warp.
    """
    total = 0
    for block in range(4):
        for warp in range(2):
            words = set()
            for lane in range(32):
                k = block * 8 + (warp * 32 + lane) // 4
                row = max(r for r in range(k + 1) if r * (r + 1) // 2 <= k)
                words.add(row * 33 + k - row * (row + 1) // 2)
            banks = [w % 32 for w in words]
            total += max(banks.count(b) for b in banks)
    return total


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("number", ["float", "double"])
def test_square_root_in_machine_code_is_correctly_rounded(number, arch, tmp_path):
    source = tmp_path / "triangle.cu"
    names = {
        "TYPE": number,
        "FLOOR": "floorf" if number == "float" else "floor",
        "SQRT": "sqrtf" if number == "float" else "sqrt",
    }
    source.write_text("".join(f"#define {k} {v}\n" for k, v in names.items()) + SOURCE)
    launch = ptxaudit.Launch("triangle", grid=(4,), block=(64,), params=[None])
    for isa in ("ptx", "sass"):
        report = ptxaudit.audit(source, arch=arch, isa=isa, launches=[launch])
        (load,) = [s for s in report.sites if s.access == "load"]
        assert (str(load.status), load.wavefronts) == ("exact", by_hand()), (isa, load.reason)
