"""Packed halves, bfloat16 and 8-bit floats: each number of a format is listed, and the nearest to a result is taken.

meaning("cvt.rn.satfinite.e4m3x2.f32")  ->  (32, 32), a function of two integers that returns the two bytes
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import cache

from . import floats

HALF, WORD = 16, 32
TYPES = {"f16x2": (2, "f16"), "bf16x2": (2, "bf16"), "bf16": (1, "bf16"), "f16": (1, "f16")}
BYTES = {"e4m3x2": "e4m3", "e5m2x2": "e5m2"}
NAN, INFINITY = {"f16": 0x7FFF, "bf16": 0x7FFF, "e4m3": 0x7F, "e5m2": 0x7F}, {"f16": 0x7C00, "bf16": 0x7F80}
ONE = {"f16": 0x3C00, "bf16": 0x3F80}
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


def value(bits: int, form: str) -> float:
    """The number as a double."""
    if form == "bf16":
        return floats.decode(bits << HALF, WORD)
    if form == "f16":
        return floats.decode(bits, HALF)
    sign, exponent, fraction = (
        bits >> 7,
        *((bits >> 3 & 15, bits & 7) if form == "e4m3" else (bits >> 2 & 31, bits & 3)),
    )
    digits, bias = (3, 7) if form == "e4m3" else (2, 15)
    if form == "e4m3" and bits & 0x7F == 0x7F or form == "e5m2" and exponent == 31 and fraction:
        return math.nan
    if form == "e5m2" and exponent == 31:
        return -math.inf if sign else math.inf
    size = (fraction / 2**digits + (exponent > 0)) * 2.0 ** (max(exponent, 1) - bias)
    return -size if sign else size


@cache
def numbers(form: str) -> list[Fraction]:
    """All numbers from 0, in the order of their bits."""
    out = []
    for bits in range(1 << (7 if form in ("e4m3", "e5m2") else 15)):
        x = value(bits, form)
        if not math.isfinite(x):
            break
        out.append(Fraction(x))
    return out


def nearest(x: Fraction, form: str, mode: str, negative: bool, finite: bool = False) -> int:
    """finite: numbers beyond the largest become that."""
    every, size = numbers(form), abs(x)
    top = (0x80 if form in ("e4m3", "e5m2") else 0x8000) if negative else 0
    up = {"rp": not negative, "rm": negative}.get(mode, False)
    at = bisect_left(every, size)  # the first that is not smaller
    if at < len(every) and every[at] == size:
        return top | at
    if at == len(every):
        beyond = 2 * every[-1] - every[-2]  # the next, if there were one
        away = up or mode == "rn" and 2 * size >= every[-1] + beyond
        return top | (len(every) if away and not finite else len(every) - 1)
    low, high = every[at - 1], every[at]
    if mode == "rn":
        up = 2 * size > low + high or 2 * size == low + high and at % 2 == 0
    return top | (at if up else at - 1)


def encoded(
    x: float | Fraction, form: str, mode: str = "rn", negative: bool | None = None, finite: bool = False
) -> int:
    if isinstance(x, float) and math.isnan(x):
        return NAN[form]
    negative = math.copysign(1, x) < 0 if negative is None else negative
    if isinstance(x, float) and math.isinf(x):
        return nearest(Fraction(10) ** 60, form, "rz", negative, True) if finite else INFINITY[form] | 0x8000 * negative
    return nearest(Fraction(x), form, mode, negative, finite)


def compute(name: str, form: str, args: tuple[int, ...], ftz: bool, sat: bool) -> int:
    if name in ("neg", "abs"):
        return args[0] ^ 0x8000 if name == "neg" else args[0] & 0x7FFF
    if name in ("min", "max"):
        if form == "f16":
            return floats.compute(name, HALF, args, "rn", ftz)
        return floats.compute(name, WORD, tuple(a << HALF for a in args)) >> HALF
    if form == "f16":
        return (
            saturated(floats.compute(name, HALF, args, "rn", ftz), HALF)
            if sat
            else floats.compute(name, HALF, args, "rn", ftz)
        )
    x = [value(a, form) for a in args]
    special = floats._special(name, x)
    if special is not None:
        return encoded(special, form)
    f = [Fraction(v) for v in x]
    signs = [a >> 15 for a in args]
    if name == "mul":
        return encoded(f[0] * f[1], form, negative=bool(signs[0] ^ signs[1]))
    if name == "fma":
        exact, one, other = f[0] * f[1] + f[2], signs[0] ^ signs[1], signs[2]
    else:
        exact, one, other = f[0] + (f[1] if name == "add" else -f[1]), signs[0], signs[1] ^ (name == "sub")
    return encoded(exact, form, negative=exact < 0 if exact else bool(one and other))


def saturated(bits: int, width: int) -> int:
    """Between 0 and 1; NaN becomes 0."""
    x = floats.decode(bits, width)
    return floats.encode(1.0, width) if x > 1 else bits if x > 0 else 0


def halves(word: int, count: int) -> list[int]:
    return [word >> HALF * k & 0xFFFF for k in range(count)]


def joined(parts: list[int], bits: int = HALF) -> int:
    return sum(part << bits * k for k, part in enumerate(parts))


def meaning(opcode: str):
    """(widths of the sources, function), or None if the opcode is not one of these."""
    base, *mods = opcode.split(".")
    names = [m for m in mods if m in TYPES or m in BYTES or m in ("f32", "f64", "tf32", "s32", "u32", "s16", "u16")]
    words = [m for m in mods if m not in names]
    if base == "cvt":
        return converted(names, words)
    if not names or names[-1] not in TYPES or names[-1] == "f16" and base != "set" and "NaN" not in words:
        return None
    count, form = TYPES[names[-1]]
    wide = HALF * count
    if base in ("setp", "set"):
        return compared(base, names, words)
    if set(words) - {"rn", "ftz", "sat", "NaN"}:
        return None
    arity = {"neg": 1, "abs": 1, "fma": 3}.get(base, 2)

    def run(*args: int) -> int:
        out = []
        for parts in zip(*(halves(a, count) for a in args)):
            lost = any(math.isnan(value(p, form)) for p in parts)
            result = (
                NAN[form] if lost and "NaN" in words else compute(base, form, parts, "ftz" in words, "sat" in words)
            )
            out.append(result)
        return joined(out)

    return (wide,) * arity, run


def compared(base: str, names: list[str], words: list[str]):
    count, form = TYPES[names[-1]]
    relation, *rest = words
    combine = next((w for w in rest if w in ("and", "or", "xor")), None)

    def test(a: int, b: int) -> bool:
        x, y = value(a, form), value(b, form)
        lost = math.isnan(x) or math.isnan(y)
        if relation in ("num", "nan"):
            return lost == (relation == "nan")
        holds = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
        return not lost and holds[relation] if relation in COMPARE else lost or holds[relation[:-1]]

    def truths(a: int, b: int, c: int = 0) -> list[bool]:
        found = [test(x, y) for x, y in zip(halves(a, count), halves(b, count))]
        if base == "setp" and count == 1:
            found.append(not found[0])
        join = {"and": lambda p: p and bool(c), "or": lambda p: p or bool(c), "xor": lambda p: p != bool(c)}
        return [join[combine](p) if combine else p for p in found]

    widths = (HALF * count,) * 2 + ((1,) if combine else ())
    if base == "setp":
        return widths, lambda *args: tuple(int(p) for p in truths(*args))
    to = names[0]
    bits = HALF if count == 2 else 32 if to.endswith("32") else HALF
    true = ONE[form] if to in TYPES else (1 << bits) - 1
    return widths, lambda *args: joined([true if p else 0 for p in truths(*args)])


def converted(names: list[str], words: list[str]):
    if len(names) != 2:
        return None
    to, of = names
    mode = next((w for w in words if w in ("rn", "rz", "rm", "rp")), None)
    relu = lambda x: 0.0 if "relu" in words and x < 0 else x
    if to in ("f16x2", "bf16x2") and of == "f32":
        form = TYPES[to][1]
        return (WORD, WORD), lambda a, b: joined([encoded(relu(floats.decode(x, WORD)), form, mode) for x in (b, a)])
    if to == "bf16" and of in ("f32", "f16"):
        width = WORD if of == "f32" else HALF
        return (width,), lambda a: encoded(relu(floats.decode(a, width)), "bf16", mode)
    if to == "bf16" and of in ("s32", "u32"):
        signed = lambda a: a - (1 << WORD) if of == "s32" and a >> 31 else a
        return (WORD,), lambda a: encoded(Fraction(signed(a)), "bf16", mode)
    if of == "bf16" and to in ("f32", "f16"):
        if to == "f32":
            return (HALF,), lambda a: a << HALF
        return (HALF,), lambda a: encoded(value(a, "bf16"), "f16", mode)
    if of == "bf16" and to in ("s32", "u32", "s16", "u16"):
        rounding, bits = next(w for w in words if w[0] == "r")[:2], int(to[1:])
        return (HALF,), lambda a: floats.to_integer(a << HALF, WORD, bits, to[0] == "s", rounding, False)
    if to in BYTES and of == "f32":
        form = BYTES[to]
        return (WORD, WORD), lambda a, b: joined(
            [encoded(relu(floats.decode(x, WORD)), form, "rn", finite=True) for x in (b, a)], 8
        )
    if to in BYTES and of == "f16x2":
        form = BYTES[to]
        return (WORD,), lambda a: joined(
            [encoded(relu(floats.decode(x, HALF)), form, "rn", finite=True) for x in halves(a, 2)], 8
        )
    if of in BYTES and to == "f16x2":
        return (HALF,), lambda a: joined([encoded(value(a >> 8 * k & 255, BYTES[of]), "f16") for k in (0, 1)])
    if (to, of) == ("tf32", "f32"):
        return (WORD,), to_tf32
    return None


def to_tf32(a: int) -> int:
    """10 bits of the fraction; the nearest, and of two the one further from zero."""
    x = floats.decode(a, WORD)
    if not math.isfinite(x):
        return a
    low, rest = a & ~0x1FFF, a & 0x1FFF
    return low + 0x2000 if rest >= 0x1000 else low
