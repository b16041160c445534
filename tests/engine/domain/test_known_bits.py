"""Known bits compared with all numbers that a value may be; and the maximum cost of a request with such addresses."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import ptxaudit
from ptxaudit.engine.domain import known_bits
from ptxaudit.engine.domain.value import DTYPES, Value
from ptxaudit.engine.memory.registers import blend
from ptxaudit.engine.ops import operations
from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.banks import partial
from ptxaudit.ir.nodes import Function, Guard, Instruction, Op, Reg
from ptxaudit.ir.operands import within_instructions
from ptxaudit.ir.reasons import Kind, Reason

WHY = Reason(Kind.LOADED)
MACHINE = machines.get("sm_90")


def numbers(bits: int, unknown: int) -> list[int]:
    """All numbers that a value may be."""
    places = [n for n in range(64) if unknown >> n & 1]
    return [
        bits | sum(1 << n for n, on in zip(places, which, strict=True) if on)
        for which in itertools.product((0, 1), repeat=len(places))
    ]


def some(rng: random.Random, width: int, known: bool = False) -> tuple[int, int]:
    """A number and up to four of its bits that are unknown."""
    whole = rng.choice(
        (rng.getrandbits(width), rng.getrandbits(6), (1 << width) - 1 - rng.getrandbits(3), 1 << rng.randrange(width))
    )
    unknown = 0 if known else sum({1 << rng.randrange(width) for _ in range(rng.randrange(5))})
    return whole & ~unknown & (1 << width) - 1, unknown


def value(bits: int, unknown: int, width: int) -> Value:
    base, sure = (np.array([[n & (1 << width) - 1]], DTYPES[width]) for n in (bits, ~unknown))
    return Value(base) if not unknown else Value(base, poison=np.ones((1, 1), bool), why=WHY, sure=sure)


SHAPES = {  # operation -> (width, widths of its sources, indices of constant sources, attributes)
    "add": (32, (32, 32), (), ()),
    "sub": (32, (32, 32), (), ()),
    "mul": (32, (32, 32), (1,), ()),
    "mad": (32, (32, 32, 32), (1,), ()),
    "and": (32, (32, 32), (), ()),
    "or": (32, (32, 32), (), ()),
    "xor": (32, (32, 32), (), ()),
    "lop3": (32, (32, 32, 32), (), (0b10010110,)),
    "prmt": (32, (32, 32, 32), (2,), ("",)),
    "not": (32, (32,), (), ()),
    "neg": (32, (32,), (), ()),
    "shl": (32, (32, 32), (1,), ()),
    "shr.u": (32, (32, 32), (1,), ()),
    "shr.s": (32, (32, 32), (1,), ()),
    "zext": (64, (32,), (), ()),
    "sext": (64, (32,), (), ()),
    "trunc": (32, (64,), (), ()),
    "extract": (32, (64,), (), (32,)),
    "cat": (64, (32, 32), (), ()),
    "min.u": (32, (32, 32), (), ()),
    "max.u": (32, (32, 32), (), ()),
    "min.s": (32, (32, 32), (), ()),
    "max.s": (32, (32, 32), (), ()),
    "bfe.u": (32, (32, 32, 32), (1, 2), ()),
    "popc": (32, (32,), (), ()),
    "mulwide.u": (64, (32, 32), (1,), ()),
    "madwide.u": (64, (32, 32, 64), (1,), ()),
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", SHAPES)
def test_known_bits_hold_for_every_value_of_the_unknowns(name, seed):
    rng = random.Random(f"{name} {seed}")
    width, widths, constants, attributes = SHAPES[name]
    if name == "lop3":
        attributes = (rng.randrange(256),)
    sources = [some(rng, w, k in constants) for k, w in enumerate(widths)]
    if name in ("shl", "shr.u", "shr.s"):
        sources[1] = rng.randrange(40), 0
    if name == "bfe.u":
        sources[1], sources[2] = (rng.randrange(32), 0), (rng.randrange(33), 0)
    op = Op(name, (Reg("r", width),), bits=width, attrs=attributes)
    out = operations.apply(op, tuple(value(*one, w) for one, w in zip(sources, widths, strict=True)))
    found, apart = known_bits.known_part(known_bits.folded(out)), known_bits.known_part(out)
    bits, unknown = int(found.bits.flat[0]), int(found.unknown.flat[0])
    constant = sum(u.key * int(c.flat[0]) for u, c in out.terms)
    for chosen in itertools.product(*(numbers(*one) for one in sources)):
        arrays = [np.array([[n]], DTYPES[w]) for n, w in zip(chosen, widths, strict=True)]
        result = int(operations.OPS[name].concrete(width, attributes, *arrays).flat[0])
        assert result & ~unknown == bits, (name, [hex(n) for n in chosen], hex(result), hex(bits), hex(unknown))
        rest = result - constant & (1 << width) - 1
        assert rest & ~int(apart.unknown.flat[0]) == int(apart.bits.flat[0]), (name, [hex(n) for n in chosen])


def test_constant_addend_stays_separate_until_bits_are_read():
    index = value(0, 0x3FC, 32)
    place = operations.apply(Op("add", (Reg("r", 32),), bits=32), (index, value(0x640, 0, 32)))
    further = operations.apply(Op("add", (Reg("r", 32),), bits=32), (value(0x10, 0, 32), place))
    assert [known_bits.known_part(v).unknown.tolist() for v in (place, further)] == [[[0x3FC]]] * 2
    assert sum(u.key for u, _ in further.terms) + int(known_bits.known_part(further).bits.flat[0]) == 0x650
    low = operations.apply(Op("and", (Reg("r", 32),), bits=32), (further, value(0xF000000F, 0, 32)))
    assert not low.terms and known_bits.known_part(low).unknown.tolist() == [[0xC]]


def test_select_knows_the_bits_common_to_both_values():
    op = Op("select", (Reg("r", 32),), bits=32)
    choice = Value(np.zeros((1, 1), bool), poison=np.ones((1, 1), bool), why=WHY)
    found = known_bits.known_part(operations.apply(op, (value(63, 0, 32), value(191, 0, 32), choice)))
    assert (int(found.bits.flat[0]), int(found.unknown.flat[0])) == (63, 128)


def test_known_lanes_keep_their_bits_beside_unknown_lanes():
    lanes = np.arange(4)[None, :]
    found = known_bits.known_part(Value(lanes.astype(np.uint32), poison=lanes > 2, why=WHY))
    assert found.bits.tolist() == [[0, 1, 2, 0]] and found.unknown.tolist() == [[0, 0, 0, 0xFFFFFFFF]]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("opcode", ["LDS", "LDS.64", "LDS.128", "STS", "STS.64", "LDS.U8", "ATOMS.ADD"])
def test_addresses_with_unknown_bits_cost_no_more_than_the_upper_bound(opcode, seed):
    rng = random.Random(f"{opcode} {seed}")
    access = banks.classify(opcode)
    aligned = -access.width
    lanes = np.arange(32)
    stride, unknown = (
        rng.choice((0, 4, 8, 16, 36, 128)),
        sum({1 << rng.randrange(2, 12) for _ in range(rng.randrange(5))}) & aligned,
    )
    each = np.full(32, unknown) if rng.random() < 0.6 else np.array([unknown & rng.getrandbits(12) for _ in lanes])
    bits = lanes * stride & aligned & ~each
    active = np.array([rng.random() < 0.9 for _ in lanes])[None, :]
    limit = partial.most(MACHINE, access, bits[None, :].astype(np.int64), each[None, :].astype(np.int64), active)
    if limit is None:
        assert opcode == "ATOMS.ADD"
        return
    worst = 0
    for _ in range(300):
        addresses = np.array([bits[k] | (each[k] & rng.getrandbits(12)) for k in lanes])[None, :].astype(np.int64)
        worst = max(worst, int(banks.score(MACHINE, access, addresses, active).high[0]))
    assert worst <= limit[0]


PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0)
{{
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    .reg .pred %p<9>;
    .reg .b16 %h<9>;
    .shared .align 16 .b8 s[16384];
    ld.param.u64 %rd1, [k_param_0];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, s;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r5, [%rd3];
    mad.lo.u32 %r4, %r2, 4, %r3;
    {body}
    ret;
}}
"""
DIGIT = "shl.b32 %r6, %r5, 7; and.b32 %r6, %r6, 0x380; add.u32 %r6, %r6, %r4; st.shared.u32 [%r6], %r2;"
FEW = "and.b32 %r6, %r5, 0x1c; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7, [%r6];"
BYTE = (
    "ld.global.u8 %h1, [%rd3]; cvt.u32.u16 %r6, %h1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7,"
    " [%r6];"
)
LEAST = "min.u32 %r6, %r5, 7; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7, [%r6];"
TWO = (
    "setp.lt.u32 %p1, %r5, 9; selp.b32 %r6, 63, 191, %p1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; ld.shared.u32"
    " %r7, [%r6];"
)
ADDED = BYTE.replace("ld.shared.u32 %r7", "add.u32 %r6, %r6, 1600; ld.shared.u32 %r7")
GUARDED = (
    "setp.lt.u32 %p1, %r5, 9; mov.u32 %r8, %r5; @%p1 add.u32 %r8, %r2, 63; @!%p1 add.u32 %r8, %r2, 191;"
    " sub.u32 %r8, %r8, %r2; shl.b32 %r6, %r8, 2; add.u32 %r6, %r6, %r3; add.u32 %r6, %r6, 1604;"
    " ld.shared.u32 %r7, [%r6];"
)
WIDE = "shl.b32 %r6, %r5, 4; and.b32 %r6, %r6, 0x3ff0; add.u32 %r6, %r6, %r3; st.shared.v4.u32 [%r6], {%r2, %r2, %r2, %r2};"
WHOLE = "shl.b32 %r6, %r5, 2; and.b32 %r6, %r6, 0x3ffc; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7, [%r6];"


@pytest.mark.parametrize(
    "body,status,low,high",
    [
        (DIGIT, "exact", 1, 1),
        (FEW, "exact", 1, 1),
        (LEAST, "exact", 1, 1),
        (BYTE, "data-dependent", 1, 8),
        (TWO, "data-dependent", 1, 2),
        (ADDED, "data-dependent", 1, 8),
        (GUARDED, "data-dependent", 1, 2),
        (WIDE, "data-dependent", 4, 32),
        (WHOLE, "data-dependent", 1, 32),
    ],
)
def test_site_with_unknown_address_bits(body, status, low, high):
    (site,) = ptxaudit.audit(
        PTX.format(body=body), launches=[ptxaudit.Launch("k", grid=3, block=64, params=[None])]
    ).sites
    assert (site.status, site.per_request.low, site.per_request.high) == (status, low, high)
    assert site.requests == 6 and site.wavefronts == (6 if status == "exact" else None)


# --- merging lanes ------------------------------------------------------------------------

UPPER = np.arange(32)[None, :] >= 16
ADDRESSES = np.arange(32, dtype=np.uint32)[None, :] * np.uint32(64)


@pytest.mark.parametrize("low", (2, 4, 6))
@pytest.mark.parametrize("swapped", (False, True))
def test_blend_keeps_known_lanes_beside_partly_known_lanes(low, swapped):
    """`valid` covers all lanes: some lanes known modulo 16 must not reduce the others to that."""
    vague = Value(np.full((1, 1), 0xABCD, np.uint32), (), low, None, WHY)
    known = Value(ADDRESSES)
    out = blend(known, vague, UPPER) if swapped else blend(vague, known, ~UPPER)
    assert out.valid is None and (out.poison == UPPER).all() and (out.base == ADDRESSES)[~UPPER].all()
    part = known_bits.known_part(out)
    assert (part.unknown[UPPER] == np.uint32(0xFFFFFFFF) - np.uint32((1 << low) - 1)).all()
    assert (part.bits[UPPER] == 0xABCD & (1 << low) - 1).all() and not part.unknown[~UPPER].any()


@pytest.mark.parametrize("low", (4, 19))
def test_blend_keeps_known_lanes_beside_partly_known_and_unknown_lanes(low):
    """The same if some of the vague lanes are fully unknown, and if no lane keeps its old value."""
    lost = np.arange(32)[None, :] % 3 == 0
    vague = Value(np.full((1, 32), 0xABCDE, np.uint32), (), low, lost, WHY)
    out = blend(vague, Value(ADDRESSES), ~UPPER)
    assert out.valid is None and (out.base == ADDRESSES)[~UPPER].all() and not out.poison[~UPPER].any()
    part = known_bits.known_part(out)
    assert not part.unknown[~UPPER].any() and (part.unknown[UPPER & lost] == np.uint32(0xFFFFFFFF)).all()
    assert (part.unknown[UPPER & ~lost] == np.uint32(0xFFFFFFFF) - np.uint32((1 << low) - 1)).all()
    assert (part.bits[UPPER & ~lost] == 0xABCDE & (1 << low) - 1).all() and not part.bits[UPPER & lost].any()
    known = Value(ADDRESSES)
    assert blend(vague, known, np.ones((1, 1), bool)) is known


def test_blend_of_lanes_known_modulo_128_keeps_the_modulus():
    vague = Value(ADDRESSES, (), 7, None, WHY)
    out = blend(Value(ADDRESSES), vague, UPPER)
    assert out.valid == 7 and out.poison is None


TEMPORARY = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0)
{
    .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<3>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [k_param_0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, s;
    ld.global.u32 %r2, [%rd1];
    setp.gt.u32 %p1, %r1, 40;
    @%p1 bra other;
    shl.b32 %r4, %r2, 3; add.u32 %r4, %r4, %r1; shl.b32 %r4, %r4, 2; and.b32 %r4, %r4, 0xffc; add.u32 %r5, %r3, %r4;
    st.shared.u32 [%r5], %r1;
    bra.uni join;
other:
    shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4;
    st.shared.u32 [%r5], %r1;
join:
    ret;
}
"""


def test_register_is_known_on_the_path_that_sets_it():
    """Warps of which some lanes took the path on which little is known of it."""
    *_, known = ptxaudit.audit(TEMPORARY, launches=[ptxaudit.Launch("k", grid=1, block=96, params=[None])]).sites
    assert (str(known.status), known.requests, known.wavefronts) == ("exact", 2, 2)


def test_temporaries_are_registers_written_before_they_are_read():
    reg = lambda name: Reg(name, 32)
    p = Guard(Reg("p", 1))
    code = [
        (Op("mov", (reg("t"),), (reg("a"),)), Op("add", (reg("b"),), (reg("t"), reg("a")))),
        (Op("mov", (reg("u"),), (reg("a"),), guard=p), Op("add", (reg("c"),), (reg("u"), reg("b")))),
        (Op("mov", (reg("t"),), (reg("b"),)), Op("mov", (reg("t"),), (reg("a"),), guard=p)),
    ]
    made = tuple(Instruction(k, k, "", "", None, ops, None) for k, ops in enumerate(code))
    function = Function("k", "sass", "sm_90", made)
    assert within_instructions(function) == {"t", "c"}  # u keeps its old value where p is false
    assert within_instructions(function) is within_instructions(function)


INDEXED = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 4 .b8 k_param_0[16], .param .u64 k_param_1)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [k_param_1];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    setp.gt.u32 %p1, %r1, 15;
    mov.u64 %rd2, k_param_0;
    @%p1 ld.global.u32 %r2, [%rd1];
    shl.b32 %r3, %r2, 2; cvt.u64.u32 %rd3, %r3; add.u64 %rd4, %rd2, %rd3;
    ld.param.u32 %r4, [%rd4];
    mov.u32 %r5, s; shl.b32 %r6, %r4, 2; add.u32 %r6, %r5, %r6;
    @!%p1 st.shared.u32 [%r6], %r1;
    ret;
}
"""


def test_indexed_parameter_load_ignores_inactive_lanes():
    """Lanes above 15 have an out-of-bounds index, and do not execute the store."""
    numbers = np.array([0, 32, 64, 1], np.uint32).tobytes()
    (site,) = ptxaudit.audit(INDEXED, launches=[ptxaudit.Launch("k", grid=1, block=32, params=[numbers, None])]).sites
    assert (str(site.status), site.requests, site.wavefronts) == ("exact", 1, 3)
