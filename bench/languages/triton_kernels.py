"""Triton kernels that use shared memory to change layouts: products, attention, reductions, scans, sorts and others."""

import triton
import triton.language as tl


@triton.jit
def matmul(
    a,
    b,
    c,
    n,
    k,
    sa,
    sb,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    TA: tl.constexpr,
    TB: tl.constexpr,
    EPI: tl.constexpr,
    PREC: tl.constexpr,
    ACC: tl.constexpr,
):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    acc = tl.zeros((M, N), ACC)
    for at in range(0, k, K):
        if TA:
            x = tl.trans(tl.load(a + (at + inner)[:, None] * sa + rows[None, :]))
        else:
            x = tl.load(a + rows[:, None] * sa + (at + inner)[None, :])
        if TB:
            y = tl.trans(tl.load(b + cols[:, None] * sb + (at + inner)[None, :]))
        else:
            y = tl.load(b + (at + inner)[:, None] * sb + cols[None, :])
        acc = tl.dot(x, y, acc, input_precision=PREC, out_dtype=ACC)
    if EPI == 1:
        m = tl.max(acc, 1)
        acc = tl.exp((acc - m[:, None]).to(tl.float32))
    if EPI == 2:
        acc = acc + tl.cumsum(acc, 1)
    if EPI == 3:
        tl.store(c + cols[:, None] * n + rows[None, :], tl.trans(acc).to(c.dtype.element_ty))
    else:
        tl.store(c + rows[:, None] * n + cols[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def matmul_masked(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for at in range(tl.cdiv(k, K)):
        there = inner < k - at * K
        x = tl.load(
            a + rows[:, None] * k + (at * K + inner)[None, :], mask=(rows < m)[:, None] & there[None, :], other=0.0
        )
        y = tl.load(
            b + (at * K + inner)[:, None] * n + cols[None, :], mask=there[:, None] & (cols < n)[None, :], other=0.0
        )
        acc = tl.dot(x, y, acc)
    tl.store(
        c + rows[:, None] * n + cols[None, :],
        acc.to(c.dtype.element_ty),
        mask=(rows < m)[:, None] & (cols < n)[None, :],
    )


@triton.jit
def attention(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    inner = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + inner[None, :])
    largest = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum(length, (tl.program_id(0) + 1) * M)
    for at in range(0, end, N):
        places = at + tl.arange(0, N)
        key = tl.load(k + places[:, None] * D + inner[None, :])
        score = tl.dot(query, tl.trans(key)) * scale
        if CAUSAL:
            score = tl.where(rows[:, None] >= places[None, :], score, float("-inf"))
        now = tl.maximum(largest, tl.max(score, 1))
        part = tl.exp(score - now[:, None])
        fade = tl.exp(largest - now)
        weight = weight * fade + tl.sum(part, 1)
        value = tl.load(v + places[:, None] * D + inner[None, :])
        total = tl.dot(part.to(value.dtype), value, total * fade[:, None])
        largest = now
    tl.store(out + rows[:, None] * D + inner[None, :], (total / weight[:, None]).to(out.dtype.element_ty))


@triton.jit
def reduce2(x, y, n, M: tl.constexpr, N: tl.constexpr, AX: tl.constexpr, OP: tl.constexpr):
    p = tl.arange(0, M)[:, None] * n + tl.arange(0, N)[None, :]
    v = tl.load(x + p)
    if OP == 0:
        r = tl.sum(v, AX)
    elif OP == 1:
        r = tl.max(v, AX)
    elif OP == 2:
        r = tl.argmax(v, AX).to(y.dtype.element_ty)
    elif OP == 3:
        r = tl.min(v, AX)
    else:
        r = tl.argmin(v, AX).to(y.dtype.element_ty)
    if AX == 0:
        tl.store(y + tl.arange(0, N), r)
    else:
        tl.store(y + tl.arange(0, M), r)


@triton.jit
def reduce3(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AX: tl.constexpr):
    p = tl.arange(0, A)[:, None, None] * B * C + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    v = tl.load(x + p)
    r = tl.sum(v, AX)
    if AX == 0:
        tl.store(y + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :], r)
    elif AX == 1:
        tl.store(y + tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :], r)
    else:
        tl.store(y + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], r)


@triton.jit
def add2(a, b):
    return a + b


@triton.jit
def linrec(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scan2(x, y, n, M: tl.constexpr, N: tl.constexpr, AX: tl.constexpr, REV: tl.constexpr, OP: tl.constexpr):
    p = tl.arange(0, M)[:, None] * n + tl.arange(0, N)[None, :]
    v = tl.load(x + p)
    if OP == 0:
        r = tl.cumsum(v, AX, reverse=REV)
    elif OP == 1:
        r = tl.associative_scan(v, AX, add2, reverse=REV)
    else:
        r, s = tl.associative_scan((v, v + 1), AX, linrec, reverse=REV)
        r = r + s
    tl.store(y + p, r)


@triton.jit
def sort1(x, y, M: tl.constexpr, N: tl.constexpr, OP: tl.constexpr):
    p = tl.program_id(0) * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + p)
    if OP == 0:
        r = tl.sort(v, 1)
        tl.store(y + p, r)
    elif OP == 1:
        r = tl.flip(v, 1)
        tl.store(y + p, r)
    else:
        r = tl.topk(v, 8, 1)
        tl.store(y + tl.program_id(0) * M * 8 + tl.arange(0, M)[:, None] * 8 + tl.arange(0, 8)[None, :], r)


@triton.jit
def gather2(x, i, y, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, AX: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if AX == 0:
        q = tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :]
        j = tl.load(i + q) % M
    else:
        q = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
        j = tl.load(i + q) % N
    tl.store(y + q, tl.gather(v, j, AX))


@triton.jit
def hist(x, y, n, B: tl.constexpr, BINS: tl.constexpr, MASK: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    if MASK:
        h = tl.histogram(tl.load(x + at, mask=at < n, other=0) % BINS, BINS, mask=at < n)
    else:
        h = tl.histogram(tl.load(x + at) % BINS, BINS)
    tl.atomic_add(y + tl.arange(0, BINS), h)


@triton.jit
def shuffle_shapes(x, y, M: tl.constexpr, N: tl.constexpr, OP: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + p)
    if OP == 0:
        r = tl.reshape(tl.trans(v), (M, N))
        tl.store(y + p, r)
    elif OP == 1:
        r = tl.permute(tl.reshape(v, (M, N // 8, 8)), (2, 0, 1))
        tl.store(y + tl.reshape(tl.arange(0, M * N), (8, M, N // 8)), r)
    elif OP == 2:
        a, b = tl.split(tl.reshape(v, (M, N // 2, 2)))
        r = tl.join(b, a)
        tl.store(y + tl.reshape(tl.arange(0, M * N), (M, N // 2, 2)), r)
    elif OP == 3:
        s = tl.sum(v, 1)
        t = tl.sum(v, 0)
        tl.store(y + p, s[:, None] + t[None, :] * v)
    elif OP == 4:
        s = tl.sum(v, 1)
        w = tl.sum(tl.where(s[:, None] > v, tl.trans(tl.reshape(v, (N, M))), v), 0)
        tl.store(y + tl.arange(0, N), w)
    else:
        u = tl.load(x + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :])
        tl.store(y + p, v + tl.trans(u))


@triton.jit
def layernorm(x, w, b, y, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    there = at < n
    v = tl.load(x + row * n + at, mask=there, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    d = tl.where(there, v - mean, 0.0)
    var = tl.sum(d * d, 0) / n
    o = d * (1.0 / tl.sqrt(var + eps)) * tl.load(w + at, mask=there, other=0.0) + tl.load(b + at, mask=there, other=0.0)
    tl.store(y + row * n + at, o, mask=there)


@triton.jit
def moe(x, ids, w, y, n, k, E: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    e = tl.load(ids + tl.program_id(0)) % E
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for at in range(0, k, K):
        a = tl.load(x + rows[:, None] * k + (at + inner)[None, :])
        b = tl.load(w + e * k * n + (at + inner)[:, None] * n + cols[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(y + rows[:, None] * n + cols[None, :], acc.to(y.dtype.element_ty))


@triton.jit
def while_scan(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    s = tl.load(x + at)
    i = 0
    while tl.sum(s, 0) > n + i * 1000:
        s = tl.sort(s) // 2
        i += 1
    tl.store(y + at, s)


@triton.jit
def seqreduce(x, y, n, M: tl.constexpr, N: tl.constexpr):
    acc = tl.zeros((M,), tl.float32)
    at = tl.arange(0, N)
    for i in range(0, n, N):
        v = tl.load(x + tl.arange(0, M)[:, None] * n + i + at[None, :])
        acc += tl.sum(v * tl.sum(v, 0)[None, :], 1)
    tl.store(y + tl.arange(0, M), acc)


@triton.jit
def desc_copy(x, y, n, m, M: tl.constexpr, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x, shape=[n, m], strides=[m, 1], block_shape=[M, N])
    e = tl.make_tensor_descriptor(y, shape=[m, n], strides=[n, 1], block_shape=[N, M])
    i = tl.program_id(0) * M
    for j in range(0, m, N):
        e.store([j, i], tl.trans(d.load([i, j])))


@triton.jit
def desc_matmul(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, WS: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[n, k], strides=[k, 1], block_shape=[M, K])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    dc = tl.make_tensor_descriptor(c, shape=[n, n], strides=[n, 1], block_shape=[M, N])
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), tl.float32)
    for at in tl.range(0, k, K, warp_specialize=WS):
        acc = tl.dot(da.load([i, at]), db.load([j, at]).T, acc)
    dc.store([i, j], acc.to(tl.float16))
