"""Uniform truth values in bits of a register whose other bits are unknown.

Compared with every number that such a register can hold, and with the twin.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from telling_twin import TOLD, hold

from ptxaudit.engine.domain import affine, truths
from ptxaudit.engine.domain.value import EVERYWHERE, Uniform, Value, opaque, unknown
from ptxaudit.engine.ops import operations, packed
from ptxaudit.ir.nodes import Op, Reg
from ptxaudit.ir.reasons import Kind, Reason

WIDTH = 6  # the tested bits; those above are known zeros
WHY = Reason(Kind.LOADED)
P, Q = (Uniform(name, 1, 0, 0, 1, key=("truth", name)) for name in "pq")
TRUTHS = tuple(truths.as_number(u, 32) for u in (P, Q))


def predicate(u):
    return Value(np.zeros((1, 1), bool), ((u, np.ones((1, 1), bool)),))


def register(rng):
    """(a value of two lanes, for each lane the masks [known ones, unknown bits, bits that are p, bits that are q])."""
    lanes = []
    for _ in range(2):
        kinds = [rng.choice("01??pq") for _ in range(WIDTH)]
        lanes.append([sum(1 << n for n, kind in enumerate(kinds) if kind == which) for which in "1?pq"])
    bits, open_bits, *own = (np.array([column], np.uint32) for column in zip(*lanes))
    terms = tuple((u, c) for u, c in zip(TRUTHS, own) if c.any())
    poison = open_bits != 0
    return (Value(bits, terms, None, poison, WHY, ~open_bits) if poison.any() else Value(bits, terms)), lanes


def numbers(lane, p, q):
    """All numbers that a lane may hold."""
    bits, open_bits, of_p, of_q = lane
    open_places = [1 << n for n in range(WIDTH) if open_bits >> n & 1]
    for chosen in itertools.product((0, 1), repeat=len(open_places)):
        yield bits + p * of_p + q * of_q + sum(c * place for c, place in zip(chosen, open_places))


def admits(out, lane, number, given):
    """Whether a result admits a number. given: the values of unknowns; every choice is tried for the others."""
    base, poison, sure = (
        None if array is None else int(np.broadcast_to(array, (1, 2))[0, lane])
        for array in (out.base, out.poison, out.sure)
    )
    mask = 0xFFFFFFFF if not poison else sure or 0
    own = [(given.get(u), int(np.broadcast_to(c, (1, 2))[0, lane])) for u, c in out.terms]
    free = [c for known, c in own if known is None]
    fixed = sum(known * c for known, c in own if known is not None)
    tried = itertools.product((0, 1), repeat=len(free))
    return any((number - fixed - sum(x * c for x, c in zip(xs, free)) - base) & mask == 0 for xs in tried)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", ["and", "or", "xor", "lop3"])
def test_bitwise_operation_keeps_predicates_in_bits(name, seed):
    rng = random.Random(f"{name} {seed}")
    count = 3 if name == "lop3" else 2
    table = rng.randrange(256)
    values, lanes = zip(*(register(rng) for _ in range(count)))
    if rng.random() < 0.5:
        mask = rng.randrange(1 << WIDTH)
        values = (*values[:-1], Value(np.full((1, 1), mask, np.uint32)))
        lanes = (*lanes[:-1], [[mask, 0, 0, 0]] * 2)
    op = Op(name, (Reg("r", 32),), bits=32, attrs=(table,) if name == "lop3" else ())
    out = operations.apply(op, values)
    run = operations.OPS[name].concrete
    for lane, p, q in itertools.product(range(2), (0, 1), (0, 1)):
        for chosen in itertools.islice(itertools.product(*(numbers(one[lane], p, q) for one in lanes)), 4096):
            result = int(run(32, op.attrs, *(np.array([[n]], np.uint32) for n in chosen)).flat[0])
            assert out.valid is not None or admits(out, lane, result, dict(zip(TRUTHS, (p, q)))), (chosen, p, q)


@pytest.mark.parametrize("seed", range(60))
def test_select_by_a_uniform_predicate_keeps_bits(seed):
    rng = random.Random(seed)
    (a, in_a), (b, in_b) = register(rng), register(rng)
    out = packed.selected(a, b, predicate(P), opaque(32, WHY))
    if out is None:
        return
    for lane, p, q in itertools.product(range(2), (0, 1), (0, 1)):
        for number in numbers((in_a if p else in_b)[lane], p, q):
            assert admits(out, lane, number, dict(zip(TRUTHS, (p, q)))), (number, p, q)


@pytest.mark.parametrize("seed", range(60))
def test_select_by_a_lane_predicate_keeps_common_bits(seed):
    rng = random.Random(seed)
    (a, in_a), (b, in_b) = register(rng), register(rng)
    out = packed.agreed(a, b, opaque(32, WHY))
    if out is None:
        return
    assert packed.alike(packed.agreed(out, a, opaque(32, WHY)), out)
    for lane, p, q, one in itertools.product(range(2), (0, 1), (0, 1), (in_a, in_b)):
        for number in numbers(one[lane], p, q):
            assert admits(out, lane, number, dict(zip(TRUTHS, (p, q)))), (number, p, q)


def test_predicate_stored_in_a_bit_is_read_back():
    anything = opaque(32, WHY)
    number = lambda n: Value(np.full((1, 1), n, np.uint32))
    clear = operations.apply(Op("and", bits=32), (anything, number(~8 & 0xFFFFFFFF)))
    put = operations.apply(Op("or", bits=32), (clear, number(8)))
    r = operations.apply(Op("select", bits=32), (put, clear, predicate(P)))
    assert r.poison is not None
    bit = operations.apply(Op("and", bits=32), (r, number(8)))
    assert bit.poison is None and [(u, int(c.flat[0])) for u, c in bit.terms] == [(TRUTHS[0], 8)]
    below = operations.apply(Op("and", bits=32), (r, number(24)))
    assert below.poison is not None  # bit 4 differs by lane


def test_predicate_as_integer_is_one_unknown_of_0_or_1():
    wide = operations.apply(Op("zext", (Reg("r", 32),), bits=32), (predicate(P),))
    one, zero = (Value(np.full((1, 1), n, np.uint32)) for n in (1, 0))
    chosen = operations.apply(Op("select", bits=32), (one, zero, predicate(P)))
    assert affine.subtract(wide, chosen).known
    shifted = operations.apply(Op("shl", bits=32), (wide, Value(np.full((1, 1), 3, np.uint32))))
    rest = operations.apply(Op("and", bits=32), (opaque(32, WHY), Value(np.full((1, 1), 0xFFFFFFF7, np.uint32))))
    both = operations.apply(Op("or", bits=32), (rest, shifted))
    bit = operations.apply(Op("and", bits=32), (both, Value(np.full((1, 1), 8, np.uint32))))
    assert bit.poison is None and affine.subtract(bit, shifted).known


def test_excess_predicates_in_one_register_become_unknown():
    r = operations.apply(Op("and", bits=32), (opaque(32, WHY), Value(np.full((1, 1), 0xFFFF0000, np.uint32))))
    several = [Uniform(f"p{n}", 1, 0, 0, 1, key=("truth", n)) for n in range(16)]
    for n, u in enumerate(several):
        put = operations.apply(Op("or", bits=32), (r, Value(np.full((1, 1), 1 << n, np.uint32))))
        r = operations.apply(Op("select", bits=32), (put, r, predicate(u)))
    assert r.poison is not None and 2 < len(r.terms) < 16
    for n, u in enumerate(several):
        bit = operations.apply(Op("and", bits=32), (r, Value(np.full((1, 1), 1 << n, np.uint32))))
        known = bit.poison is None
        assert [v for v, _ in bit.terms] == [truths.as_number(u, 32)] if known else bit.poison.all()


def test_lane_predicate_is_not_a_uniform_bit():
    anything = opaque(32, WHY)
    known = Value(np.full((1, 1), 8, np.uint32))
    clear = operations.apply(Op("and", bits=32), (anything, Value(np.full((1, 1), 0xFFFFFFF7, np.uint32))))
    put = operations.apply(Op("or", bits=32), (clear, known))
    own = Value(np.zeros((1, 1), bool), poison=EVERYWHERE, why=WHY)
    r = operations.apply(Op("select", bits=32), (put, clear, own))
    assert operations.apply(Op("and", bits=32), (r, known)).poison is not None


@pytest.mark.parametrize("selector, bits", [(0x9910, 16), (0xDD54, 16), (0x8880, 8), (0xCCC4, 8)])
def test_prmt_sign_extension_of_a_partly_known_source(selector, bits):
    """The source is a sum with an unknown, of which only the low bits are known."""
    n = Uniform("n", 32, key=("param", 0, 32))
    sel = Value(np.full((1, 1), selector, np.uint32))
    for base, factor in ((0, 1), (5, 256), (0x8000, 3), (0x7F, 128)):
        source = Value(np.full((1, 1), base, np.uint32), ((n, np.full((1, 1), factor, np.uint32)),), bits, None, WHY)
        other = opaque(32, WHY)
        values = (source, other, sel) if selector & 7 < 4 else (other, source, sel)
        out = operations.apply(Op("prmt", (Reg("r", 32),), bits=32), values)
        assert out.poison is None and out.uniform
        low = 32 if out.valid is None else out.valid
        for number in (0, 1, 77, 0x8000, 0xFFFF, 0xDEADBEEF):
            part = base + factor * number & (1 << bits) - 1
            extended = part - (1 << bits) if part >> bits - 1 else part
            known = [c for u, c in out.terms if u == n]
            if len(known) == len(out.terms):
                total = int(out.base.flat[0]) + sum(int(c.flat[0]) * number for c in known)
                assert (total - extended) % (1 << min(low, bits)) == 0


def test_sum_of_many_uniform_values_is_one_unknown():
    """Includes upper halves of pairs, and addresses; excludes unknowns of a loop, and coefficients that differ by
    lane.
    """
    numbers = [Uniform(f"u{n}", 64, kind="derived", key=("one", n), address=n == 3) for n in range(16)]
    trip = Uniform("trip", 64, kind="loop", key=("trip", 0))
    total = unknown(trip)
    for u in numbers:
        total = affine.add(total, affine.scale(unknown(u), np.full((1, 1), 1 << 32, np.uint64)))
    assert total.poison is None and total.uniform
    assert trip in dict(total.terms) and any(u.address for u, _ in total.terms)
    lanes = np.arange(32, dtype=np.uint64)[None, :]
    apart = unknown(trip)
    for u in numbers:
        apart = affine.add(apart, affine.scale(unknown(u), lanes))
    assert apart.poison is not None


KERNEL = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
{{
    .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<6>;
    .shared .align 128 .b8 s[32768];
    ld.param.u64 %d1, [in]; ld.param.u32 %r15, [n];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    mov.u32 %r4, s; mad.lo.u32 %r3, %r1, 128, %r4;
    and.b32 %r5, %r15, 1; setp.eq.u32 %p1, %r5, 0;
    and.b32 %r5, %r2, 1; setp.eq.u32 %p2, %r5, 0;
    and.b32 %r5, %r15, 2; setp.eq.u32 %p3, %r5, 0;
    {body}
    ret;
}}
"""
PACK = "and.b32 %r6, %r2, -9; or.b32 %r7, %r6, 8; selp.b32 %r6, %r7, %r6, {p};"
BIT = "and.b32 %r8, %r6, 8; setp.ne.u32 %p4, %r8, 0;"
RUN = "@!%p4 bra D; st.shared.u32 [%r3], %r1; D:"
MORE = "add.u32 %r10, %r10, 1; and.b32 %r5, %r15, 7; setp.lt.u32 %p3, %r10, %r5; @%p3 bra L;"  # same trips in all lanes
PUT = "and.b32 %r6, %r2, -9; selp.b32 %r7, 1, 0, {p}; shl.b32 %r7, %r7, 3; or.b32 %r6, %r6, %r7;"  # as P2R does
BODIES = {  # the code that follows, and the number of sites with one cost per request
    "of all lanes": (f"{PACK.format(p='%p1')} {BIT} {RUN}", 1),
    "of each lane": (f"{PACK.format(p='%p2')} {BIT} {RUN}", 0),
    "under an unknown predicate": (f"and.b32 %r6, %r2, -9; @%p1 or.b32 %r6, %r6, 8; {BIT} {RUN}", 1),
    "the opposite": (f"or.b32 %r6, %r2, 8; @%p1 and.b32 %r6, %r6, -9; {BIT} {RUN}", 1),
    "put as a number": (f"{PUT.format(p='%p1')} {BIT} {RUN}", 1),
    "put as a number of each lane": (f"{PUT.format(p='%p2')} {BIT} {RUN}", 0),
    "another bit": (f"{PACK.format(p='%p1')} and.b32 %r8, %r6, 4; setp.ne.u32 %p4, %r8, 0; {RUN}", 0),
    "carried away": (f"{PACK.format(p='%p1')} add.u32 %r6, %r6, 4; {BIT} {RUN}", 0),
    "two beside each other": (
        f"{PACK.format(p='%p1')} and.b32 %r6, %r6, -17; @%p3 or.b32 %r6, %r6, 16; xor.b32 %r6, %r6, 3; {BIT} {RUN}"
        " and.b32 %r8, %r6, 16; setp.ne.u32 %p4, %r8, 0; @!%p4 bra E; st.shared.u32 [%r3+4], %r1; E:",
        2,
    ),
    "by ways": (
        f"and.b32 %r6, %r2, -9; @%p1 bra J; or.b32 %r6, %r6, 8; @%p3 bra J; and.b32 %r6, %r6, -9; J: {BIT} {RUN}",
        1,
    ),
    "by ways of each lane": (f"and.b32 %r6, %r2, -9; @%p2 bra J; or.b32 %r6, %r6, 8; J: {BIT} {RUN}", 0),
    "set by all, lost by some": (
        f"{PACK.format(p='%p1')} @%p2 bra J; and.b32 %r6, %r6, -9; J: {BIT} {RUN}",
        0,
    ),
    "in a loop": (
        f"mov.u32 %r10, 0; L: and.b32 %r6, %r2, -9; @%p1 or.b32 %r6, %r6, 8; {BIT} {RUN} shr.u32 %r5, %r15, %r10;"
        " and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 0; add.u32 %r10, %r10, 1; and.b32 %r5, %r15, 7;"
        " setp.lt.u32 %p3, %r10, %r5; @%p3 bra L;",
        1,
    ),
    "beside one of each lane": (
        f"{PACK.format(p='%p1')} and.b32 %r6, %r6, -5; @%p2 or.b32 %r6, %r6, 4; {BIT} {RUN}"
        " and.b32 %r8, %r6, 4; setp.ne.u32 %p4, %r8, 0; @!%p4 bra E; st.shared.u32 [%r3+4], %r1; E:",
        1,
    ),
    "through a loop": (
        f"{PACK.format(p='%p1')} mov.u32 %r10, 0; L: and.b32 %r6, %r6, -5; shr.u32 %r5, %r2, %r10; and.b32 %r5, %r5, 1;"
        f" setp.eq.u32 %p4, %r5, 0; @%p4 or.b32 %r6, %r6, 4; {BIT} {RUN} {MORE}",
        1,
    ),
    "turned in a loop": (
        f"{PACK.format(p='%p1')} mov.u32 %r10, 0; L: xor.b32 %r6, %r6, 8; {BIT} {RUN} {MORE}",
        0,
    ),
    "of each lane behind a trip": (
        f"{PACK.format(p='%p1')} mov.u32 %r10, 0; L: {BIT} {RUN} and.b32 %r6, %r6, -9; @%p2 or.b32 %r6, %r6, 8; {MORE}",
        0,
    ),
    "of each lane in some trips": (
        f"{PACK.format(p='%p1')} mov.u32 %r10, 0; L: {BIT} {RUN} setp.ne.u32 %p4, %r10, 2; @%p4 bra M;"
        f" xor.b32 %r6, %r6, %r2; M: {MORE}",
        0,
    ),
    "left in trips of their own": (
        f"{PACK.format(p='%p1')} mov.u32 %r10, 0; L: and.b32 %r6, %r6, -5; xor.b32 %r6, %r6, 8; add.u32 %r10, %r10, 1;"
        f" and.b32 %r5, %r2, 7; setp.lt.u32 %p3, %r10, %r5; @%p3 bra L; {BIT} {RUN}",
        0,
    ),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("name", BODIES)
def test_predicate_kept_in_a_bit_matches_the_twin(name, told):
    body, alike = BODIES[name]
    for seed in (3, 4):
        hold(KERNEL.format(body=body.replace("; ", ";\n")), told, alike, seed)
