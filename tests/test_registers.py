"""Register counts out of cubins, against the vendor's own tool."""

from __future__ import annotations

import re
import subprocess

import pytest

from ptxaudit import toolchains
from ptxaudit.artifacts.registers import registers
from ptxaudit.nvrtc import compile_source

SOURCE = """
extern "C" __global__ void small(float* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void large(const float* in, float* out) {
    float v[40];
    for (int i = 0; i < 40; ++i) v[i] = in[threadIdx.x * 40 + i];
    __syncthreads();
    for (int i = 0; i < 40; ++i) out[threadIdx.x * 40 + i] = v[(i * 7) % 40] * v[i];
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_registers_are_those_that_cuobjdump_prints(arch, tmp_path):
    cubin = compile_source(SOURCE, arch=arch).cubin
    path = tmp_path / "k.cubin"
    path.write_bytes(cubin)
    tool = toolchains.get("cuobjdump").path
    said = subprocess.run([tool, "--dump-resource-usage", path], capture_output=True, text=True, timeout=60, check=True).stdout
    told = {name: int(count) for name, count in re.findall(r"Function (\w+):\s*REG:(\d+)", said)}
    assert told and told["large"] > told["small"]
    assert registers(cubin) == told


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(80), bytes(200)])
def test_what_is_no_cubin_has_none(data):
    assert registers(data) == {}
