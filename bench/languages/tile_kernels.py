"""cuda.tile kernels that use shared memory to change layouts: products, attention, transposes, sums, scans."""

import cuda.tile as ct


@ct.kernel
def product(A, B, O, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    n = ct.num_tiles(A, axis=1, shape=(tm, tk))
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(n):
        acc = ct.mma(ct.load(A, index=(i, k), shape=(tm, tk)), ct.load(B, index=(k, j), shape=(tk, tn)), acc)
    ct.store(O, index=(i, j), tile=ct.astype(acc, O.dtype))


@ct.kernel
def transpose(A, O, tm: ct.Constant[int], tn: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    t = ct.load(A, index=(i, j), shape=(tm, tn))
    ct.store(O, index=(j, i), tile=ct.transpose(t))


@ct.kernel
def softmax(A, O, tm: ct.Constant[int], tn: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.astype(ct.load(A, index=(i, 0), shape=(tm, tn)), ct.float32)
    e = ct.exp(t - ct.max(t, 1, keepdims=True))
    ct.store(O, index=(i, 0), tile=ct.astype(e / ct.sum(e, 1, keepdims=True), O.dtype))


@ct.kernel
def column_sums(A, O, tm: ct.Constant[int], tn: ct.Constant[int]):
    j = ct.bid(0)
    t = ct.load(A, index=(0, j), shape=(tm, tn))
    ct.store(O, index=(0, j), tile=ct.sum(t, 0, keepdims=True))


@ct.kernel
def running_sums(A, O, tm: ct.Constant[int], tn: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(A, index=(i, 0), shape=(tm, tn))
    ct.store(O, index=(i, 0), tile=ct.cumsum(t, 1))


@ct.kernel
def both_sums(A, O, tm: ct.Constant[int], tn: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(A, index=(i, 0), shape=(tm, tn))
    s = ct.sum(t, 1, keepdims=True) + ct.sum(t, 0, keepdims=True)
    ct.store(O, index=(i, 0), tile=s * t + ct.reshape(ct.transpose(t), (tm, tn)))


@ct.kernel
def attention(Q, K, V, O, tm: ct.Constant[int], tn: ct.Constant[int], d: ct.Constant[int]):
    i = ct.bid(0)
    q = ct.load(Q, index=(i, 0), shape=(tm, d))
    m = ct.full((tm, 1), -1e30, dtype=ct.float32)
    l = ct.full((tm, 1), 0, dtype=ct.float32)
    acc = ct.full((tm, d), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(K, axis=0, shape=(tn, d))):
        s = ct.mma(q, ct.transpose(ct.load(K, index=(k, 0), shape=(tn, d))), ct.full((tm, tn), 0, dtype=ct.float32))
        mn = ct.maximum(m, ct.max(s, 1, keepdims=True))
        p = ct.exp(s - mn)
        f = ct.exp(m - mn)
        l = l * f + ct.sum(p, 1, keepdims=True)
        acc = ct.mma(ct.astype(p, ct.float16), ct.load(V, index=(k, 0), shape=(tn, d)), acc * f)
        m = mn
    ct.store(O, index=(i, 0), tile=ct.astype(acc / l, O.dtype))
