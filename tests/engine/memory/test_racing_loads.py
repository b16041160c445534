"""Loads of what other threads write at the same time are unknown; those that decide addresses beside them remain known."""

from __future__ import annotations

import numpy as np
import pytest

import ptxaudit

HEAD = 'extern "C" __global__ void k(int* out) { __shared__ int t[64], s[2048]; int x = threadIdx.x, v = 0;'
RACE = "v += *(volatile int*)&r{0}[x ^ 32]; *(volatile int*)&r{0}[x] = v;"
USE = "out[x] = s[a * 8]; t[x] = v; __syncthreads(); out[x + 64] = t[63 - x]; }"


@pytest.mark.parametrize("races", [1, 12])
def test_index_is_known_beside_races_each_of_which_only_shows_once_the_one_before_is_unknown(
    tmp_path, races: int
) -> None:
    """The table has what decides nothing, too: a sum of what races. 16 words of one bank in each of two warps."""
    arrays = "".join(f"__shared__ int r{k}[64]; r{k}[x] = x;" for k in range(races))
    code = "".join(RACE.format(k) for k in range(races))
    (tmp_path / "k.cu").write_text(f"{HEAD} {arrays} t[x] = x * 4 % 64; __syncthreads(); int a = t[x]; {code} {USE}")
    launch = ptxaudit.Launch("k", grid=1, block=64, params=[np.zeros(256, np.int32)])
    for kernel in ptxaudit.audit(tmp_path / "k.cu", arch="sm_90", isa="both", launches=[launch]).kernels:
        by_index = [site for site in kernel.sites if site.wavefronts == 32]
        assert [str(site.status) for site in by_index] == ["exact"], kernel.isa
