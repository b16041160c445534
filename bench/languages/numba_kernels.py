"""Kernels in Numba's Python. Those of `LAUNCHES` have the parameters (out, src, n, f), as the others of `bench.languages`."""

import math

import numpy as np
from numba import cuda, float32, from_dtype, int64, uint8, uint32


def transposed(out, src, n, f):
    tile = cuda.shared.array((16, 17), float32)
    plain = cuda.shared.array((32, 32), uint32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[x & 15, y & 15] = src[x * 16 + y]
    for row in range(y, 32, cuda.blockDim.y):
        plain[x, row] = src[row * 32 + x]
    cuda.syncthreads()
    out[cuda.grid(1)] = uint32(tile[y & 15, x & 15]) + plain[(y * n) & 31, x]


def reduced(out, src, n, f):
    partial = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    partial[t] = src[t] * f
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    stride = 1
    while stride < cuda.blockDim.x:
        at = 2 * stride * t
        if at + stride < cuda.blockDim.x:
            partial[at] += partial[at + stride]
        cuda.syncthreads()
        stride *= 2
    out[t] = uint32(partial[(t * n) % cuda.blockDim.x])


def counted(out, src, n, f):
    bins = cuda.shared.array(64, uint32)
    t = cuda.threadIdx.x
    for i in range(t, 64, cuda.blockDim.x):
        bins[i] = 0
    cuda.syncthreads()
    for i in range(n):
        value = src[(t + i * 31) & 1023]
        cuda.atomic.add(bins, value & 63, 1)
        if value > 500:
            cuda.atomic.max(bins, (value >> 3) & 63, t)
    old = cuda.atomic.compare_and_swap(bins[t & 7 :], 0, t)
    cuda.syncthreads()
    out[t] = bins[(t * 2) & 63] + bins[old & 63]


def asked(out, src, n, f):
    s = cuda.shared.array(256, uint32)
    t = cuda.threadIdx.x
    for i in range(t, 256, cuda.blockDim.x):
        s[i] = i * 3
    cuda.syncthreads()
    lane = cuda.laneid
    x = cuda.shfl_down_sync(0xFFFFFFFF, t * 3, n)
    y = cuda.shfl_xor_sync(0xFFFFFFFF, t, 5)
    ballot = cuda.ballot_sync(0xFFFFFFFF, src[t] & 1)
    a = s[x & 255] + s[y * 4 & 255] + s[cuda.popc(ballot) * lane & 255]
    if t & 1:
        mask = cuda.activemask()
        a += s[cuda.popc(mask) + t]
        if cuda.any_sync(mask, t == 7):
            a += s[t * 2 & 255]
        cuda.syncwarp(mask)
    peers = cuda.match_any_sync(0xFFFFFFFF, t // 5)
    a += s[cuda.ffs(peers) * 32 & 255]
    cuda.syncwarp()
    s[cuda.brev(t) >> 24] = a
    out[t] = s[t & 255] + cuda.clz(t)


def stepped(out, src, n, f):
    s = cuda.shared.array(512, uint32)
    t = cuda.threadIdx.x
    for i in range(t, 512, cuda.blockDim.x):
        s[i] = (i * 7) & 511
    cuda.syncthreads()
    a = uint32(t)
    for i in range(n + (t & 3)):
        for j in range(i, 0, -2):
            if s[(a + j) & 511] > 400:
                break
            a += s[(t * 2 + j) & 511]
        else:
            a += s[(t + i * 32) & 511]
        if a & 64:
            continue
        a ^= s[(a >> 2) & 511]
        if t + i == 50:
            out[t] = a
            return
    out[t] = s[a & 511]


def kept(out, src, n, f):
    s = cuda.shared.array(512, uint32)
    here = cuda.local.array(8, uint32)
    t = cuda.threadIdx.x
    for i in range(t, 512, cuda.blockDim.x):
        s[i] = i
    for i in range(8):
        here[(i + t) & 7] = i * 33
    cuda.syncthreads()
    a = uint32(0)
    for i in range(n):
        a += s[(here[(i * t) & 7] + t) & 511]
        here[a & 7] = a
    out[t] = a + s[here[t & 7] & 511]


def wide(out, src, n, f):
    d = cuda.shared.array(128, int64)
    c = cuda.shared.array(256, uint8)
    z = cuda.shared.array(64, np.complex64)
    t = cuda.threadIdx.x
    d[t] = t * 3
    c[t * 2] = t
    c[t * 2 + 1] = n
    z[t & 63] = complex(t, n)
    cuda.syncthreads()
    a = d[(t * n) & 63] + c[(t * 5) & 127] + d[c[t * 2] & 63]
    out[t] = uint32(a + z[(t * 3) % cuda.blockDim.x].real)


def divided(out, src, n, f):
    s = cuda.shared.array(256, uint32)
    t = cuda.threadIdx.x
    for i in range(t, 256, cuda.blockDim.x):
        s[i] = i
    cuda.syncthreads()
    k = int64(n) - 9
    a = s[((t - 20) // k) & 255] + s[((t - 20) % k) & 255] + s[(t // n) * 32 & 255]
    q, r = divmod(t * 7, 5)
    a += s[q & 255] + s[r * 32] + s[(t**2) & 255] + s[abs(t - 31) * 4] + s[-t]
    a += s[min(t, n) * 8] + s[int(t / 3) & 255] + s[round(t * 0.3) & 255]
    out[t] = a


def dynamic(out, src, n, f):
    words = cuda.shared.array(0, uint32)
    halves = cuda.shared.array(0, np.float16)
    t = cuda.threadIdx.x
    words[t] = src[t]
    cuda.syncthreads()
    view = words[t & 7 :: 3]
    a = words[(t * n) % cuda.blockDim.x] + view[t & 15]
    halves[512 + t * 2] = t
    cuda.syncthreads()
    out[t] = uint32(a + halves[512 + (t ^ 3) * 2])


RECORD = np.dtype([("tag", np.uint8), ("value", np.uint32), ("more", np.float64)], align=True)
RECORD_TYPE = from_dtype(RECORD)
PLACES = np.array([3, 1, 4, 1, 5, 9, 2, 6], dtype=np.uint32)


def recorded(out, src, n, f):
    r = cuda.shared.array(64, RECORD_TYPE)
    places = cuda.const.array_like(PLACES)
    t = cuda.threadIdx.x
    r[t].tag = t
    r[t].value = places[t & 7] * n
    r[t].more = t * 0.5
    cuda.syncthreads()
    a = r[(t * 3) % cuda.blockDim.x].value
    out[t] = a + uint32(r[(a + t) % cuda.blockDim.x].more) + r[places[(t + n) & 7]].tag


def floats(out, src, n, f):
    s = cuda.shared.array(1024, uint32)
    t = cuda.threadIdx.x
    for i in range(t, 1024, cuda.blockDim.x):
        s[i] = i
    cuda.syncthreads()
    x = float32(t) * f
    a = s[int(x)] + s[int(x / 3)] + s[int(x * x / n) & 1023]
    a += s[uint32(math.floor(x * float32(0.37)))] + s[int(cuda.fma(x, x, x)) & 1023] + s[int(np.float16(x)) & 1023]
    a += s[int(t * 1.1 + 0.5)] + s[uint32((t / 7.0) * 5)]
    out[t] = a


# {kernel: its launches, as the first lines of a kernel in a file note them}
LAUNCHES = {
    transposed: ("2 32x8 n=3", "1 16x16 n=5"),
    reduced: ("2 128 n=3", "1 96 n=7"),
    counted: ("1 64 n=9", "2 96 n=4"),
    asked: ("1 64 n=3", "1 32 n=7"),
    stepped: ("1 64 n=6", "1 48 n=3"),
    kept: ("1 64 n=5", "1 48 n=3"),
    wide: ("1 64 n=5", "1 32 n=3"),
    divided: ("1 64 n=5", "1 64 n=7"),
    dynamic: ("1 64 n=5 shared=2048", "1 32 n=3 shared=4096"),
    recorded: ("1 64 n=5", "1 40 n=3"),
    floats: ("1 64 n=5", "1 32 n=9"),
}
