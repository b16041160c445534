"""The kernels of `samples/` site by site: the engine's requests and wavefronts are the twin's. One block of each
launch, and only kernels that are short; `python bench/fuzz.py --samples` runs more blocks of more kernels.
"""

from __future__ import annotations

import pytest
from twin import of_samples

STEPS = 4_000
BLOCKS = 1
LONG = {
    "bitonic_sort",
    "cholesky",
    "flash_attention",
    "floyd_warshall",
    "game_of_life",
    "gemm",
    "nbody",
    "persistent",
}  # every kernel is


@pytest.mark.parametrize("folder", [f for f in of_samples.folders() if f.name not in LONG], ids=lambda p: p.name)
def test_sample(folder):
    verdict, too_long = of_samples.sample(folder, BLOCKS, STEPS)
    assert not verdict.wrong, "\n".join(verdict.wrong)
    assert verdict.sites, too_long
