"""Indices that kernels compute by divisions, roots and special functions, against those that an H100 wrote to memory.

The kernels of bench/special_functions/indices.py, compiled at -O3, -O1, -O0 and -G, with fast and with loose
arithmetic: where the engine knows an index, it equals the GPU's. Some of them were once mistaken for divisions
because of an adjacent instruction.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from machine_code import ptx_of
from paths import DATA
from stored import stored

import ptxaudit
from bench.special_functions import data, indices
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.lift import lift_cubin
from ptxaudit.ir.link import link

MEASURED = np.load(DATA / data.NAME)
NAMES = [str(name) for name in MEASURED["names"]]
TOOLCHAIN = "13.5"  # compiled the measured code: another ptxas or NVRTC may implement an approximation differently
SAME = toolchains.get("ptxas").version.startswith(TOOLCHAIN)
EXACT = [
    name
    for name in NAMES
    if name.startswith(("udiv", "urem", "sdiv", "srem"))
    or name in ("fdiv_ax", "frcp", "fdiv_bits", "sqrtf", "ddiv", "dsqrt")
]
APPROXIMATE = ("rcp_raw", "rcp_fma2", "rsqrtf", "exp2f")  # depends on the last place of the special function unit
# remain unknown: half arithmetic, tables in global memory, tanh
OPEN = {"sin", "hdiv", "tanhf"}
# at -G and -O0 also unanalysable code: calls that ptxas emits without stating where they return to, checks of the
# stack
LEAST_KNOWN = {"O3": 104, "fast": 103, "loose": 104, "O1": 103, "O0": 100, "G": 60}


@cache
def cubin(variant: str, arch: str = "sm_90", names: tuple[str, ...] | None = None) -> bytes:
    of_nvrtc, of_ptxas = indices.VARIANTS[variant]
    return assemble(ptx_of(indices.source(names), arch, of_nvrtc, "indices.cu"), arch, of_ptxas).cubin


@cache
def module(variant: str, arch: str = "sm_90"):
    """On other generations only the kernels that are checked there."""
    return lift_cubin(cubin(variant, arch, None if arch == "sm_90" else (*EXACT, *APPROXIMATE)), "indices.cubin")


def of_gpu(variant: str, name: str) -> np.ndarray:
    at = NAMES.index(name)
    base = MEASURED["indices/O3"][at]
    return (base if variant == "O3" else base ^ MEASURED[f"indices/{variant}"][at]).astype(np.uint64)


def computed(variant: str, name: str, arch: str = "sm_90") -> tuple[np.ndarray, np.ndarray]:
    functions = module(variant, arch)
    launch = Launch(f"i_{name}", grid=data.X // indices.BLOCK, block=indices.BLOCK, params=[None, indices.A, 0])
    return stored(link(functions, functions.functions[f"i_{name}"]), launch, data.X, arch)


@pytest.mark.parametrize("variant", indices.VARIANTS)
def test_computed_indices_match_the_gpu(variant):
    whole = 0
    for name in NAMES if SAME else EXACT:
        numbers, known = computed(variant, name)
        wrong = np.flatnonzero(known & (numbers != of_gpu(variant, name)))
        assert not len(wrong), (
            f"{name}: x = {wrong[0] + 1}: {numbers[wrong[0]]:#x}, not {of_gpu(variant, name)[wrong[0]]:#x}"
        )
        whole += known.all()
    if SAME:
        assert whole >= LEAST_KNOWN[variant]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_100", "sm_120"])
def test_divisions_are_known_on_unmeasured_generations(arch):
    """Division and rounded roots do not depend on the unit's last place; results that do are unknown."""
    for name in EXACT:
        numbers, known = computed("O3", name, arch)
        assert (numbers == of_gpu("O3", name))[known].all(), name
        assert known.all() or name == "fdiv_bits", f"{name}: {np.count_nonzero(~known)} are not known"
    for name in APPROXIMATE:
        assert not computed("O3", name, arch)[1].all(), name


def counted(words: np.ndarray) -> int:
    """Wavefronts of a store to table[word], per warp."""
    return sum(ptxaudit.score_request("STS", [int(w) * 4 for w in warp]).wavefronts for warp in words.reshape(-1, 32))


# an approximation followed by a near miss of a division's correction: another multiplier, another rounding, plus or
# minus one
LOOKALIKES = (
    ("O3", "rcp_fma"),
    ("O3", "rcp_mulrz"),
    ("O3", "rcp_fma2"),
    ("fast", "fdividef"),
    ("fast", "rcp_mul1"),
    ("fast", "rcp_fma"),
)


@pytest.mark.skipif(not SAME, reason="the GPU ran what another release of ptxas made")
@pytest.mark.parametrize("variant, name", LOOKALIKES)
def test_sites_with_divided_indices_match_the_gpu(variant, name):
    launch = Launch(f"i_{name}", grid=1, block=data.X, params=[None, indices.A, 1], dynamic_shared=200 << 10)
    sites = {
        arch: [s for s in ptxaudit.audit(cubin(variant, arch, (name,)), launches=[launch]).sites if s.access == "store"]
        for arch in ("sm_90", "sm_80")
    }
    figures = [counted(of_gpu(variant, name) & np.uint64(0xFFFF)), counted(of_gpu(variant, name) >> np.uint64(16))]
    assert [(str(s.status), s.wavefronts) for s in sites["sm_90"]] == [("exact", figure) for figure in figures]
    assert all(s.wavefronts in (None, figure) for s, figure in zip(sites["sm_80"], figures))
    assert any(s.wavefronts is None for s in sites["sm_80"])
