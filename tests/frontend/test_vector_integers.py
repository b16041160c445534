"""Integers, whole, in pairs, halves and bytes: lifted PTX, and ptxas's machine code for it, mean what the manual says.

Each line of OPERATIONS is PTX on %r1, %r2, %r3 and its meaning in Python; `sass_twin` runs the lifted code of both
instruction sets on random words.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from random import Random

import pytest
from machine_code import PROLOGUE, from_ptx
from sass_twin import Thread, mask, signed

from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.frontend.sass.lift import lift_cubin

OUT = 0x7F0000001000
EDGES = (
    0,
    1,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x7FFF8000,
    0x80007FFF,
    0xFFFF0001,
    0x0000FFFF,
    0x80808080,
    0x7F80FF01,
)


def parts(value: int, bits: int, is_signed: bool) -> list[int]:
    fields = [value >> at & (1 << bits) - 1 for at in range(0, 32, bits)]
    return [signed(field, bits) for field in fields] if is_signed else fields


def by_parts(function: Callable[..., int], bits: int, is_signed: bool) -> Callable[..., int]:
    """The function applied to each part separately."""
    return lambda *values: sum(
        mask(function(*fields), bits) << bits * k
        for k, fields in enumerate(zip(*(parts(v, bits, is_signed) for v in values)))
    )


def wrapped(a: int, b: int) -> int:
    return signed(mask(a + b, 16), 16)


def dot(first: bool, second: bool, halves: str = ""):
    """dp4a or dp2a, by the signedness of their factors."""

    def run(a: int, b: int, c: int) -> int:
        factors = parts(b, 8, second)
        factors = factors if not halves else factors[2:] if halves == "hi" else factors[:2]
        return c + sum(x * y for x, y in zip(parts(a, 16 if halves else 8, first), factors))

    return run


def words(function: Callable[..., int]) -> Callable[..., int]:
    return lambda *values: function(*(signed(value, 32) for value in values))


U16, S16 = (16, False), (16, True)
WIDE, FOLDED = (
    "mov.b64 %d2, {%r1, %r2}; mov.b64 %d3, {%r3, %r1};",
    "mov.b64 {%r7, %r8}, %d4; mad.lo.u32 %r9, %r8, 0x9E3779B1, %r7",
)


def folded(function: Callable[[int, int, int], int], is_signed: bool = False) -> Callable[..., int]:
    """The function of the pairs b:a and a:c, and of c, folded into one word."""

    def run(a: int, b: int, c: int) -> int:
        pairs = (b << 32 | a, a << 32 | c)
        value = mask(function(*((signed(x, 64) for x in pairs) if is_signed else pairs), c), 64)
        return (value >> 32) * 0x9E3779B1 + value

    return run


def funnel(left: bool, wrap: bool) -> Callable[..., int]:
    def run(a: int, b: int, c: int) -> int:
        n = c & 31 if wrap else min(c, 32)
        return (b << 32 | a) << n >> 32 if left else (b << 32 | a) >> n

    return run


def field(a: int, b: int, c: int, is_signed: bool) -> int:
    """bfe of 32 bits."""
    begin, length = b & 255, c & 255
    top = min(begin + length - 1, 31)
    fill = a >> top & 1 if is_signed and length else 0
    return sum((a >> begin + k & 1 if k < length and begin + k <= 31 else fill) << k for k in range(32))


def inserted(a: int, b: int, c: int) -> int:
    """bfi: inserts the low bits of b into a; c has the position and the length."""
    begin, length = c & 255, c >> 8 & 255
    for k in range(min(length, max(0, 32 - begin))):
        a = a & ~(1 << begin + k) | (b >> k & 1) << begin + k
    return a


def extended(a: int, n: int, is_signed: bool, wrap: bool) -> int:
    """szext."""
    n = n & 31 if wrap else min(n, 32)
    return (signed(mask(a, n), n) if n else 0) if is_signed else mask(a, n)


def packed(bits: int, is_signed: bool) -> Callable[..., int]:
    """cvt.pack: b lowest, a above, then c."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)

    def run(a: int, b: int, c: int) -> int:
        first, second = (mask(min(max(signed(x, 32), low), high), bits) for x in (a, b))
        return (c << 2 * bits if bits < 16 else 0) | first << bits | second

    return run


def to_byte(a: int, toward: Callable[[float], int]) -> int:
    """cvt.u8.f32."""
    (number,) = struct.unpack("<f", struct.pack("<I", a))
    return 0 if math.isnan(number) else int(min(max(toward(min(max(number, -1), 256)), 0), 255))


def ones(begin: int, length: int, wrap: bool) -> int:
    """bmsk."""
    begin, length = (begin & 31, length & 31) if wrap else (min(begin, 32), min(length, 32))
    return (1 << length) - 1 << begin


def found(a: int, is_signed: bool, amount: bool) -> int:
    """bfind."""
    a = mask(~a, 32) if is_signed and a >> 31 else a
    place = a.bit_length() - 1
    return -1 if place < 0 else 31 - place if amount else place


def permuted(a: int, b: int, c: int) -> int:
    data = (b << 32 | a).to_bytes(8, "little")
    nibbles = [c >> 4 * k & 15 for k in range(4)]
    return sum((255 * (data[n & 7] >> 7) if n & 8 else data[n & 7]) << 8 * k for k, n in enumerate(nibbles))


PERMUTATIONS = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}
COMPARE = {"lt": lambda x, y: x < y, "ge": lambda x, y: x >= y, "eq": lambda x, y: x == y}
# PTX: (the first architecture, its meaning)
OPERATIONS: dict[str, tuple[int, Callable[[int, int, int], int]]] = {
    "add.u16x2 %r9, %r1, %r2": (90, lambda a, b, c: by_parts(lambda x, y: x + y, *U16)(a, b)),
    "mov.b32 %r8, 0x00018000; add.s16x2 %r9, %r1, %r8": (
        90,
        lambda a, b, c: by_parts(lambda x, y: x + y, *S16)(a, 0x00018000),
    ),
    "min.u16x2 %r9, %r1, %r2": (90, lambda a, b, c: by_parts(min, *U16)(a, b)),
    "mov.b32 %r8, 0x00107fff; max.u16x2 %r9, %r1, %r8": (90, lambda a, b, c: by_parts(max, *U16)(a, 0x00107FFF)),
    "max.s16x2 %r9, %r1, %r2": (90, lambda a, b, c: by_parts(max, *S16)(a, b)),
    "mov.b32 %r8, 0xfff00010; min.s16x2 %r9, %r1, %r8": (90, lambda a, b, c: by_parts(min, *S16)(a, 0xFFF00010)),
    "max.relu.s16x2 %r9, %r1, %r2": (90, lambda a, b, c: by_parts(lambda x, y: max(x, y, 0), *S16)(a, b)),
    "min.relu.s16x2 %r9, %r1, %r2": (90, lambda a, b, c: by_parts(lambda x, y: max(min(x, y), 0), *S16)(a, b)),
    "min.relu.s32 %r9, %r1, %r2": (90, words(lambda a, b, c: max(min(a, b), 0))),
    "max.relu.s32 %r9, %r1, -5": (90, words(lambda a, b, c: max(a, 0))),
    "add.s32 %r8, %r1, %r2; max.s32 %r9, %r8, %r3": (75, words(lambda a, b, c: max(signed(mask(a + b, 32), 32), c))),
    "add.s32 %r8, %r1, %r2; min.u32 %r9, %r8, %r3": (75, lambda a, b, c: min(mask(a + b, 32), c)),
    "add.s32 %r8, %r1, %r2; max.relu.s32 %r9, %r8, %r3": (
        90,
        words(lambda a, b, c: max(signed(mask(a + b, 32), 32), c, 0)),
    ),
    "add.s16x2 %r8, %r1, %r2; max.s16x2 %r9, %r8, %r3": (90, by_parts(lambda x, y, z: max(wrapped(x, y), z), *S16)),
    "add.u16x2 %r8, %r1, %r2; min.u16x2 %r9, %r8, %r3": (90, by_parts(lambda x, y, z: min(mask(x + y, 16), z), *U16)),
    "add.s16x2 %r8, %r1, %r2; max.relu.s16x2 %r9, %r8, %r3": (
        90,
        by_parts(lambda x, y, z: max(wrapped(x, y), z, 0), *S16),
    ),
    "max.s32 %r8, %r1, %r2; max.s32 %r9, %r8, %r3": (75, words(max)),
    "max.s32 %r8, %r1, %r2; max.relu.s32 %r9, %r8, %r3": (90, words(lambda a, b, c: max(a, b, c, 0))),
    "min.s16x2 %r8, %r1, %r2; min.s16x2 %r9, %r8, %r3": (90, by_parts(min, *S16)),
    "max.u16x2 %r8, %r1, %r2; max.u16x2 %r9, %r8, %r3": (90, by_parts(max, *U16)),
    "sad.s32 %r9, %r1, %r2, %r3": (75, words(lambda a, b, c: abs(a - b) + c)),
    "sad.u32 %r9, %r1, %r2, %r3": (75, lambda a, b, c: abs(a - b) + c),
    "vabsdiff4.u32.u32.u32.add %r9, %r1, %r2, %r3": (
        75,
        lambda a, b, c: c + sum(abs(x - y) for x, y in zip(parts(a, 8, False), parts(b, 8, False))),
    ),
    **{f"dp4a.{x}32.{y}32 %r9, %r1, %r2, %r3": (75, dot(x == "s", y == "s")) for x in "su" for y in "su"},
    **{
        f"dp2a.{h}.{x}32.{y}32 %r9, %r1, %r2, %r3": (75, dot(x == "s", y == "s", h))
        for h in ("lo", "hi")
        for x in "su"
        for y in "su"
    },
    **{
        f"shf.{side}.{mode}.b32 %r9, %r1, %r2, {n}": (
            75,
            (lambda f, n: lambda a, b, c: f(a, b, c if n == "%r3" else int(n)))(funnel(side == "l", mode == "wrap"), n),
        )
        for side in "lr"
        for mode in ("wrap", "clamp")
        for n in ("%r3", "7", "32", "45")
    },
    **{
        f"{WIDE} {op}.{kind}64 %d4, %d2, {n}; {FOLDED}": (
            75,
            folded(
                (
                    lambda op, n: (
                        lambda x, y, c: (
                            x << min(c if n == "%r3" else int(n), 64)
                            if op == "shl"
                            else x >> min(c if n == "%r3" else int(n), 64)
                        )
                    )
                )(op, n),
                kind == "s",
            ),
        )
        for op, kind in (("shl", "b"), ("shr", "s"), ("shr", "u"))
        for n in ("%r3", "5", "32", "40")
    },
    **{
        f"{WIDE} {op}.{kind}64 %d4, %d2, %d3; {FOLDED}": (
            75,
            folded((lambda f: lambda x, y, c: f(x, y))(min if op == "min" else max), kind == "s"),
        )
        for op in ("min", "max")
        for kind in "su"
    },
    f"{WIDE} mul.lo.u64 %d4, %d2, %d3; {FOLDED}": (75, folded(lambda x, y, c: x * y)),
    **{
        f"{WIDE} mul.hi.{kind}64 %d4, %d2, %d3; {FOLDED}": (75, folded(lambda x, y, c: x * y >> 64, kind == "s"))
        for kind in "su"
    },
    f"{WIDE} sub.s64 %d4, %d2, %d3; {FOLDED}": (75, folded(lambda x, y, c: x - y)),
    f"{WIDE} abs.s64 %d4, %d2; {FOLDED}": (75, folded(lambda x, y, c: abs(x), True)),
    **{
        f"{WIDE} setp.{name}.{kind}64 %p1, %d2, %d3; selp.b32 %r9, %r1, %r3, %p1": (
            75,
            (
                lambda name, kind: (
                    lambda a, b, c: (
                        a
                        if COMPARE[name](*(signed(x, 64) if kind == "s" else x for x in (b << 32 | a, a << 32 | c)))
                        else c
                    )
                )
            )(name, kind),
        )
        for name in ("lt", "ge", "eq")
        for kind in "su"
    },
    **{
        f"mul.hi.{kind}32 %r9, %r1, %r2": (
            75,
            (lambda a, b, c: a * b >> 32) if kind == "u" else words(lambda a, b, c: a * b >> 32),
        )
        for kind in "su"
    },
    **{
        f"mad.hi.{kind}32 %r9, %r1, %r2, %r3": (
            75,
            (lambda a, b, c: (a * b >> 32) + c) if kind == "u" else words(lambda a, b, c: (a * b >> 32) + c),
        )
        for kind in "su"
    },
    **{
        f"bfe.{kind}32 %r9, %r1, {at}, {n}": (
            75,
            (
                lambda kind, at, n: (
                    lambda a, b, c: field(a, b if at == "%r2" else int(at), c if n == "%r3" else int(n), kind == "s")
                )
            )(kind, at, n),
        )
        for kind in "su"
        for at, n in (("%r2", "%r3"), ("4", "9"), ("20", "30"), ("%r2", "3"))
    },
    "shr.u32 %r8, %r3, 8; bfi.b32 %r9, %r2, %r1, %r3, %r8": (75, inserted),
    **{
        f"szext.{mode}.{kind}32 %r9, %r1, %r2": (
            75,
            (lambda mode, kind: lambda a, b, c: extended(a, b, kind == "s", mode == "wrap"))(mode, kind),
        )
        for mode in ("wrap", "clamp")
        for kind in "su"
    },
    **{
        f"bmsk.{mode}.b32 %r9, %r1, %r2": (75, (lambda mode: lambda a, b, c: ones(a, b, mode == "wrap"))(mode))
        for mode in ("wrap", "clamp")
    },
    **{
        f"bfind{amount}.{kind}32 %r9, %r1": (
            75,
            (lambda amount, kind: lambda a, b, c: found(a, kind == "s", bool(amount)))(amount, kind),
        )
        for amount in ("", ".shiftamt")
        for kind in "su"
    },
    "popc.b32 %r9, %r1": (75, lambda a, b, c: a.bit_count()),
    "clz.b32 %r9, %r1": (75, lambda a, b, c: 32 - a.bit_length()),
    f"{WIDE} popc.b64 %r9, %d2": (75, lambda a, b, c: a.bit_count() + b.bit_count()),
    f"{WIDE} clz.b64 %r9, %d2": (75, lambda a, b, c: 64 - (b << 32 | a).bit_length()),
    **{
        f"bfi.b32 %r9, %r1, %r2, {at}, {size}": (
            75,
            (lambda c: lambda a, b, _: inserted(b, a, c))(size << 8 | at),
        )
        for at, size in ((1, 31), (0, 32), (4, 8), (31, 1), (31, 4), (7, 0), (32, 5), (0, 255), (8, 24), (0, 1))
    },
    f"{WIDE} bfi.b64 %d4, %d2, %d3, 20, 30; {FOLDED}": (
        75,
        folded(lambda x, y, c: (x & (1 << 30) - 1) << 20 | y & ~((1 << 30) - 1 << 20)),
    ),
    "brev.b32 %r9, %r1": (75, lambda a, b, c: int(f"{a:032b}"[::-1], 2)),
    f"{WIDE} brev.b64 %d4, %d2; {FOLDED}": (75, folded(lambda x, y, c: int(f"{x:064b}"[::-1], 2))),
    "prmt.b32 %r9, %r1, %r2, %r3": (75, permuted),
    "prmt.b32 %r9, %r1, %r2, 0xc5a7": (75, lambda a, b, c: permuted(a, b, 0xC5A7)),
    **{
        f"prmt.b32.{mode} %r9, %r1, %r2, %r3": (
            75,
            (lambda order: lambda a, b, c: permuted(a, b, int(order[c & 3], 16)))(order),
        )
        for mode, order in PERMUTATIONS.items()
    },
    **{
        f"lop3.b32 %r9, %r1, %r2, %r3, {table}": (
            75,
            (
                lambda table: (
                    lambda a, b, c: sum(
                        (table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k for k in range(32)
                    )
                )
            )(table),
        )
        for table in (0xCA, 0x96, 0x17, 0x80)
    },
    **{
        f"cvt.{kind}{bits}.u32 %r9, %r1": (
            75,
            (lambda kind, bits: lambda a, b, c: signed(mask(a, bits), bits) if kind == "s" else mask(a, bits))(
                kind, bits
            ),
        )
        for kind in "su"
        for bits in (8, 16)
    },
    **{
        f"cvt.pack.sat.{kind}{bits}.s32{'' if bits == 16 else '.b32'} %r9, %r1, %r2{'' if bits == 16 else ', %r3'}": (
            75,
            packed(bits, kind == "s"),
        )
        for kind in "su"
        for bits in (2, 4, 8, 16)
    },
    **{
        f"mov.b32 %f1, %r1; cvt.{mode}.u8.f32 %r9, %f1": (
            75,
            (lambda toward: lambda a, b, c: to_byte(a, toward))(toward),
        )
        for mode, toward in (("rni", round), ("rzi", math.trunc), ("rmi", math.floor), ("rpi", math.ceil))
    },
    "not.b32 %r7, %r2; add.u16x2 %r8, %r7, %r1; mov.b32 %r7, 0x10001; add.u16x2 %r9, %r8, %r7": (
        90,
        by_parts(lambda a, b, c: a - b, *U16),
    ),
    "cvt.sat.u8.s32 %r9, %r1": (75, words(lambda a, b, c: min(max(a, 0), 255))),
    "cvt.sat.u16.s32 %r9, %r1": (75, words(lambda a, b, c: min(max(a, 0), 65535))),
    "cvt.sat.s8.s32 %r9, %r1": (75, words(lambda a, b, c: min(max(a, -128), 127))),
}
# Machine instructions that ptxas makes from some of them. Where only part of their code is understood, they must be
# opaque.
OPAQUE = ("I2I.S8", "I2I.S16", "VIMNMX.U8x4", "VIADD.U8x4", "SGXT")


def text(operations: list[str]) -> str:
    body = "".join(f"{operation}; st.global.u32 [%d1+{4 * k}], %r9;\n" for k, operation in enumerate(operations))
    return f""".visible .entry k(.param .u64 out, .param .u32 a, .param .u32 b, .param .u32 c) {{
    .reg .b64 %d<5>; .reg .b32 %r<20>; .reg .f32 %f<2>; .reg .pred %p<2>; ld.param.u64 %d1, [out]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; ld.param.u32 %r3, [c];
    {body} ret; }}
    """


def held(function, operations: list[str], meanings: list[Callable]) -> None:
    rng = Random(5)
    inputs = [(rng.choice(EDGES), rng.choice(EDGES), rng.choice(EDGES)) for _ in range(30)] + [
        tuple(rng.getrandbits(32) for _ in "abc") for _ in range(30)
    ]
    for values in inputs:
        specials = {"tid.x": 0, "stack": 0x10000, "descriptor_lo": 0, "descriptor_hi": 0}
        memory = Thread(function, struct.pack("<QIII", OUT, *values), specials).run()
        for k, (operation, meaning) in enumerate(zip(operations, meanings)):
            stored = sum(memory[OUT + 4 * k + j] << 8 * j for j in range(4))
            assert stored == mask(meaning(*values), 32), (
                f"{operation} of {[hex(value) for value in values]}: {stored:#x}"
            )


def test_lifted_ptx_vector_integers_match_the_manual():
    operations = list(OPERATIONS)
    module = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + text(operations)))
    held(module.functions["k"], operations, [meaning for _, meaning in OPERATIONS.values()])


@pytest.mark.parametrize("arch", ("sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"))
def test_lifted_machine_code_vector_integers_match_the_manual(arch):
    """Where the machine code is understood, it stores the right words."""
    opcodes: set[str] = set()
    possible = [operation for operation, (first, _) in OPERATIONS.items() if first <= int(arch[3:])]
    apart = [operation for operation in possible if operation.startswith(("cvt.sat.s8", "vabsdiff4", "szext"))]
    for group in (
        [operation for operation in possible if operation not in apart],
        *([operation] for operation in apart),
    ):
        function = lift_cubin(from_ptx(text(group), arch), "k.cubin").functions["k"]
        unknown = [op.attrs[0] for i in function.instructions for op in i.ops if op.name == "opaque"]
        if unknown:
            assert group[0] in apart and all(opcode.startswith(OPAQUE) for opcode in unknown), unknown
            continue
        opcodes |= {i.opcode for i in function.instructions}
        held(function, group, [OPERATIONS[operation][1] for operation in group])
    expected = {"IDP.4A.S8.U8", "IDP.2A.HI.U16.S8", "I2I.U8.S32.SAT"}
    expected |= (
        {"VABSDIFF4.U8.ACC", "VABSDIFF.U32"}
        if arch != "sm_120"
        else {"VIADD.16x2", "VIMNMX.S16x2.RELU", "VIMNMX.U16x2", "VIMNMX.S32.RELU"}
    )
    if arch in ("sm_90", "sm_100"):
        expected |= {"I2IP.U4.S32.SAT", "I2IP.S16.S32.SAT", "F2IP.U8.F32.NTZ"}
        expected |= {"VIADD.16x2", "VIADDMNMX.S16x2.RELU", "VIADDMNMX.RELU", "VIMNMX3.U16x2", "VIMNMX.RELU"}
    assert expected <= opcodes, expected - opcodes
