"""Float operations that are compared with a GPU: each as PTX, with a kernel and its operands.

fma.rm.ftz.f32 of (f32, f32, f32)   ->   out[t] = the result's bits, from in[t], in[n + t], in[2 n + t]
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import product

import numpy as np

COUNT = 2048  # operands of each type tried on a GPU
WIDTHS = {
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "u8": 8,
    "s8": 8,
    "u16": 16,
    "s16": 16,
    "u32": 32,
    "s32": 32,
    "u64": 64,
    "s64": 64,
    "pred": 1,
    "b32": 32,
}
MODES = ("rn", "rz", "rm", "rp")
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


@dataclass(frozen=True)
class Operation:
    """ptx: the opcode; sources, result: types ("pred": a predicate, as 0 or 1)."""

    ptx: str
    sources: tuple[str, ...]
    result: str


def every() -> list[Operation]:
    """All operations."""
    return [*_arithmetic(), *_comparisons(), *_conversions(), *_divisions()]


def _arithmetic():
    for name, count in (("add", 2), ("mul", 2), ("fma", 3)):
        for mode in MODES:
            for ftz, sat in product(("", ".ftz"), ("", ".sat")):
                yield Operation(f"{name}.{mode}{ftz}{sat}.f32", ("f32",) * count, "f32")
            yield Operation(f"{name}.{mode}.f64", ("f64",) * count, "f64")
        for marks in ("", ".sat", ".ftz", ".ftz.sat"):
            yield Operation(f"{name}.rn{marks}.f16", ("f16",) * count, "f16")
    yield Operation("sub.rn.f32", ("f32",) * 2, "f32")
    yield Operation("sub.rm.f64", ("f64",) * 2, "f64")
    for name in ("min", "max"):
        for marks in ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs"):
            yield Operation(f"{name}{marks}.f32", ("f32",) * 2, "f32")
        yield from (Operation(f"{name}.{t}", (t,) * 2, t) for t in ("f64", "f16"))
    yield from (
        Operation(f"{name}.{t}", (t.split(".")[-1],), t.split(".")[-1])
        for name in ("abs", "neg")
        for t in ("ftz.f32", "f64")
    )


def _comparisons():
    for relation in RELATIONS:
        yield from (
            Operation(f"setp.{relation}.{t}", (t.split(".")[-1],) * 2, "pred") for t in ("f32", "ftz.f32", "f64", "f16")
        )


def _conversions():
    for mode in ("rni", "rzi", "rmi", "rpi"):
        yield from (
            Operation(f"cvt.{mode}{marks}.f32.f32", ("f32",), "f32") for marks in ("", ".ftz", ".sat", ".ftz.sat")
        )
        yield from (Operation(f"cvt.{mode}.{t}.{t}", (t,), t) for t in ("f64", "f16"))
        for to in INTEGERS:
            yield from (Operation(f"cvt.{mode}.{to}.{of}", (of.split(".")[-1],), to) for of in ("f16", "f32", "f64"))
            yield Operation(f"cvt.{mode}.ftz.{to}.f32", ("f32",), to)
    for mode in MODES:
        yield from (Operation(f"cvt.{mode}{marks}.f32.f64", ("f64",), "f32") for marks in ("", ".ftz", ".sat"))
        if mode in ("rn", "rz"):
            yield from (
                Operation(f"cvt.{mode}{sat}.f16.{of}", (of,), "f16") for sat in ("", ".sat") for of in ("f64", "f32")
            )
        yield from (Operation(f"cvt.{mode}.{to}.{of}", (of,), to) for of in INTEGERS for to in ("f16", "f32", "f64"))
    for text in (
        "f64.f32",
        "ftz.f64.f32",
        "f32.f16",
        "f64.f16",
        "sat.f64.f32",
        "sat.f32.f32",
        "ftz.sat.f32.f32",
        "ftz.f32.f16",
        "rn.bf16.f32",
        "rz.bf16.f32",
        "f32.bf16",
    ):
        yield Operation(f"cvt.{text}", (text.split(".")[-1],), text.split(".")[-2])
    yield from (
        Operation(f"cvt.{text}.f32", ("f32",) * 2, "b32")
        for text in ("rn.f16x2", "rz.f16x2", "rn.relu.f16x2", "rn.bf16x2")
    )


def _divisions():
    for mode in MODES:
        yield from (Operation(f"div.{mode}.{t}", (t,) * 2, t) for t in ("f32", "f64"))
    yield from (
        Operation(f"div.{kind}.f32", ("f32",) * 2, "f32")
        for kind in ("rn.ftz", "approx", "approx.ftz", "full", "full.ftz")
    )
    for name in ("sqrt", "rcp"):
        yield from (Operation(f"{name}.{mode}.{t}", (t,), t) for mode in MODES for t in ("f32", "f64"))
        yield Operation(f"{name}.rn.ftz.f32", ("f32",), "f32")
    for name in ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"):
        yield from (Operation(f"{name}.approx{ftz}.f32", ("f32",), "f32") for ftz in ("", ".ftz"))
    yield from (
        Operation(f"{text}.f64", ("f64",), "f64") for text in ("rsqrt.approx", "rsqrt.approx.ftz", "rcp.approx.ftz")
    )
    yield Operation("tanh.approx.f32", ("f32",), "f32")
    yield from (
        Operation(f"testp.{text}", (text[-3:],), "pred") for text in ("normal.f32", "subnormal.f32", "infinite.f64")
    )
    yield Operation("copysign.f32", ("f32",) * 2, "f32")


# --- kernels --------------------------------------------------------------------------------


def module(operations: list[Operation], arch: str) -> str:
    """PTX with a kernel `op0`, `op1`, … for each: (out, in, n), 8 bytes per element, one thread per element."""
    head = f".version 9.0\n.target {arch}\n.address_size 64\n"
    return head + "".join(_kernel(f"op{k}", operation) for k, operation in enumerate(operations))


def _kernel(name: str, operation: Operation) -> str:
    lines = [
        f"// {operation.ptx}",
        f".visible .entry {name}(.param .u64 out, .param .u64 in, .param .u32 n) {{",
        ".reg .b32 %t, %n, %c, %b, %low, %high, %w; .reg .b64 %o, %i, %k, %q; .reg .b16 %h, %g; .reg .pred %p;",
        "ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; ld.param.u32 %n, [n];",
        "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %b, %ntid.x; mad.lo.u32 %t, %c, %b, %t;",
        "mul.wide.u32 %k, %t, 8; add.u64 %o, %o, %k; add.u64 %i, %i, %k; mul.wide.u32 %k, %n, 8;",
    ]
    for at, kind in enumerate(operation.sources):
        width = max(16, WIDTHS[kind])
        lines.append(
            f".reg .b{width} %x{at}; ld.global.u64 %q, [%i]; add.u64 %i, %i, %k;"
            + {
                64: f" mov.b64 %x{at}, %q;",
                32: f" mov.b64 {{%x{at}, %high}}, %q;",
                16: f" mov.b64 {{%low, %high}}, %q; mov.b32 {{%x{at}, %g}}, %low;",
            }[width]
        )
    sources = ", ".join(f"%x{at}" for at in range(len(operation.sources)))
    width = WIDTHS[operation.result]
    if width == 1:
        lines.append(f"{operation.ptx} %p, {sources}; selp.u32 %w, 1, 0, %p; mov.b64 %q, {{%w, %w}};")
    elif width == 64:
        lines.append(f"{operation.ptx} %q, {sources};")
    elif width == 32:
        lines.append(f"{operation.ptx} %w, {sources}; mov.u32 %high, 0; mov.b64 %q, {{%w, %high}};")
    else:
        lines.append(
            f"{operation.ptx} %h, {sources}; mov.u16 %g, 0; mov.b32 %w, {{%h, %g}};"
            " mov.u32 %high, 0; mov.b64 %q, {%w, %high};"
        )
    return "\n".join([*lines, "st.global.u64 [%o], %q; ret; }", ""])


# --- operands -------------------------------------------------------------------------------

FORMATS = {"f16": (16, 10, "<e", "<H"), "f32": (32, 23, "<f", "<I"), "f64": (64, 52, "<d", "<Q")}
_NUMBERS = (
    1,
    2,
    0.5,
    1.5,
    2.5,
    3.5,
    0.25,
    0.75,
    3,
    7,
    100,
    127,
    127.5,
    128,
    128.5,
    254.5,
    255,
    255.5,
    256,
    1000.5,
    1023,
    2047.5,
    2048,
    4095,
    32767,
    32767.5,
    32768,
)
_LARGE = (
    65535,
    65535.5,
    65536,
    2**23 - 0.5,
    2**23 + 1,
    2**24 - 1,
    2**24,
    2**31 - 128,
    2.0**31,
    2.0**32 - 256,
    2.0**32,
    2.0**62,
    2.0**63,
    2.0**64,
    1 / 3,
    2 / 3,
    1e-10,
    1e10,
    65504.0,
    65519.0,
    65520.0,
    5.96e-8,
    2.98e-8,
    3.0e-8,
    6.1e-5,
    6.09e-5,
)
_DOUBLE = (
    2.0**52 - 0.5,
    2.0**31 - 0.5,
    2.0**32 - 0.5,
    2**63 - 1024.0,
    2**64 - 2048.0,
    1e300,
    3.4028235677973366e38,
    3.4028235677973362e38,
    1.1754943508222875e-38,
    1.1754942807573643e-38,
    7e-46,
    7.1e-46,
    5.96e-8,
    2.98e-8,
)


def operands(seed: int = 20261122) -> dict[str, np.ndarray]:
    """{type: (3, COUNT) uint64}; "i" for all integers.

    Boundary cases, random bits, operands that cancel, results near the smallest and the largest number, products just
    below the smallest normal one.
    """
    rng = np.random.default_rng(seed)
    out = {name: _floats(rng, *form) for name, form in FORMATS.items()}
    out["bf16"] = out["f32"] >> np.uint64(16)
    out["i"] = np.stack([_integers(rng)] * 3)
    return out


def _borders(bits: int, fraction: int, real: str, whole: str) -> np.ndarray:
    top = ((1 << bits - 1 - fraction) - 1) << fraction
    one = 1 << fraction
    found = [
        0,
        1,
        2,
        one - 1,
        one,
        one + 1,
        top - 1,
        top,
        top | 1,
        top | one >> 1,
        top | one >> 1 | 0x55,
        top + (one >> 2),
    ]
    numbers = _NUMBERS + (_LARGE if bits > 16 else ()) + (_DOUBLE if bits == 64 else ())
    found += [struct.unpack(whole, struct.pack(real, number))[0] for number in numbers]
    array = np.array(found, np.uint64)
    return np.concatenate([array, array | np.uint64(1 << bits - 1)])


def _floats(rng, bits: int, fraction: int, real: str, whole: str) -> np.ndarray:
    part, top = COUNT // 5, (1 << bits - 1 - fraction) - 1
    bias = top // 2
    borders = _borders(bits, fraction, real, whole)
    signs = lambda: rng.integers(0, 2, (3, part)).astype(np.uint64) << np.uint64(bits - 1)
    fractions = lambda: rng.integers(0, 1 << fraction, (3, part)).astype(np.uint64)
    joined = lambda exponents, low: (
        signs() | np.clip(exponents, 0, top - 1).astype(np.uint64) << np.uint64(fraction) | low
    )
    chosen = borders[rng.integers(0, len(borders), (3, COUNT - 4 * part))]
    random = rng.integers(0, 1 << 63, (3, part), np.uint64) * np.uint64(2) + np.uint64(1) & np.uint64((1 << bits) - 1)
    near = bias + rng.integers(-fraction - 3, fraction + 4, (3, part))
    near[2] = near[0] + near[1] - bias + rng.integers(-fraction - 2, fraction + 3, part)
    ends = rng.integers(1, top, (3, part))
    low = rng.random(part) < 0.5
    ends[1] = np.where(
        low, bias - ends[0] - rng.integers(0, fraction, part), 3 * bias - ends[0] + rng.integers(-2, 3, part)
    )
    ends[2] = np.where(low, rng.integers(0, 4, part), rng.integers(top - 4, top, part))
    return np.concatenate(
        [chosen, random, joined(near, fractions()), joined(ends, fractions()), _just_below(rng, bits, fraction, part)],
        axis=1,
    )


def _just_below(rng, bits: int, fraction: int, part: int) -> np.ndarray:
    """Factors whose product is next to the smallest normal number, and small addends."""
    bias, one = (1 << bits - 2 - fraction) - 1, 1 << fraction
    first = rng.integers(1, 2 * bias, part)
    low = rng.integers(0, one, part)
    inverse = np.array(
        [
            min(max(round(2 * one * one / (int(x) + one)) - one + int(d), 0), one - 1)
            for x, d in zip(low, rng.integers(-2, 3, part))
        ]
    )
    second = np.clip(bias - first + 1 + rng.integers(-1, 2, part), 0, 2 * bias)
    addend = rng.choice([0, 1, 2, 3, one - 1, one, one + 1, one >> 1, 2 * one], part)
    numbers = np.stack([first << fraction | low, second << fraction | inverse, addend]).astype(np.uint64)
    return numbers | rng.integers(0, 2, (3, part)).astype(np.uint64) << np.uint64(bits - 1)


def _integers(rng) -> np.ndarray:
    found = [
        n
        for w in (8, 10, 11, 12, 16, 23, 24, 25, 31, 32, 52, 53, 54, 63, 64)
        for n in ((1 << w) - 1, 1 << w - 1, (1 << w - 1) + 1, (1 << w) - 2, (1 << w) + 1, 3 << w - 1 | 1)
    ] + [0, 1, 2, 3, 7, 65504, 65519, 65520]
    borders = np.array([n % (1 << 64) for n in found] + [-n % (1 << 64) for n in found], np.uint64)
    count = COUNT - len(borders)
    random = rng.integers(0, 1 << 63, count, np.uint64) * np.uint64(2) >> rng.integers(0, 64, count).astype(np.uint64)
    return np.concatenate([borders, np.where(rng.random(count) < 0.3, ~random, random)])
