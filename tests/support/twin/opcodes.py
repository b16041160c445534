"""Every opcode that the twin computes, on awkward values: `module(opcodes, rng)` is a kernel with its expected results.

ld.const.u32 %r11, [t0_0 + 4 * tid];  ld.const.u32 %r12, [t0_1 + 4 * tid];  bfe.s32 %r14, %r11, %r12, 7;
-> expected[("bfe.s32", "%r14")] = the 32 lanes' results, by `arith`
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

from . import arith
from .code import WIDTH

LANES = 32
PREFIX = {1: "p", 16: "h", 32: "r", 64: "rd"}
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
ROUNDINGS, WHOLE = ("rn", "rz", "rm", "rp"), ("rni", "rzi", "rmi", "rpi")
COUNTS = ("shl", "shr", "shf", "bfe", "bfi", "bmsk", "szext", "fns")  # whose later operands are positions and lengths
FLOAT_CODES = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
INFINITY, NAN = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF << 52}, {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8 << 48}


def every_opcode() -> list[str]:
    out = [
        f"{b}.{t}"
        for t in INTEGERS
        for b in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max", "sad", "mad.lo", "mad.hi", "shr")
    ]
    out += [f"{b}.wide.{t}" for t in INTEGERS[:4] for b in ("mul", "mad")]
    out += [f"{b}.{t}" for t in ("s16", "s32", "s64") for b in ("abs", "neg")]
    out += [f"{b}.{t}" for t in ("b16", "b32", "b64") for b in ("and", "or", "xor", "not", "cnot", "shl", "selp")]
    out += [f"{b}.{t}" for t in ("b32", "b64") for b in ("brev", "popc", "clz", "bfi")]
    out += [f"{b}.{t}" for t in INTEGERS[2:] for b in ("bfe", "bfind", "bfind.shiftamt")]
    out += ["fns.b32", "slct.u32.s32", "add.sat.s32", "sub.sat.s32"]
    out += [f"bmsk.{m}.b32" for m in ("clamp", "wrap")] + [
        f"szext.{m}.{t}" for m in ("clamp", "wrap") for t in ("u32", "s32")
    ]
    out += [f"shf.{d}.{m}.b32" for d in "lr" for m in ("wrap", "clamp")]
    out += [f"prmt.b32{m}" for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")]
    out += [f"{b}.{t}" for b in ("mul24.lo", "mad24.lo") for t in ("u32", "s32")] + [
        f"{dot}.{a}.{b}" for dot in ("dp4a", "dp2a.lo", "dp2a.hi") for a in ("u32", "s32") for b in ("u32", "s32")
    ]
    out += [f"{b}.{t}" for b in ("add", "min", "max") for t in ("u16x2", "s16x2")]
    out += [f"{b}.relu.{t}" for b in ("min", "max") for t in ("s16x2", "s32")]
    out += [f"{b}.{t}{add}" for b in ("vadd", "vsub") for t in ("u32.u32.u32", "s32.s32.s32") for add in ("", ".add")]
    out += [
        f"{b}.{t}.{mode}{add}"
        for b in ("vshl", "vshr")
        for t in ("u32.u32.u32", "s32.s32.u32")
        for mode in ("clamp", "wrap")
        for add in ("", ".add")
    ]
    out += ["vabsdiff4.u32.u32.u32.add"]
    out += [f"cvt.pack.sat.{t}.s32" for t in ("u16", "s16")]
    out += [f"cvt.pack.sat.{t}.s32.b32" for t in ("u8", "s8", "u4", "s4", "u2", "s2")]
    out += ["lop3.b32"] * 3
    out += [f"setp.{r}.{t}" for t in INTEGERS for r in RELATIONS] + [f"setp.{r}.u32" for r in ("lo", "ls", "hi", "hs")]
    out += [f"setp.lt.{b}.s32" for b in ("and", "or", "xor")] + [
        f"set.lt.{t}" for t in ("u32.f32", "u32.s32", "u32.f64", "f32.s32")
    ]
    out += [
        f"{b}.{r}{f}.f32"
        for r in ROUNDINGS
        for f in ("", ".ftz")
        for b in ("add", "sub", "mul", "fma", "div", "rcp", "sqrt")
    ]
    out += [f"{b}.{r}.f64" for r in ROUNDINGS for b in ("add", "sub", "mul", "fma", "div", "rcp", "sqrt")]
    out += [f"{b}.{t}" for b in ("neg", "abs", "min", "max") for t in ("f16", "f32", "f64")] + [
        f"{b}.rn.f16" for b in ("add", "sub", "mul", "fma")
    ]
    out += [
        f"setp.{r}.{t}"
        for t in ("f16", "f32", "ftz.f32", "f64")
        for r in RELATIONS + tuple(x + "u" for x in RELATIONS) + ("num", "nan")
    ]
    out += [
        f"cvt.{sat}{a}.{b}"
        for a in ("u8", "s8") + INTEGERS
        for b in ("u8", "s8") + INTEGERS
        if a != b
        for sat in ("", "sat.")
    ]
    out += [f"cvt.{m}.{t}.{f}" for t in INTEGERS for f in ("f16", "f32", "f64") for m in WHOLE]
    out += [
        f"cvt.{m}.{f}.{t}"
        for t in INTEGERS
        for f in ("f16", "f32", "f64")
        for m in (ROUNDINGS if f != "f16" else ROUNDINGS[:1])
    ]
    out += [f"cvt.{m}.{f}.{f}" for f in ("f16", "f32", "f64") for m in WHOLE] + [f"cvt.{m}.ftz.s32.f32" for m in WHOLE]
    out += [f"cvt.{m}.f32.f64" for m in ROUNDINGS] + [
        "cvt.f64.f32",
        "cvt.rn.f16.f32",
        "cvt.rz.f16.f32",
        "cvt.f32.f16",
        "cvt.rn.f16.f64",
        "cvt.f64.f16",
    ]
    out += [
        f"{b}{form}.{t}" for t in ("f32", "f16") for b in ("add", "mul.rn", "fma.rn") for form in (".sat", ".ftz.sat")
    ]
    out += ["copysign.f32", "copysign.f64", "cvt.sat.f32.f32", "cvt.rn.sat.f16.f32", "max.relu.s32", "max.s32.relu"]
    out += ["vabsdiff4.u32.u32.u32", "vabsdiff4.u32.u32.u32.add", "min.NaN.f32", "max.ftz.NaN.f32", "min.NaN.f16"]
    out += [f"setp.{r}.ftz.f32" for r in ("lt", "geu", "nan")] + ["set.gt.ftz.u32.f32"]
    for t in ("f16x2", "bf16", "bf16x2"):
        out += [f"{b}.{t}" for b in ("add.rn", "sub.rn", "mul.rn", "fma.rn", "neg", "abs", "min", "max", "max.NaN")]
        out += [f"setp.{r}.{t}" for r in (*RELATIONS, "gtu", "num", "nan")] + [f"setp.lt.xor.{t}", f"set.lt.{t}.{t}"]
        out += [f"set.geu.u32.{t}"]
    out += ["fma.rn.sat.f16x2", "add.rn.ftz.f16x2", "min.ftz.f16x2", "set.nan.f16.f16", "set.eq.s16.f16"]
    out += ["set.lt.and.u16.bf16"]
    out += [f"cvt.{m}{r}.bf16{x}.f32" for m in ("rn", "rz") for r in ("", ".relu") for x in ("", "x2")]
    out += ["cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32", "cvt.f32.bf16", "cvt.rn.f16.bf16", "cvt.rn.bf16.f16"]
    out += ["cvt.rn.bf16.s32", "cvt.rn.bf16.u32", "cvt.rna.tf32.f32"]
    out += [f"cvt.{m}.{t}.bf16" for m in WHOLE for t in ("s32", "u32", "s16", "u16")]
    out += [
        f"cvt.rn.satfinite{r}.{b}.{f}" for r in ("", ".relu") for b in ("e4m3x2", "e5m2x2") for f in ("f32", "f16x2")
    ]
    out += [f"cvt.rn.f16x2.{b}" for b in ("e4m3x2", "e5m2x2")]
    return out


def awkward(rng: random.Random, bits: int) -> int:
    """Random bits, small and extreme integers, powers of two, floats whose sums and products round."""
    style = rng.randrange(10)
    if style < 3 or bits < 16:
        value = rng.getrandbits(bits)
    elif style < 5:
        value = rng.choice(
            [
                0,
                1,
                2,
                3,
                5,
                31,
                32,
                33,
                63,
                64,
                255,
                256,
                -1,
                -2,
                -33,
                1 << (bits - 1),
                (1 << (bits - 1)) - 1,
                rng.randrange(40),
            ]
        )
    elif style < 6:
        value = 1 << rng.randrange(bits)
    elif rng.random() < 0.1:
        value = rng.choice([NAN[bits], INFINITY[bits], INFINITY[bits] | 1 << (bits - 1)])
    else:
        x = rng.choice(
            [0.0, 1.0, 1.5, 97.0, 172961.0, 16777217.0, 1 + 2.0**-23, rng.random(), rng.randrange(1, 1 << 20)]
        )
        x *= rng.choice([1, -1]) * 2.0 ** rng.choice([0, 0, 0, -24, -60, -25, 24, 30, 40, -130, rng.randrange(-30, 30)])
        number, pattern = FLOAT_CODES[bits]
        try:
            value = struct.unpack(pattern, struct.pack(number, x))[0]
        except OverflowError:
            value = INFINITY[bits]
    return value & (1 << bits) - 1


def result_widths(opcode: str) -> tuple[int, ...]:
    base, *words = opcode.split(".")
    types = [w for w in words if w in WIDTH]
    if words[-2] in ("e4m3x2", "e5m2x2", "tf32") if len(words) > 1 else False:
        return (32,) if words[-2] == "tf32" else (16,)
    if base == "setp":
        return 1, 1
    if base in ("popc", "clz", "bfind", "dp4a", "vabsdiff4") or "pack" in words:
        return (32,)
    bits = WIDTH[types[0] if base in ("cvt", "set", "slct") else types[-1]]
    return (bits * 2,) if "wide" in words else (bits,)


@dataclass
class Module:
    """text: PTX; expected: (opcode, register) -> 32 results; inputs: the same -> rows of operands."""

    text: str
    expected: dict[tuple[str, str], list[int]]
    inputs: dict[tuple[str, str], list[tuple[int, ...]]]


class Builder:
    def __init__(self, rng: random.Random):
        self.rng, self.tables, self.lines = rng, [], []
        self.counts = {"p": 0, "h": 0, "r": 10, "rd": 0}
        self.made = Module("", {}, {})

    def new(self, bits: int) -> str:
        prefix = PREFIX[bits if bits == 1 else max(bits, 16)]
        self.counts[prefix] += 1
        return f"%{prefix}{self.counts[prefix]}"

    def source(self, bits: int, column: list[int]) -> str:
        """A register with one value per lane."""
        wide, table = (32 if bits == 1 else bits), f"t{len(self.tables)}"
        self.tables.append(f".const .align 8 .b{wide} {table}[{LANES}] = {{{', '.join(map(str, column))}}};")
        base, address, register = self.new(64), self.new(64), self.new(wide)
        self.lines += [
            f"mov.u64 {base}, {table};",
            f"mad.wide.u32 {address}, %r1, {wide // 8}, {base};",
            f"ld.const.u{wide} {register}, [{address}];",
        ]
        if bits > 1:
            return register
        predicate = self.new(1)
        self.lines.append(f"setp.ne.u32 {predicate}, {register}, 0;")
        return predicate

    def add(self, opcode: str) -> None:
        widths, function = arith.meaning(opcode)
        base = opcode.split(".")[0]
        columns, operands = [], []
        for k, bits in enumerate(widths):
            column = [awkward(self.rng, bits) for _ in range(LANES)]
            if base in COUNTS and bits == 32 and k and self.rng.random() < 0.8:
                column = [x & 63 for x in column]
            if base == "lop3" and k == 3:
                column = [self.rng.randrange(256)] * LANES
            operands.append(str(column[0]) if base == "lop3" and k == 3 else self.source(bits, column))
            columns.append(column)
        if base == "fns":
            columns[1] = [x & 31 for x in columns[1]]
            operands[1] = self.source(32, columns[1])
        targets = [self.new(bits) for bits in result_widths(opcode)]
        self.lines.append(f"{opcode} {'|'.join(targets)}, {', '.join(operands)};")
        rows = list(zip(*columns))
        results = [r if isinstance(r, tuple) else (r,) for r in (function(*row) for row in rows)]
        for k, (target, bits) in enumerate(zip(targets, result_widths(opcode))):
            column = [r[k] for r in results]
            if bits == 8 and opcode.split(".")[-2][0] == "s":  # extended to the register's 16 bits
                column = [arith.signed(x, 8) & 0xFFFF for x in column]
            self.made.expected[opcode, target], self.made.inputs[opcode, target] = column, rows


def module(opcodes: list[str], rng: random.Random) -> Module:
    """A kernel k of one warp that computes every opcode once. Lane = tid.x."""
    b = Builder(rng)
    for opcode in opcodes:
        b.add(opcode)
    declarations = [
        f".reg .{kind} %{prefix}<{b.counts[prefix] + 1}>;"
        for kind, prefix in (("pred", "p"), ("b16", "h"), ("b32", "r"), ("b64", "rd"))
    ]
    b.made.text = (
        "\n".join(
            [
                ".version 8.5",
                ".target sm_90",
                ".address_size 64",
                *b.tables,
                ".entry k() {",
                *declarations,
                "mov.u32 %r1, %tid.x;",
                *b.lines,
                "ret;",
                "}",
            ]
        )
        + "\n"
    )
    return b.made
