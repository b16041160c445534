"""CuPy's own functions, including kernels of CUB and cuSPARSE, recorded and counted (bench/recorded/measure.py).

python cupy_library_program.py        on a GPU, with cupy
"""

import cupy
import cupyx
import cupyx.scipy.ndimage
import cupyx.scipy.signal
import cupyx.scipy.sparse


def calls(x, keys, sparse):
    yield lambda: cupy.sort(keys)
    yield lambda: cupy.argsort(keys[:3000])
    yield lambda: cupy.sort(x, axis=0)
    yield lambda: cupy.cumsum(x)
    yield lambda: cupy.cumsum(x, axis=1)
    yield lambda: cupy.unique(keys)
    yield lambda: cupy.bincount(keys)
    yield lambda: cupy.histogram(x, 32)
    yield lambda: cupy.median(x)
    yield lambda: cupy.percentile(x, 30)
    yield from (lambda axis=axis: x.sum(axis=axis) for axis in (None, 0, 1))
    yield lambda: cupy.prod(x, axis=1)
    yield lambda: x.max()
    yield lambda: cupy.argmin(x, axis=0)
    yield lambda: cupy.partition(x[0], 10)
    yield lambda: cupy.lexsort(keys[:2000].reshape(2, -1))
    yield lambda: cupyx.scipy.ndimage.gaussian_filter(x, 2)
    yield lambda: cupyx.scipy.ndimage.median_filter(x, 5)
    yield lambda: cupyx.scipy.ndimage.label(x > 0)
    yield lambda: cupyx.scipy.ndimage.distance_transform_edt(x > 0)
    yield lambda: cupyx.scipy.signal.convolve(x, x[:5, :5])
    yield lambda: cupyx.scipy.signal.lfilter(cupy.ones(3), cupy.ones(4), x[0].astype("float64"))
    yield lambda: cupy.matmul(x.astype("int32"), x.T.astype("int32"))
    yield lambda: cupy.einsum("ij,kj->ik", x.astype("int64"), x.astype("int64"))
    yield lambda: cupy.linalg.norm(x)
    yield lambda: cupy.nonzero(x > 1)
    yield lambda: cupy.flatnonzero(keys)
    yield lambda: cupy.count_nonzero(x)
    yield lambda: cupy.searchsorted(cupy.sort(keys), keys)
    yield lambda: cupy.std(x, axis=1)
    yield lambda: sparse.sum()
    yield lambda: sparse @ sparse
    yield lambda: cupy.random.default_rng(3).standard_gamma(2.0, 1000)


def main():
    cupy.random.seed(1)
    x = cupy.random.default_rng(1).standard_normal((256, 300)).astype("float32")
    keys = (cupy.arange(20000) * 7919 % 1000).astype("int32")
    for call in calls(x, keys, cupyx.scipy.sparse.random(200, 200, 0.1, format="csr", dtype="float32")):
        call()
        cupy.cuda.runtime.deviceSynchronize()


if __name__ == "__main__":
    main()
