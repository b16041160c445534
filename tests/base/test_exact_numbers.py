"""Numbers that are equal in Python and different in a launch: zero and negative zero, an integer and a float."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from machine_code import PROLOGUE

import ptxaudit
from ptxaudit.base.exact import distinct, exactly
from ptxaudit.review import result_cache
from ptxaudit.review.sweeps import axis_of, parse_axis, sweep

BY_SIGN = """.visible .entry k(.param .f32 x)
{ .reg .b32 %r<5>; .reg .f32 %f<2>; .shared .align 16 .b8 s[8192];
  ld.param.f32 %f1, [x]; mov.b32 %r1, %f1; shr.u32 %r1, %r1, 31; mul.lo.u32 %r1, %r1, 5;
  mov.u32 %r2, %tid.x; mov.u32 %r3, s; shl.b32 %r4, %r2, 2; shl.b32 %r4, %r4, %r1; add.u32 %r3, %r3, %r4;
  ld.shared.f32 %f1, [%r3];
  ret; }
"""
TEXT = PROLOGUE.format(arch="sm_90") + BY_SIGN
NAN = float("nan")
ALIKE = [
    (0.0, -0.0),
    (1, 1.0),
    (1, True),
    (NAN, math.copysign(NAN, -1.0)),
    (np.float32(0.0), np.float32(-0.0)),
    ((2, 0.0), (2, -0.0)),
    ({"x": 0.0}, {"x": -0.0}),
]


def launch(x):
    return ptxaudit.Launch("k", grid=(1,), block=(32,), params=(x,))


@pytest.mark.parametrize("one, other", ALIKE)
def test_keys_of_numbers_differ_if_their_bytes_differ(one, other):
    assert exactly(one) != exactly(other) and exactly(one) == exactly(one)
    assert distinct([one, other, one]) == (one, other)


@pytest.mark.parametrize("one, other", [(0.0, -0.0), (NAN, -NAN)])
def test_launches_are_equal_if_their_parameters_have_equal_bytes(one, other):
    again = launch(struct.unpack("<d", struct.pack("<d", one))[0])
    assert launch(one) == again and hash(launch(one)) == hash(again)
    assert launch(one) != launch(other) and launch(one) != "k"


@pytest.mark.parametrize("order", [(0.0, -0.0), (-0.0, 0.0)])
def test_negative_zero_parameter_has_figures_of_its_own(order):
    report = ptxaudit.audit(TEXT, isa="ptx", arch="sm_90", launches=[launch(x) for x in order], cache=False)
    found = [site.wavefronts for kernel in report.kernels for site in kernel.sites]
    assert found == [32 if math.copysign(1, x) < 0 else 1 for x in order]


def test_sweep_over_both_zeros_has_two_points():
    assert parse_axis("x=0.0,-0.0,0.0").values == (0.0, -0.0)
    assert len(axis_of("x", [1, 1.0, 1]).values) == 2
    (swept,) = sweep(TEXT, {"x": [0.0, -0.0]}, isa="ptx", arch="sm_90", launches=[launch(0.0)]).kernels
    assert [point.wavefronts.low for point in swept.points] == [1, 32]


def test_swept_macros_keep_their_spelling():
    source = """__global__ void k(float* out) { __shared__ float s[2048]; s[threadIdx.x * (1 / N ? 1 : 1)] = 0;
        s[threadIdx.x * ((N) / 2 ? 32 : 1)] = 1; out[0] = s[0]; }"""
    (swept,) = sweep(
        source, {"-DN": [1, 1.0]}, arch="sm_90", isa="ptx", launches=[ptxaudit.Launch("k", grid=(1,), block=(32,))]
    ).kernels
    assert len(swept.points) == 2 and all(point.wavefronts for point in swept.points)


@pytest.mark.parametrize("one, other", [(0.0, -0.0), (NAN, math.copysign(NAN, -1.0)), (1, 1.0)])
def test_cache_key_distinguishes_equal_numbers_with_different_bytes(one, other):
    assert repr(result_cache._plain(launch(one))) != repr(result_cache._plain(launch(other)))
    assert repr(result_cache._plain(launch(one))) == repr(result_cache._plain(launch(one)))
