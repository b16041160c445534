"""The optimised array operations against NumPy."""

import numpy as np
import pytest

from ptxaudit.base import arrays
from ptxaudit.base.arrays import among, anywhere, distinct, distinct_rows, remainder, throughout


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (40,), (3, 7), (0, 4), (1, 1)])
@pytest.mark.parametrize("seed", range(5))
def test_distinct_equals_numpy_unique(dtype, shape, seed):
    values = np.random.default_rng(seed).integers(0, 12, shape).astype(dtype)
    before = values.copy()
    found = distinct(values)
    assert found.dtype == dtype and found.tolist() == np.unique(values).tolist() and (values == before).all()


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("shape", [(0,), (1,), (1, 1), (3, 7), (0, 4), (200, 32)])
def test_throughout_and_anywhere_equal_numpy_all_and_any(dtype, shape):
    no, yes = np.zeros(shape, dtype), np.ones(shape, dtype)
    mixed = [one.copy() for one in (no, yes)]
    for one in mixed:
        if one.size:
            one.reshape(-1)[-1] ^= dtype(1)
    spread = np.broadcast_to(yes[..., :1], shape)
    for values in (no, yes, *mixed, yes.T, mixed[0].T, spread, yes.astype(dtype)[::2]):
        assert anywhere(values) is bool(values.any()) and throughout(values) is bool(values.all())
    assert throughout(np.bool_(True)) and not anywhere(np.bool_(False))


@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (3, 0), (1, 1), (9, 4), (40, 40)])
@pytest.mark.parametrize("seed", range(5))
def test_among_equals_numpy_isin(sizes, seed):
    indices, others = (np.random.default_rng([seed, size]).integers(0, 50, size) for size in sizes)
    assert among(indices, others).tolist() == np.isin(indices, others).tolist()


@pytest.mark.parametrize("divisor", [1, 3, 32, 100])
def test_remainder_equals_the_modulo_operator(divisor):
    limits = np.iinfo(np.int64)
    some = np.random.default_rng(divisor).integers(-1000, 1000, (40, 32))
    for values in (some, np.array([limits.max, limits.min, 0, -1, divisor, -divisor])):
        before = values.copy()
        assert (remainder(values, divisor) == values % divisor).all() and (values == before).all()


def test_distinct_rows_equal_those_of_a_dictionary():
    rng = np.random.default_rng(5)
    for n in (0, 1, 7, 31, 32, 200, 3000):
        for kinds in (1, 3, 50):
            first = rng.integers(-(2**40), 2**40, (kinds, 32))[rng.integers(0, kinds, n)]
            second = rng.random((kinds, 32))[rng.integers(0, kinds, n)] < 0.5
            known: dict[bytes, int] = {}
            every = [known.setdefault(a.tobytes() + b.tobytes(), len(known)) for a, b in zip(first, second)]
            firsts, kind = distinct_rows((first, second))
            assert kind.tolist() == every
            assert firsts.tolist() == [every.index(k) for k in range(len(known))]


def test_distinct_rows_with_colliding_hashes_are_distinguished(monkeypatch):
    monkeypatch.setattr(arrays, "_mixers", lambda size: np.zeros(size, np.uint64))
    rows = np.arange(128).reshape(64, 2) % 6
    firsts, kind = distinct_rows((rows,))
    assert firsts.tolist() == [0, 1, 2] and kind.tolist() == [i % 3 for i in range(64)]
