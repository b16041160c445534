"""Local accesses whose address differs between lanes, in both instruction sets."""

from __future__ import annotations

import pytest

import ptxaudit

SOURCE = """
extern "C" __global__ void by_lane(float* out, int n) {
    float a[16];
    for (int i = 0; i < 16; ++i) a[i] = out[i * n];
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[(threadIdx.x + i) & 15];
    out[threadIdx.x] = s;
}
extern "C" __global__ void by_data(float* out, const int* key, int n) {
    float a[16];
    for (int i = 0; i < 16; ++i) a[i] = out[i * n];
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[key[i] & 15];
    out[threadIdx.x] = s;
}
extern "C" __global__ void uniform(float* out, int n) {
    float a[16];
    for (int i = 0; i < 16; ++i) a[i] = out[threadIdx.x * 16 + i];
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[i * 3 & 15];
    out[threadIdx.x] = s;
}
extern "C" __global__ void registers(float* out) { out[threadIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def kernels():
    report = ptxaudit.audit(SOURCE, isa="both")
    assert not report.problems
    return {(kernel.name, kernel.isa): kernel for kernel in report.kernels}


@pytest.mark.parametrize("isa, load", [("ptx", "ld.local.f32"), ("sass", "LDL")])
def test_an_index_of_the_lane_or_of_data_is_found(kernels, isa, load):
    assert {(a.by, a.opcode) for a in kernels["by_lane", isa].local} == {("lane", load)}
    assert {(a.by, a.opcode) for a in kernels["by_data", isa].local} == {("data", load)}
    lines = {a.source.line for a in kernels["by_lane", isa].local}
    assert lines == {6}


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_an_index_that_lanes_have_in_common_is_not(kernels, isa):
    assert kernels["uniform", isa].local == () and kernels["registers", isa].local == ()


def test_instructions_and_registers_of_a_kernel_are_in_the_report(kernels):
    for isa in ("ptx", "sass"):
        assert kernels["by_lane", isa].registers > kernels["registers", isa].registers > 0
        assert kernels["by_lane", isa].instructions > kernels["registers", isa].instructions > 0
