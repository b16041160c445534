"""Transforms, factorizations, products and random numbers by CuPy: kernels of cuFFT, cuSOLVER, cuBLAS, cuSPARSE and cuRAND.

python cupy_numerics_program.py        on a GPU, with cupy
"""

import cupy
import cupyx.scipy.fft
import cupyx.scipy.linalg
import cupyx.scipy.signal
import cupyx.scipy.sparse
import cupyx.scipy.sparse.linalg

RANDOM = cupy.random.RandomState(7)


def normal(*shape, dtype="float32"):
    real = RANDOM.standard_normal(shape)
    return (real + 1j * RANDOM.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


def transforms():
    for n in (64, 128, 243, 256, 500, 512, 1000, 1001, 1009, 1024, 2048, 4096, 6000, 8192, 16384, 65536):
        yield lambda n=n: cupy.fft.fft(normal(4, n, dtype="complex64"))
    for n in (256, 729, 1024, 2401, 4096, 1331):
        yield lambda n=n: cupy.fft.fft(normal(3, n, dtype="complex128"))
        yield lambda n=n: cupy.fft.rfft(normal(5, n))
        yield lambda n=n: cupy.fft.irfft(normal(2, n // 2 + 1, dtype="complex128"))
    for shape in ((64, 64), (100, 120), (128, 256), (512, 512), (16, 32, 48), (64, 64, 64)):
        yield lambda shape=shape: cupy.fft.fftn(normal(*shape, dtype="complex64"))
    yield lambda: cupyx.scipy.fft.dct(normal(8, 256))


def factorizations():
    for n in (20, 33, 64, 150):
        a = normal(n, n)
        positive = a @ a.T + n * cupy.eye(n, dtype="float32")
        yield lambda positive=positive: cupy.linalg.cholesky(positive)
        yield lambda positive=positive, a=a: cupy.linalg.solve(positive, a)
        yield lambda a=a: cupy.linalg.qr(a)
        yield lambda a=a: cupy.linalg.svd(a)
        yield lambda positive=positive: cupy.linalg.eigh(positive)
        yield lambda a=a: cupyx.scipy.linalg.lu_factor(a)
    several = normal(12, 16, 16)
    symmetric = several @ several.transpose(0, 2, 1) + 16 * cupy.eye(16, dtype="float32")
    yield lambda: cupy.linalg.cholesky(symmetric)
    yield lambda: cupy.linalg.inv(symmetric)
    yield lambda: cupy.linalg.svd(several)
    yield lambda: cupy.linalg.eigh(symmetric)


def products():
    for dtype in ("float16", "float32", "float64", "complex64", "complex128"):
        for m, n, k in ((64, 64, 64), (130, 70, 33), (256, 256, 512), (1, 300, 200)):
            yield lambda dtype=dtype, m=m, n=n, k=k: normal(m, k, dtype=dtype) @ normal(k, n, dtype=dtype)
    yield lambda: cupy.matmul(normal(5, 40, 60), normal(5, 60, 50))
    some = cupyx.scipy.sparse.random(300, 200, density=0.05, format="csr", dtype="float32", random_state=3)
    other = cupyx.scipy.sparse.random(200, 300, density=0.05, format="csr", dtype="float64", random_state=4)
    yield lambda: some @ normal(200)
    yield lambda: some @ normal(200, 17)
    yield lambda: other.astype("float32") @ some
    yield lambda: some.tocsc()
    yield lambda: some.tocoo().tocsr()
    yield lambda: other + other
    yield lambda: some.T @ normal(300, 8)


def random_numbers():
    for name in ("XORWOW", "MRG32K3A", "MTGP32", "MT19937", "PHILOX4_32_10"):
        method = getattr(cupy.cuda.curand, f"CURAND_RNG_PSEUDO_{name}")
        yield lambda method=method: cupy.random.RandomState(5, method=method).normal(size=3001)
    yield lambda: cupyx.scipy.signal.fftconvolve(normal(400), normal(31))


for calls in (transforms, factorizations, products, random_numbers):
    for call in calls():
        call()
        cupy.cuda.Device().synchronize()
