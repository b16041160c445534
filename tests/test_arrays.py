"""What is distinguished in an array, against NumPy."""

import numpy as np
import pytest

from ptxaudit.base.arrays import distinct


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (40,), (3, 7), (0, 4), (1, 1)])
@pytest.mark.parametrize("seed", range(5))
def test_distinct_is_unique(dtype, shape, seed):
    values = np.random.default_rng(seed).integers(0, 12, shape).astype(dtype)
    before = values.copy()
    found = distinct(values)
    assert found.dtype == dtype and found.tolist() == np.unique(values).tolist() and (values == before).all()
