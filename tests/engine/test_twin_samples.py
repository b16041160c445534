"""The kernels of `samples/` site by site: the engine's requests and wavefronts equal the twin's.

Runs one block of each launch, and only short kernels; `python bench/fuzz.py --samples` runs more blocks of more
kernels.
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
}  # all of their kernels are


@pytest.mark.parametrize("folder", [f for f in of_samples.folders() if f.name not in LONG], ids=lambda p: p.name)
def test_sample_agrees_with_the_interpreter(folder):
    verdict, too_long = of_samples.sample(folder, BLOCKS, STEPS)
    assert not verdict.wrong and not verdict.unchecked, "\n".join(verdict.wrong + verdict.unchecked)
    assert verdict.sites, too_long
