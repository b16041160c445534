"""The results of opcodes: `meaning("bfe.s32")` is (widths of the sources, a function of unsigned integers).

Written from the PTX ISA manual, sentence by sentence, with Python's integers; shares nothing with
`ptxaudit.engine.ops.concrete`.
"""

from __future__ import annotations

import math
from functools import cache

from . import floats, narrow
from .code import WIDTH

KINDS = {k: (k[0] if k != "pred" else "p") for k in WIDTH}


def mask(bits: int) -> int:
    return (1 << bits) - 1


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def _divide(a: int, b: int) -> int:
    """Rounds toward zero."""
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


class NoMeaning(Exception):
    """The twin does not know the opcode: its results are guesses (`instructions.Instructions._guess`)."""


@cache
def meaning(opcode: str):
    """(widths of the sources, f(sources) -> an integer or a tuple of integers). Raises NoMeaning."""
    base, *mods = opcode.split(".")
    types = [m for m in mods if m in WIDTH]
    words = [m for m in mods if m not in WIDTH]
    t = types[-1] if types else ""
    n = WIDTH.get(t, 0)
    kind = KINDS.get(t, "")
    is_s = kind == "s"
    s = (lambda x: signed(x, n)) if is_s else (lambda x: x)
    m = mask(n) if n else 0
    rounding = next((w for w in words if w in ("rn", "rz", "rm", "rp")), "rn")
    ftz = "ftz" in words
    if (found := narrow.meaning(opcode)) is not None:
        return found
    if base == "copysign":
        return (n, n), lambda a, b: a >> (n - 1) << (n - 1) | b & mask(n - 1)
    if base == "vabsdiff4" and words in ([], ["add"]) and types == ["u32"] * 3:
        return (32, 32, 32), lambda a, b, c: _differences(a, b, c, bool(words))
    if base == "cvt":
        return _packed(mods) if "pack" in words else _convert(types, words)
    if base in ("setp", "set"):
        return _compare(base, types, words)
    if kind == "f" and base in ("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "neg", "abs", "min", "max"):
        if {"relu", "full", "xorsign"} & set(words) or "approx" in words or "x2" in t or t == "bf16":
            raise NoMeaning(opcode)
        if "NaN" in words:
            lost = floats.NAN[n]
            return (
                n,
                n,
            ), lambda *a: lost if any(floats.is_nan(x, n) for x in a) else floats.compute(base, n, a, rounding, ftz)
        name = "fma" if base == "mad" else base
        count = {"fma": 3, "rcp": 1, "sqrt": 1, "neg": 1, "abs": 1}.get(name, 2)
        if "sat" in words:
            return (n,) * count, lambda *a: narrow.saturated(floats.compute(name, n, a, rounding, ftz), n)
        return (n,) * count, lambda *a: floats.compute(name, n, a, rounding, ftz)
    if t in ("u16x2", "s16x2"):
        return _by_halves(opcode, base, t, words)
    if "relu" in words:
        if base not in ("min", "max") or t != "s32":
            raise NoMeaning(opcode)
        of = min if base == "min" else max
        return (n, n), lambda a, b: max(of(s(a), s(b)), 0)
    if "sat" in words and base not in ("vadd", "vsub", "vshl", "vshr"):
        if base in ("add", "sub") and t == "s32":
            sign = 1 if base == "add" else -1
            return (n, n), lambda a, b: max(min(s(a) + sign * s(b), (1 << 31) - 1), -(1 << 31)) & m
        raise NoMeaning(opcode)
    if "cc" in words or base in ("addc", "subc", "madc"):
        raise NoMeaning(opcode)  # `run` executes these: they read and write the carry flag
    if kind == "f" and base not in ("mov", "selp"):
        raise NoMeaning(opcode)
    part = next((w for w in words if w in ("lo", "hi", "wide")), None)
    match base:
        case "mov" | "ld" if n:
            return (n,), lambda a: a
        case "add":
            return (n, n), lambda a, b: (a + b) & m
        case "sub":
            return (n, n), lambda a, b: (a - b) & m
        case "mul" | "mad":
            if part == "wide":
                product = lambda a, b: s(a) * s(b) & mask(2 * n)
                return (
                    ((n, n), product)
                    if base == "mul"
                    else ((n, n, 2 * n), lambda a, b, c: (product(a, b) + c) & mask(2 * n))
                )
            shift = n if part == "hi" else 0
            product = lambda a, b: (s(a) * s(b) >> shift) & m
            return ((n, n), product) if base == "mul" else ((n, n, n), lambda a, b, c: (product(a, b) + c) & m)
        case "mul24" | "mad24" if part == "lo":
            low = lambda x: signed(x & mask(24), 24) if is_s else x & mask(24)
            product = lambda a, b: low(a) * low(b) & m
            return ((n, n), product) if base == "mul24" else ((n, n, n), lambda a, b, c: (product(a, b) + c) & m)
        case "sad":
            return (n, n, n), lambda a, b, c: (c + abs(s(a) - s(b))) & m
        case "div":
            return (n, n), lambda a, b: _divide(s(a), s(b)) & m if b else m
        case "rem":
            return (n, n), lambda a, b: (s(a) - s(b) * _divide(s(a), s(b))) & m if b else a
        case "abs":
            return (n,), lambda a: abs(s(a)) & m
        case "neg":
            return (n,), lambda a: -a & m
        case "min":
            return (n, n), lambda a, b: min(s(a), s(b)) & m
        case "max":
            return (n, n), lambda a, b: max(s(a), s(b)) & m
        case "and":
            return (n, n), lambda a, b: a & b
        case "or":
            return (n, n), lambda a, b: a | b
        case "xor":
            return (n, n), lambda a, b: a ^ b
        case "not":
            return (n,), lambda a: a ^ m
        case "cnot":
            return (n,), lambda a: int(a == 0)
        case "lop3":
            return (32, 32, 32, 32), lambda a, b, c, table: sum(
                (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32)
            )
        case "shl":
            return (n, 32), lambda a, k: (a << k) & m if k < n else 0
        case "shr":
            return (n, 32), lambda a, k: (s(a) >> min(k, n)) & m
        case "shf":

            def funnel(a, b, c):
                k = c & 31 if "wrap" in words else min(c, 32)
                wide = b << 32 | a
                return (wide << k >> 32) & mask(32) if "l" in words else (wide >> k) & mask(32)

            return (32, 32, 32), funnel
        case "bfe":

            def extract(a, pos, length):
                pos, length = pos & 255, length & 255
                sign = 0 if not is_s or length == 0 else a >> min(pos + length - 1, n - 1) & 1
                out = 0
                for i in range(n):
                    bit = a >> (pos + i) & 1 if i < length and pos + i < n else sign
                    out |= bit << i
                return out

            return (n, 32, 32), extract
        case "bfi":

            def insert(a, b, pos, length):
                pos, length = pos & 255, length & 255
                out = b
                for i in range(length):
                    if pos + i < n:
                        out = out & ~(1 << (pos + i)) | (a >> i & 1) << (pos + i)
                return out

            return (n, n, 32, 32), insert
        case "bmsk":

            def bits(a, b):
                if "wrap" in words:
                    a, b = a & 31, b & 31
                return sum(1 << i for i in range(32) if a <= i < a + b)

            return (32, 32), bits
        case "szext":

            def extend(a, k):
                k = k & 31 if "wrap" in words else min(k, 32)
                low = a & mask(k)
                return signed(low, k) & m if is_s and k else low

            return (32, 32), extend
        case "brev":
            return (n,), lambda a: int(f"{a:0{n}b}"[::-1], 2)
        case "popc":
            return (n,), lambda a: a.bit_count()
        case "clz":
            return (n,), lambda a: n - a.bit_length()
        case "bfind":

            def find(a):
                x = a ^ m if is_s and a >> (n - 1) else a
                if not x:
                    return mask(32)
                return n - x.bit_length() if "shiftamt" in words else x.bit_length() - 1

            return (n,), find
        case "fns":
            return (32, 32, 32), _nth_set
        case "prmt":
            mode = next((w for w in words), "")
            return (32, 32, 32), lambda a, b, c: _permute(a, b, c, mode)
        case "selp":
            return (n, n, 1), lambda a, b, p: a if p else b
        case "slct":
            if types[-1] == "s32":
                n0 = WIDTH[types[0]]
                return (n0, n0, 32), lambda a, b, c: a if signed(c, 32) >= 0 else b
        case "dp4a":
            kinds = [x[0] for x in types]

            def dot(a, b, c):
                out = c
                for i in range(4):
                    x, y = a >> 8 * i & 255, b >> 8 * i & 255
                    out += (signed(x, 8) if kinds[0] == "s" else x) * (signed(y, 8) if kinds[1] == "s" else y)
                return out & mask(32)

            return (32, 32, 32), dot
        case "dp2a":
            kinds, first = [x[0] for x in types], 2 if "hi" in words else 0

            def dot_of_halves(a, b, c):
                out = c
                for i in range(2):
                    x, y = a >> 16 * i & 0xFFFF, b >> 8 * (first + i) & 255
                    out += (signed(x, 16) if kinds[0] == "s" else x) * (signed(y, 8) if kinds[1] == "s" else y)
                return out & mask(32)

            return (32, 32, 32), dot_of_halves
        case "vadd" | "vsub" | "vshl" | "vshr":
            return _video(opcode, base, types, words)
    raise NoMeaning(opcode)


def _by_halves(opcode: str, base: str, t: str, words: list[str]):
    """add, min and max of the two 16-bit integers in a word. .relu: at least 0."""
    if base not in ("add", "min", "max") or set(words) - {"relu"} or "relu" in words and (base == "add" or t[0] == "u"):
        raise NoMeaning(opcode)
    s = (lambda x: signed(x, 16)) if t[0] == "s" else (lambda x: x)
    join = {"add": lambda x, y: x + y, "min": min, "max": max}[base]

    def both(a, b):
        out = [join(s(a >> at & 0xFFFF), s(b >> at & 0xFFFF)) for at in (0, 16)]
        low, high = (max(x, 0) if "relu" in words else x for x in out)
        return low & 0xFFFF | (high & 0xFFFF) << 16

    return (32, 32), both


def _video(opcode: str, base: str, types: list[str], words: list[str]):
    """Scalar video instructions of whole words, alone or followed by an addition, without saturation.

    Their intermediate results have 33 or 34 bits, of which the low 32 remain.
    """
    adds = "add" in words
    if len(types) != 3 or set(words) - {"add", "clamp", "wrap"}:
        raise NoMeaning(opcode)
    of_a, of_b = (x[0] for x in types[1:])
    number = lambda x, kind: signed(x, 32) if kind == "s" else x

    def first(a, b):
        if base in ("vshl", "vshr"):
            by = b & 31 if "wrap" in words else min(b, 32)
            return a << by if base == "vshl" else number(a, of_a) >> by
        return number(a, of_a) + (number(b, of_b) if base == "vadd" else -number(b, of_b))

    if adds:
        return (32, 32, 32), lambda a, b, c: (first(a, b) + c) & mask(32)
    return (32, 32), lambda a, b: first(a, b) & mask(32)


def _differences(a: int, b: int, c: int, add: bool) -> int:
    sizes = [abs((a >> 8 * k & 255) - (b >> 8 * k & 255)) for k in range(4)]
    return (c + sum(sizes)) & mask(32) if add else sum(size << 8 * k for k, size in enumerate(sizes))


def _nth_set(a: int, base: int, offset: int) -> int:
    """The loop of the manual."""
    offset = signed(offset, 32)
    if base > 31:
        return mask(32)
    if offset == 0:
        return base if a >> base & 1 else mask(32)
    step, count, position = (1, offset, base) if offset > 0 else (-1, -offset, base)
    while 0 <= position < 32:
        if a >> position & 1:
            count -= 1
            if count == 0:
                return position
        position += step
    return mask(32)


def _permute(a: int, b: int, c: int, mode: str) -> int:
    data = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    if mode == "":
        out = []
        for i in range(4):
            k = c >> 4 * i & 15
            byte = data[k & 7]
            out.append((255 if byte & 128 else 0) if k & 8 else byte)
    else:
        k = c & 3
        rows = {
            "f4e": [k, k + 1, k + 2, k + 3],
            "b4e": [k, (k - 1) % 8, (k - 2) % 8, (k - 3) % 8],
            "rc8": [k] * 4,
            "ecl": [max(k, i) for i in range(4)],
            "ecr": [min(k, i) for i in range(4)],
            "rc16": [2 * (k & 1), 2 * (k & 1) + 1] * 2,
        }
        out = [data[i] for i in rows[mode]]
    return sum(byte << 8 * i for i, byte in enumerate(out))


def _compare(base, types, words):
    t = types[-1]
    n, kind = WIDTH[t], t[0]
    relation, *rest = words
    combine = next((w for w in rest if w in ("and", "or", "xor")), None)
    if kind == "f":
        ftz = "ftz" in rest

        def test(a, b):
            if ftz:
                a, b = floats.flush(a, n), floats.flush(b, n)
            x, y = floats.decode(a, n), floats.decode(b, n)
            lost = math.isnan(x) or math.isnan(y)
            if relation in ("num", "nan"):
                return lost == (relation == "nan")
            if relation in COMPARE:
                return not lost and COMPARE[relation](x, y)
            return lost or COMPARE[relation[:-1]](x, y)
    else:
        holds = COMPARE[UNSIGNED_NAMES.get(relation, relation)]
        test = (lambda a, b: holds(signed(a, n), signed(b, n))) if kind == "s" else holds

    def both(a, b, c=None):
        p = test(a, b)
        q = not p
        if combine:
            join = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y}[combine]
            p, q = join(p, bool(c)), join(q, bool(c))
        return int(p), int(q)

    widths = (n, n, 1) if combine else (n, n)
    if base == "setp":
        return widths, both
    out = types[0]
    one = floats.encode(1.0, 32) if out == "f32" else mask(32)
    return widths, lambda *a: one if both(*a)[0] else 0


def _packed(mods: list[str]):
    """cvt.pack.sat.u8.s32.b32: the second source lowest, the first above it, then the low bits of the third."""
    to, kind = mods[2], mods[2][0]
    n = int(to[1:])
    low, high = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if kind == "s" else (0, mask(n))
    part = lambda x: min(max(signed(x, 32), low), high) & mask(n)
    if len(mods) > 4:
        return (32, 32, 32), lambda a, b, c: (c << 2 * n | part(a) << n | part(b)) & mask(32)
    return (32, 32), lambda a, b: part(a) << n | part(b)


def _convert(types, words):
    if len(types) != 2 or set(words) - {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat"}:
        raise NoMeaning("cvt")
    to, of = types
    n, k = WIDTH[to], WIDTH[of]
    ftz, sat = "ftz" in words, "sat" in words
    mode = next((w[:2] for w in words if w[0] == "r"), None)
    if to in ("bf16", "f16x2", "bf16x2") or of in ("bf16", "f16x2", "bf16x2"):
        raise NoMeaning("cvt")
    if to[0] == "f" and of[0] == "f":

        def between(a):
            bits = exactly(a)
            return narrow.saturated(bits, n) if sat else bits

        def exactly(a):
            if floats.is_nan(a, k) and 64 in (n, k):
                return floats.nan_between(floats.NAN[32] if ftz and k == 32 else a, k, n)
            x = floats.decode(floats.flush(a, k) if ftz and k == 32 else a, k)
            if not math.isfinite(x):
                return floats.encode(x, n)
            f = floats.Fraction(x)
            if any(w in ("rni", "rzi", "rmi", "rpi") for w in words):
                f = floats.Fraction(floats.integer(f, mode))
            bits = floats.rounded(f, n, mode or "rn", math.copysign(1, x) < 0)
            return floats.flush(bits, n) if ftz and n == 32 else bits

        return (k,), between
    if to[0] == "f":
        if sat:
            raise NoMeaning("cvt")
        return (k,), lambda a: floats.rounded(floats.Fraction(signed(a, k) if of[0] == "s" else a), n, mode or "rn")
    if of[0] == "f":
        return (k,), lambda a: floats.to_integer(a, k, n, to[0] == "s", mode, ftz)

    def whole(a):
        x = signed(a, k) if of[0] == "s" else a
        if sat:
            low, high = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if to[0] == "s" else (0, mask(n))
            x = min(max(x, low), high)
        return x & mask(n)

    return (k,), whole
